//! The settings of one command as they are in effect: a flag wins over the environment, the environment over the
//! configuration file, the file over the default.

use super::super::Usage;
use super::file::find_key;
use super::groups::heading;
use super::setting::{DefaultValue, SECTIONS, Values, section};
use super::{ALL, ConfigFile, Declared, Setting, secret_file};
use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use matchday_store::split_passwords;
use matchday_terminal::suggest::nearest;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The settings of one command that were given on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags<const SECTION: usize> {
    pub(crate) config: Option<PathBuf>,
    given: BTreeMap<&'static str, String>,
    /// Files that hold the secrets of settings.
    files: BTreeMap<&'static str, PathBuf>,
}

pub(crate) type ManagerFlags = Flags<{ section::MANAGER }>;
pub(crate) type RefereeFlags = Flags<{ section::REFEREE }>;
pub(crate) type PlayerFlags = Flags<{ section::PLAYER }>;
pub(crate) type SeatFlags = Flags<{ section::SEAT }>;
pub(crate) type RunFlags = Flags<{ section::RUN }>;
pub(crate) type ServeFlags = Flags<{ section::SERVE }>;
pub(crate) type LeagueFlags = Flags<{ section::LEAGUE }>;

impl<const SECTION: usize> Args for Flags<SECTION> {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help("A configuration file [default: matchday.toml, if there is one]");
        let flags = ALL
            .iter()
            .filter_map(|setting| Some((setting, setting.used_by(SECTION)?)));
        let flags = flags.flat_map(|(setting, used)| {
            let flag = Arg::new(setting.id)
                .long(setting.name())
                .value_name(setting.values.placeholder())
                .help(setting.short_help(used))
                .long_help(setting.full_help(used));
            let flag = match heading(setting) {
                Some(heading) => flag.help_heading(heading).hide(true),
                None => flag,
            };
            match setting.values {
                Values::OnOff => {
                    let off = Arg::new(format!("no-{}", setting.name()))
                        .long(format!("no-{}", setting.name()))
                        .action(ArgAction::SetTrue)
                        .conflicts_with(setting.id)
                        .hide(true);
                    vec![flag.num_args(0..=1).default_missing_value("on"), off]
                }
                _ => vec![flag.allow_hyphen_values(true)],
            }
        });
        let secrets = ALL
            .iter()
            .filter(|setting| setting.secret && setting.used_by(SECTION).is_some());
        let secret_files = secrets.map(|setting| {
            Arg::new(secret_file::argument(setting))
                .long(secret_file::argument(setting))
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .conflicts_with(setting.id)
                .hide(true)
        });
        command.args(flags).args(secret_files).arg(file)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SECTION: usize> FromArgMatches for Flags<SECTION> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let settings = ALL
            .iter()
            .filter(|setting| setting.used_by(SECTION).is_some());
        let is_off = |setting: &Declared| {
            matches!(setting.values, Values::OnOff)
                && matches.get_flag(&format!("no-{}", setting.name()))
        };
        let given = settings.filter_map(|setting| {
            if is_off(setting) {
                Some((setting.id, "off".to_owned()))
            } else {
                Some((setting.id, matches.get_one::<String>(setting.id)?.clone()))
            }
        });
        let secrets = ALL
            .iter()
            .filter(|setting| setting.secret && setting.used_by(SECTION).is_some());
        let files = secrets.filter_map(|setting| {
            let file = matches.get_one::<PathBuf>(&secret_file::argument(setting))?;
            Some((setting.id, file.clone()))
        });
        Ok(Self {
            config: matches.get_one::<PathBuf>("config").cloned(),
            given: given.collect(),
            files: files.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const SECTION: usize> Flags<SECTION> {
    pub(crate) const NAME: &str = match SECTIONS.as_slice().split_at(SECTION).1 {
        [section, ..] => section,
        [] => "",
    };

    /// The settings that these texts give, by their keys. An unknown key is an error with the nearest one.
    pub(crate) fn of_texts(texts: &BTreeMap<String, String>) -> Result<Self, Usage> {
        let mut given = BTreeMap::new();
        for (key, text) in texts {
            given.insert(
                find_key(Self::NAME, SECTION, key).map_err(Usage)?.id,
                text.clone(),
            );
        }
        Ok(Self {
            config: None,
            given,
            files: BTreeMap::new(),
        })
    }

    /// Gives a setting that was named otherwise than by its flag.
    pub(crate) fn give(&mut self, setting: &Declared, text: String) {
        self.given.insert(setting.id, text);
    }

    /// Reads the environment and the configuration file.
    pub(crate) fn resolve(&self) -> Result<Config> {
        let file = ConfigFile::find(self.config.as_deref())?;
        let mut flags = self.clone();
        for (id, path) in &self.files {
            let flag = format!("--{}-file", id.to_ascii_lowercase().replace('_', "-"));
            flags.given.insert(id, secret_file::read(&flag, path)?);
        }
        let mut from_files = BTreeMap::new();
        for setting in ALL
            .iter()
            .filter(|setting| setting.secret && setting.used_by(SECTION).is_some())
        {
            if let Some(secret) = secret_file::of_variable(&setting.variable())? {
                from_files.insert(setting.variable(), secret);
            }
        }
        let variable = |name: &str| {
            let text = std::env::var(name).ok().filter(|text| !text.is_empty());
            text.or_else(|| from_files.get(name).cloned())
        };
        Ok(flags.resolve_with(&file, variable))
    }

    /// The files that secrets are read from.
    pub(crate) fn secret_files(&self, config: &Config) -> Vec<PathBuf> {
        let secrets = || {
            ALL.iter()
                .filter(|setting| setting.secret && setting.used_by(SECTION).is_some())
        };
        let of_variables =
            secrets().filter_map(|setting| secret_file::path_of_variable(&setting.variable()));
        let with_secrets = config.given().filter(|value| value.setting.secret);
        let of_settings = with_secrets.filter_map(|value| match &value.origin {
            Origin::File { path, .. } => Some(path.clone()),
            _ => None,
        });
        let mut files: Vec<PathBuf> = self.files.values().cloned().collect();
        files.extend(of_variables.chain(of_settings));
        files.sort();
        files.dedup();
        files
    }

    /// As they are, with the defaults: neither the environment nor a file has a say.
    pub(crate) fn resolve_alone(&self) -> Config {
        self.resolve_with(&ConfigFile::default(), |_| None)
    }

    pub(crate) fn resolve_with(
        &self,
        file: &ConfigFile,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Config {
        let values = ALL.iter().filter_map(|setting| {
            let default = &setting.used_by(SECTION)?.default;
            let (text, origin) = if let Some(text) = self.given.get(setting.id) {
                (Some(text.clone()), Origin::Flag)
            } else if let Some(text) = variable(&setting.variable()).filter(|text| !text.is_empty())
            {
                (Some(text), Origin::Environment)
            } else if let Some((text, line)) = file.get(Self::NAME, setting.id) {
                (
                    Some(text.to_owned()),
                    Origin::File {
                        path: file.path().to_owned(),
                        line,
                    },
                )
            } else if let DefaultValue::Text(text) = default {
                (Some((*text).to_owned()), Origin::Default)
            } else {
                (None, Origin::Default)
            };
            // `tls-cert = ""` says that there is none.
            let empty = text.as_deref() == Some("") && !matches!(default, DefaultValue::Text(_));
            Some(Value {
                section: Self::NAME,
                setting,
                text: text.filter(|_| !empty),
                origin,
            })
        });
        Config {
            values: values.collect(),
        }
    }

    #[cfg(test)]
    pub(crate) fn with_variables(variables: &[(&str, &str)]) -> Config {
        let find = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, text)| (*text).to_owned())
        };
        Self::default().resolve_with(&ConfigFile::default(), find)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag,
    Environment,
    File { path: PathBuf, line: usize },
    Default,
}

/// One setting as it is in effect.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    section: &'static str,
    pub(crate) setting: &'static Declared,
    pub(crate) text: Option<String>,
    pub(crate) origin: Origin,
}

impl Value {
    /// `--lead`, `MATCHDAY_LEAD`, `matchday.toml (manager.lead)`
    pub(crate) fn source(&self) -> String {
        let name = self.setting.name();
        match &self.origin {
            Origin::Flag => format!("--{name}"),
            Origin::Environment => self.setting.variable(),
            Origin::File { path, .. } => format!("{} ({}.{name})", path.display(), self.section),
            Origin::Default => "default".to_owned(),
        }
    }

