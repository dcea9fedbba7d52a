//! The configuration file: TOML with a section for each command. What is not known there is an error, since a setting
//! that is silently ignored is worse than none.

use super::Usage;
use super::settings::{ForManager, ForPlayer, ForReferee, ForSeat, Setting, Settings};
use anyhow::Result;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

const DEFAULT: &str = "matchday.toml";

const SECTIONS: [(&str, &[Setting]); 4] = [
    (ForManager::SECTION, ForManager::ALL),
    (ForReferee::SECTION, ForReferee::ALL),
    (ForPlayer::SECTION, ForPlayer::ALL),
    (ForSeat::SECTION, ForSeat::ALL),
];

#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    path: PathBuf,
    values: BTreeMap<(&'static str, &'static str), String>,
}

impl ConfigFile {
    /// The file that was named; otherwise `matchday.toml`, if there is one here.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self> {
        let path = named.unwrap_or(Path::new(DEFAULT));
        match std::fs::read_to_string(path) {
            Ok(text) => Self::read(path, &text),
            Err(error) if named.is_none() && error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => {
                Err(Usage(format!("{} cannot be read: {error} - check --config", path.display())).into())
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn get(&self, section: &'static str, name: &'static str) -> Option<&str> {
        self.values.get(&(section, name)).map(String::as_str)
    }

    fn read(path: &Path, text: &str) -> Result<Self> {
        let wrong = |what: String| Usage(format!("{}: {what}", path.display()));
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            wrong(format!("line {line} is not TOML: {}", error.message()))
        })?;
        let mut values = BTreeMap::new();
        for (key, content) in table {
            let Some((section, settings)) = SECTIONS.into_iter().find(|(section, _)| *section == key) else {
                let known = SECTIONS.map(|(section, _)| section);
                return Err(wrong(format!("there is no section {key:?}{}", meant(&key, &known))).into());
            };
            let Value::Table(content) = content else {
                return Err(wrong(format!("{key} is a section: write [{key}] and its settings below")).into());
            };
            for (key, value) in content {
                let name = key.replace('_', "-");
                let Some(setting) = settings.iter().find(|setting| setting.name == name) else {
                    let known: Vec<_> = settings.iter().map(|setting| setting.name).collect();
                    let hint = meant(&name, &known);
                    return Err(wrong(format!("there is no setting {section}.{key}{hint}")).into());
                };
                let text = plain(value).ok_or_else(|| {
                    wrong(format!("{section}.{key}: expected a text, a number, true or false"))
                })?;
                values.insert((section, setting.name), text);
            }
        }
        Ok(Self { path: path.to_owned(), values })
    }
}

/// What was probably meant, or all that could have been.
fn meant(name: &str, known: &[&str]) -> String {
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(name, known), known)).min();
    match near.filter(|(distance, known)| *distance <= known.len().div_ceil(3)) {
        Some((_, known)) => format!(" - did you mean {known:?}?"),
        None => format!(" - known are {}", known.join(", ")),
    }
}

fn plain(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ConfigFile> {
        ConfigFile::read(Path::new("m.toml"), text)
    }

    #[test]
    fn values_are_found_by_section_and_name_with_either_stroke() {
        let file = read("[manager]\nlead = 0.5\nleague_id = \"x\"\n[player]\nexchanges = false").unwrap();
        assert_eq!(file.get("manager", "lead"), Some("0.5"));
        assert_eq!(file.get("manager", "league-id"), Some("x"));
        assert_eq!(file.get("player", "exchanges"), Some("false"));
        assert_eq!(file.get("referee", "lead"), None);
    }

    #[test]
    fn what_is_wrong_is_named_with_a_way_out() {
        for (text, error) in [
            ("[manager]\nlaed = 1", "m.toml: there is no setting manager.laed - did you mean \"lead\"?"),
            ("[manger]", "m.toml: there is no section \"manger\" - did you mean \"manager\"?"),
            ("[zzz]", "m.toml: there is no section \"zzz\" - known are manager, referee, player, seat"),
            ("player = 1", "m.toml: player is a section: write [player] and its settings below"),
            ("[player]\nname = []", "m.toml: player.name: expected a text, a number, true or false"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), error);
        }
        let error = read("[manager]\n\nlead = = 1").unwrap_err().to_string();
        assert!(error.starts_with("m.toml: line 3 is not TOML: "), "{error}");
    }
}
