//! The configuration file: TOML with a section for each command. A key that is not known is an error, since a setting that
//! is silently ignored would leave the default in effect.

use super::super::Usage;
use super::setting::SECTIONS;
use super::{ALL, Declared};
use anyhow::Result;
use matchday_terminal::suggest::hint;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

const DEFAULT_PATH: &str = "matchday.toml";

#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    path: PathBuf,
    /// By section and setting: the text, and the line in which it stands.
    values: BTreeMap<(&'static str, &'static str), (String, usize)>,
}

impl ConfigFile {
    /// The file that was named; otherwise `matchday.toml`, if there is one here.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self> {
        let path = named.unwrap_or(Path::new(DEFAULT_PATH));
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Self::read(path, &text)?),
            Err(error) if named.is_none() && error.kind() == ErrorKind::NotFound => {
                Ok(Self::default())
            }
            Err(error) => Err(Usage(format!(
                "{} cannot be read: {error} - check --config",
                path.display()
            ))
            .into()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn get(&self, section: &'static str, id: &'static str) -> Option<(&str, usize)> {
        self.values
            .get(&(section, id))
            .map(|(text, line)| (text.as_str(), *line))
    }

    pub(super) fn read(path: &Path, text: &str) -> Result<Self, Usage> {
        let line_of =
            |span: Range<usize>| text.get(..span.start).unwrap_or("").matches('\n').count() + 1;
        let wrong =
            |span, what: String| Usage(format!("{}: line {}{what}", path.display(), line_of(span)));
        let table = DeTable::parse(text).map_err(|error| {
            wrong(
                error.span().unwrap_or_default(),
                format!(" is not TOML: {}", error.message()),
            )
        })?;
        let mut values = BTreeMap::new();
        for (key, content) in table.into_inner() {
            let name = key.get_ref();
            let Some(section) = SECTIONS.iter().position(|section| section == name) else {
                let hint = hint(name, SECTIONS.into_iter());
                return Err(wrong(
                    key.span(),
                    format!(": there is no section {name:?}{hint}"),
                ));
            };
            let DeValue::Table(content) = content.into_inner() else {
                let what = format!(": {name} is a section: write [{name}] and its settings below");
                return Err(wrong(key.span(), what));
            };
            for (key, value) in content {
                let full = format!("{name}.{}", key.get_ref());
                let setting = find_key(name, section, key.get_ref())
                    .map_err(|what| wrong(key.span(), format!(": {what}")))?;
                let text = plain(value.get_ref()).ok_or_else(|| {
                    wrong(
                        key.span(),
                        format!(": {full}: expected a text, a number, true or false"),
                    )
                })?;
                let section = SECTIONS.get(section).copied().unwrap_or_default();
                values.insert((section, setting.id), (text, line_of(key.span())));
            }
        }
        Ok(Self {
            path: path.to_owned(),
            values,
        })
    }
}

/// The setting with this key in a section, or why there is none.
pub(super) fn find_key(name: &str, section: usize, key: &str) -> Result<&'static Declared, String> {
    let id = key.replace('-', "_").to_ascii_uppercase();
    let settings = ALL
        .iter()
        .filter(|setting| setting.used_by(section).is_some());
    if let Some(setting) = settings.clone().find(|setting| setting.id == id) {
        return Ok(setting);
    }
    let known: Vec<_> = settings.map(|setting| setting.name()).collect();
    let hint = hint(&key.replace('_', "-"), known.iter().map(String::as_str));
    Err(format!("there is no setting {name}.{key}{hint}"))
}

fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(
            i64::from_str_radix(number.as_str(), number.radix())
                .ok()?
                .to_string(),
        ),
        DeValue::Float(number) => Some(number.as_str().parse::<f64>().ok()?.to_string()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ConfigFile, Usage> {
        ConfigFile::read(Path::new("m.toml"), text)
    }

    #[test]
    fn values_are_found_by_section_and_name_with_either_stroke() {
        let file =
            read("[manager]\nlead = 0.5\nleague_id = \"x\"\n[player]\nexchanges = false").unwrap();
        assert_eq!(file.get("manager", "LEAD"), Some(("0.5", 2)));
        assert_eq!(file.get("manager", "LEAGUE_ID"), Some(("x", 3)));
        assert_eq!(file.get("player", "EXCHANGES"), Some(("false", 5)));
        assert_eq!(file.get("referee", "LEAD"), None);
    }

    #[test]
    fn what_is_wrong_is_named_with_a_way_out() {
        for (text, error) in [
            (
                "[manager]\nlaed = 1",
                "line 2: there is no setting manager.laed - did you mean \"lead\"?",
            ),
            (
                "[manger]",
                "line 1: there is no section \"manger\" - did you mean \"manager\"?",
            ),
            (
                "[zzz]",
                "line 1: there is no section \"zzz\" - known are manager, referee, player, seat, run, serve, league",
            ),
            (
                "player = 1",
                "line 1: player is a section: write [player] and its settings below",
            ),
            (
                "[player]\nname = []",
                "line 2: player.name: expected a text, a number, true or false",
            ),
        ] {
            assert_eq!(
                read(text).unwrap_err().to_string(),
                format!("m.toml: {error}")
            );
        }
        let error = read("[manager]\n\nlead = = 1").unwrap_err().to_string();
        assert!(error.starts_with("m.toml: line 3 is not TOML: "), "{error}");
    }
}