    /// The same, with the line of the file.
    fn source_line(&self) -> String {
        match &self.origin {
            Origin::File { path, line } => {
                format!(
                    "{}: line {line}: {}.{}",
                    path.display(),
                    self.section,
                    self.setting.name()
                )
            }
            Origin::Default => format!("--{}", self.setting.name()),
            _ => self.source(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(_) if self.setting.secret => f.write_str("(set)"),
            // The password of a database is not shown.
            Some(text) => f.write_str(&split_passwords(text).0),
            None => f.write_str("-"),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Config {
    values: Vec<Value>,
}

impl Config {
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter()
    }

    /// Those that were given, without the defaults.
    pub(crate) fn given(&self) -> impl Iterator<Item = &Value> {
        self.values()
            .filter(|value| value.origin != Origin::Default)
    }

    pub(crate) fn is_given(&self, setting: &Declared) -> bool {
        self.given().any(|value| value.setting.id == setting.id)
    }

    /// Those that were given, by their keys.
    pub(crate) fn given_texts(&self) -> BTreeMap<String, String> {
        self.given()
            .filter_map(|value| Some((value.setting.name(), value.text.clone()?)))
            .collect()
    }

    /// This value, and none of any other setting.
    pub(crate) fn only(&self, kept: &Value) -> Self {
        let text = |value: &Value| {
            value
                .text
                .clone()
                .filter(|_| value.setting.id == kept.setting.id)
        };
        Self {
            values: self
                .values()
                .map(|value| Value {
                    text: text(value),
                    ..value.clone()
                })
                .collect(),
        }
    }

    /// These values, but of the settings that are to be kept those of `kept`.
    pub(crate) fn keeping(&self, kept: &Self, is_kept: impl Fn(&Declared) -> bool) -> Self {
        let value = |value: &Value| {
            let kept = kept
                .values()
                .find(|other| other.setting.id == value.setting.id);
            kept.filter(|_| is_kept(value.setting))
                .unwrap_or(value)
                .clone()
        };
        Self {
            values: self.values().map(value).collect(),
        }
    }

    /// Whether they are those of `matchday serve`.
    pub(crate) fn is_of_service(&self) -> bool {
        self.values().any(|value| value.section == ServeFlags::NAME)
    }

    /// Whether the command has this setting at all.
    pub(crate) fn has(&self, setting: &Declared) -> bool {
        self.values().any(|value| value.setting.id == setting.id)
    }

    pub(crate) fn value(&self, setting: &Declared) -> Option<&Value> {
        let value = self.values().find(|value| value.setting.id == setting.id);
        debug_assert!(
            value.is_some(),
            "this command has no setting {}",
            setting.name()
        );
        value
    }

    pub(crate) fn text(&self, setting: &Declared) -> Option<&str> {
        self.value(setting)?.text.as_deref()
    }

    /// The value, if there is one.
    pub(crate) fn get<T: Clone>(&self, setting: &Setting<T>) -> Result<Option<T>> {
        let Some(text) = self.text(setting) else {
            return Ok(None);
        };
        match setting.parse(text) {
            Some(value) => Ok(Some(value)),
            None if setting.secret => {
                Err(self.wrong(setting, format!("expected {}", setting.values.expected())))
            }
            None => {
                let expected = setting.values.expected();
                let hint = match nearest(text, expected.split(" or ").filter(|name| name.len() > 3))
                {
                    Some(name) => format!(" - did you mean {name:?}?"),
                    None => String::new(),
                };
                Err(self.wrong(setting, format!("expected {expected}, got {text:?}{hint}")))
            }
        }
    }

    /// The value of a setting that cannot be done without.
    pub(crate) fn need<T: Clone>(&self, setting: &Setting<T>) -> Result<T> {
        let missing = || self.wrong(setting, format!("expected {}", setting.values.expected()));
        self.get(setting)?.ok_or_else(missing)
    }

    /// An error that names the setting as it was given: its flag, its variable, or file, line and key.
    pub(crate) fn wrong(&self, setting: &Declared, why: impl fmt::Display) -> anyhow::Error {
        let source = self
            .value(setting)
            .map_or_else(|| format!("--{}", setting.name()), Value::source_line);
        Usage(format!("{source}: {why}")).into()
    }
}
