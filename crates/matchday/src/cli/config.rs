//! Where each setting has its value from: a flag, the environment, the configuration file, the default. In this order.

use super::Usage;
use super::config_file::ConfigFile;
use super::settings::{Setting, Settings};
use anyhow::Result;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

/// What was given on the command line for the settings of one command.
#[derive(Debug, Clone)]
pub(crate) struct Flags<S> {
    pub(crate) config: Option<PathBuf>,
    given: BTreeMap<&'static str, String>,
    of: PhantomData<S>,
}

impl<S> Default for Flags<S> {
    fn default() -> Self {
        Self { config: None, given: BTreeMap::new(), of: PhantomData }
    }
}

impl<S: Settings> Args for Flags<S> {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help("A configuration file [default: matchday.toml, if there is one]");
        S::ALL.iter().fold(command, |command, setting| command.arg(flag(setting))).arg(file)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(setting: &'static Setting) -> Arg {
    let default = setting.default.map_or_else(String::new, |text| format!(" [default: {text}]"));
    let help = format!("{}{default} [env: {}]", setting.about, setting.variable());
    Arg::new(setting.name).long(setting.name).value_name(setting.value).allow_hyphen_values(true).help(help)
}

impl<S: Settings> FromArgMatches for Flags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = S::ALL
            .iter()
            .filter_map(|setting| Some((setting.name, matches.get_one::<String>(setting.name)?.clone())));
        let config = matches.get_one::<PathBuf>("config").cloned();
        Ok(Self { config, given: given.collect(), of: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: Settings> Flags<S> {
    /// Puts everything together. Reads the environment and the configuration file.
    pub(crate) fn resolve(&self) -> Result<Config> {
        let file = ConfigFile::find(self.config.as_deref())?;
        self.resolve_with(&file, |name| std::env::var(name).ok())
    }

    pub(crate) fn resolve_with(
        &self,
        file: &ConfigFile,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Config> {
        let values = S::ALL.iter().map(|setting| {
            let (text, origin) = if let Some(text) = self.given.get(setting.name) {
                (Some(text.clone()), Origin::Flag)
            } else if let Some(text) = variable(&setting.variable()).filter(|text| !text.is_empty()) {
                (Some(text), Origin::Environment)
            } else if let Some(text) = file.get(S::SECTION, setting.name) {
                (Some(text.to_owned()), Origin::File(file.path().to_owned()))
            } else {
                (setting.default.map(str::to_owned), Origin::Default)
            };
            Value { section: S::SECTION, setting, text, origin }
        });
        Ok(Config { values: values.collect() })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag,
    Environment,
    File(PathBuf),
    Default,
}

/// One setting as it is in effect.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    section: &'static str,
    pub(crate) setting: &'static Setting,
    pub(crate) text: Option<String>,
    pub(crate) origin: Origin,
}

impl Value {
    /// `--lead`, `MATCHDAY_LEAD`, `matchday.toml (manager.lead)`
    pub(crate) fn source(&self) -> String {
        let Setting { name, .. } = self.setting;
        match &self.origin {
            Origin::Flag => format!("--{name}"),
            Origin::Environment => self.setting.variable(),
            Origin::File(path) => format!("{} ({}.{name})", path.display(), self.section),
            Origin::Default => "default".to_owned(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(_) if self.setting.secret => f.write_str("(set)"),
            Some(text) => f.write_str(text),
            None => f.write_str("-"),
        }
    }
}

/// The settings of one command as they are in effect.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    values: Vec<Value>,
}

impl Config {
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter()
    }

    /// Those that someone chose, and nothing of the defaults.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = &Value> {
        self.values().filter(|value| value.origin != Origin::Default)
    }

    /// This one value and no other.
    pub(crate) fn only(value: &Value) -> Self {
        Self { values: vec![value.clone()] }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.setting.name == name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.text.as_deref()
    }

    /// Reads a value, or says what was expected where it was given.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some((value, text)) = self.value(name).and_then(|value| Some((value, value.text.as_deref()?)))
        else {
            return Ok(None);
        };
        match parse(text) {
            Some(read) => Ok(Some(read)),
            None => Err(Usage(format!("{}: expected {expected}, got {text:?}", value.source())).into()),
        }
    }

    pub(crate) fn seconds(&self, name: &str) -> Result<Option<Duration>> {
        self.read(name, "seconds, such as 2 or 0.5", |text| {
            Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
        })
    }

    /// A time that nothing can be done in would be no time at all.
    pub(crate) fn seconds_above_zero(&self, name: &str) -> Result<Option<Duration>> {
        self.read(name, "seconds above 0, such as 2 or 0.5", |text| {
            let time = Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()?;
            (!time.is_zero()).then_some(time)
        })
    }

    pub(crate) fn count(&self, name: &str) -> Result<Option<u32>> {
        self.read(name, "a whole number", |text| text.trim().parse().ok())
    }

    pub(crate) fn switch(&self, name: &str) -> Result<Option<bool>> {
        self.choice(name, &[("on", true), ("off", false), ("true", true), ("false", false)])
    }

    pub(crate) fn choice<T: Copy>(&self, name: &str, options: &[(&str, T)]) -> Result<Option<T>> {
        let names: Vec<_> = options.iter().map(|(name, _)| *name).collect();
        self.read(name, &names.join(" or "), |text| {
            options.iter().find(|(name, _)| *name == text).map(|(_, option)| *option)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::ForManager;
    use super::*;

    fn flags(lead: &str) -> Flags<ForManager> {
        let given = [("lead", lead.to_owned())].into();
        Flags { given, ..Flags::default() }
    }

    fn nothing(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn what_cannot_be_read_is_told_with_where_it_was_given() {
        let config = flags("soon").resolve_with(&ConfigFile::default(), nothing).unwrap();
        let error = config.seconds("lead").unwrap_err().to_string();
        assert_eq!(error, "--lead: expected seconds, such as 2 or 0.5, got \"soon\"");
        for bad in ["-1", "NaN", "inf", "1e300", ""] {
            let config = flags(bad).resolve_with(&ConfigFile::default(), nothing).unwrap();
            assert!(config.seconds("lead").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        let token = |name: &str| (name == "MATCHDAY_OPERATOR_TOKEN").then(|| "hush".to_owned());
        let config = flags("1").resolve_with(&ConfigFile::default(), token).unwrap();
        assert_eq!(config.text("operator-token"), Some("hush"));
        assert!(config.values().all(|value| !value.to_string().contains("hush")));
    }
}
