//! The keys of a plan, with the lines in which they stand: what is wrong is told with its line and what was meant. Pure.

use matchday_terminal::suggest::hint;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use toml::de::{DeTable, DeValue};

/// A table of the plan, or the plan itself.
pub(super) struct Keys<'a> {
    text: &'a str,
    /// Before the name of a key where one is named: `stop.`
    section: String,
    line: usize,
    keys: BTreeMap<String, (usize, DeValue<'a>)>,
    /// The lines of the tables that were taken out.
    tables: BTreeMap<String, usize>,
}

impl<'a> Keys<'a> {
    pub(super) fn read(text: &'a str, known: &[&str]) -> Result<Self, String> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = line_of(text, error.span().unwrap_or_default().start);
            format!("line {line} is not TOML: {}", error.message())
        })?;
        Self::of(text, String::new(), 1, table.into_inner(), known)
    }

    fn of(
        text: &'a str,
        section: String,
        line: usize,
        table: DeTable<'a>,
        known: &[&str],
    ) -> Result<Self, String> {
        let mut keys = BTreeMap::new();
        for (key, value) in table {
            let name = key.get_ref().to_string();
            let line = line_of(text, key.span().start);
            if !known.contains(&name.as_str()) {
                let hint = hint(&name, known.iter().copied());
                return Err(format!(
                    "line {line}: there is no key {section}{name}{hint}"
                ));
            }
            keys.insert(name, (line, value.into_inner()));
        }
        let first = keys.values().map(|(line, _)| *line).min();
        Ok(Self {
            text,
            line: first.unwrap_or(line),
            section,
            keys,
            tables: BTreeMap::new(),
        })
    }

    /// Takes out the table of this name.
    pub(super) fn table(
        &mut self,
        name: &str,
        known: &[&str],
        example: &str,
    ) -> Result<Option<Self>, String> {
        let Some((line, value)) = self.keys.remove(name) else {
            return Ok(None);
        };
        let DeValue::Table(table) = value else {
            return Err(format!(
                "line {line}: {name}: expected a table, as in {example}"
            ));
        };
        let table = Self::of(self.text, format!("{name}."), line, table, known)?;
        self.tables.insert(name.to_owned(), table.line);
        Ok(Some(table))
    }

    /// Takes out the tables of this name: `[[name]]`.
    pub(super) fn tables(&mut self, name: &str, known: &[&str]) -> Result<Vec<Self>, String> {
        let Some((line, value)) = self.keys.remove(name) else {
            return Ok(Vec::new());
        };
        let wrong = || format!("line {line}: {name}: expected tables, each under [[{name}]]");
        let DeValue::Array(tables) = value else {
            return Err(wrong());
        };
        self.tables.insert(name.to_owned(), line);
        let tables = tables.into_iter().map(|table| {
            let line = line_of(self.text, table.span().start);
            let DeValue::Table(table) = table.into_inner() else {
                return Err(wrong());
            };
            Self::of(self.text, format!("{name}."), line, table, known)
        });
        tables.collect()
    }

    /// 1 for a key that is not there.
    pub(super) fn line(&self, key: &str) -> usize {
        let own = self.keys.get(key).map(|(line, _)| *line);
        own.or_else(|| self.tables.get(key).copied())
            .unwrap_or(self.line)
    }

    pub(super) fn wrong(&self, key: &str, why: impl std::fmt::Display) -> String {
        format!("line {}: {}{key}: {why}", self.line(key), self.section)
    }

    pub(super) fn get<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some((_, value)) = self.keys.get(key) else {
            return Ok(None);
        };
        read(value)
            .map(Some)
            .ok_or_else(|| self.wrong(key, format!("expected {expected}")))
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<String>, String> {
        self.get(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    pub(super) fn texts(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        self.get(
            key,
            "a list of texts, as in [\"random\", \"pattern\"]",
            |value| {
                value
                    .as_array()?
                    .iter()
                    .map(|one| one.get_ref().as_str().map(str::to_owned))
                    .collect()
            },
        )
    }

    pub(super) fn integers(&self, key: &str) -> Result<Option<Vec<u64>>, String> {
        self.get(key, "a list of whole numbers, as in [1, 2, 3]", |value| {
            value
                .as_array()?
                .iter()
                .map(|one| integer(one.get_ref()))
                .collect()
        })
    }

    pub(super) fn integer(
        &self,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, String> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        self.get(key, &expected, |value| {
            integer(value).filter(|number| range.contains(number))
        })
    }

    /// A whole number of 32 bits at most.
    pub(super) fn count(
        &self,
        key: &str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, String> {
        let (low, high) = range.into_inner();
        let found = self.integer(key, low.into()..=high.into())?;
        Ok(found.and_then(|number| u32::try_from(number).ok()))
    }

    pub(super) fn float(&self, key: &str) -> Result<Option<f64>, String> {
        self.get(key, "a number", float)
    }

    /// As JSON, whatever it holds.
    pub(super) fn json(
        &self,
        key: &str,
    ) -> Result<serde_json::Map<String, serde_json::Value>, String> {
        let found = self.get(key, "a table, as in { top_p = 0.9 }", |value| {
            match json(value)? {
                serde_json::Value::Object(fields) => Some(fields),
                _ => None,
            }
        })?;
        Ok(found.unwrap_or_default())
    }
}

fn line_of(text: &str, start: usize) -> usize {
    text.get(..start).unwrap_or("").matches('\n').count() + 1
}

fn integer(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

pub(super) fn float(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => i64::from_str_radix(value.as_integer()?.as_str(), value.as_integer()?.radix())
            .ok()
            .map(|number| number as f64),
    }
}

fn json(value: &DeValue<'_>) -> Option<serde_json::Value> {
    Some(match value {
        DeValue::String(text) => text.to_string().into(),
        DeValue::Boolean(value) => (*value).into(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()?
            .into(),
        DeValue::Float(_) => float(value)?.into(),
        DeValue::Array(all) => all
            .iter()
            .map(|one| json(one.get_ref()))
            .collect::<Option<Vec<_>>>()?
            .into(),
        DeValue::Table(fields) => fields
            .iter()
            .map(|(name, one)| Some((name.get_ref().to_string(), json(one.get_ref())?)))
            .collect::<Option<serde_json::Map<_, _>>>()?
            .into(),
        DeValue::Datetime(_) => return None,
    })
}
