//! The tree that a body is read into. Short texts, as most keys and values of messages are, allocate nothing in it;
//! `serde_json::Value` allocates each, which makes reading a message half as dear again.
//!
//! `serde_json` parses, with its limit of depth.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::fmt;

/// Any value of JSON.
#[derive(Debug, Clone, Default)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer of 64 bits, else an `f64`.
    Number(Number),
    /// Without its escapes.
    String(SmolStr),
    /// In order.
    Array(Vec<Json>),
    /// In order as well.
    Object(Fields),
}

/// The fields of an object. Messages have few, so a search is faster than a map. Of equal keys the last counts.
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(SmolStr, Json)>);

/// Room for the fields of most objects, so that the vector seldom grows.
const FIELDS_USUAL: usize = 12;

impl Json {
    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// `None` for any other type: nothing is converted.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// `None` for any other type: nothing is converted.
    pub fn as_str(&self) -> Option<&str> {
        self.as_text().map(SmolStr::as_str)
    }

    /// As [`Self::as_str`], for a text that is kept.
    pub fn as_text(&self) -> Option<&SmolStr> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Any number; its own methods say whether it is an integer.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The items of an array; `None` for any other type.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The fields of an object; `None` for any other type.
    pub fn as_object(&self) -> Option<&Fields> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    pub(crate) fn as_object_mut(&mut self) -> Option<&mut Fields> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The field of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }
}

impl Fields {
    /// The value of a field, `null` included.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let found = self.0.iter().rfind(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        let found = self.0.iter_mut().rfind(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    /// Whether there is such a field, even if it is `null`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Json> {
        let value = self.get_mut(key).map(std::mem::take)?;
        self.0.retain(|(name, _)| name != key);
        Some(value)
    }

    pub(crate) fn insert(&mut self, key: &'static str, text: impl Into<SmolStr>) {
        self.0.push((key.into(), Json::String(text.into())));
    }

    /// By their keys.
    pub(crate) fn entries(&self) -> BTreeMap<&str, &Json> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .collect()
    }

    pub(crate) fn to_map(&self) -> Map<String, Value> {
        let entry = |(name, value): &(SmolStr, Json)| (name.to_string(), value.into());
        self.0.iter().map(entry).collect()
    }
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => Self::Number(number.clone()),
            Json::String(text) => Self::String(text.to_string()),
            Json::Array(items) => items.iter().map(Self::from).collect(),
            Json::Object(fields) => Self::Object(fields.to_map()),
        }
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::String(text.into()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(fields) => {
                let entry = |(name, value): (&String, &Value)| (name.into(), value.into());
                Self::Object(Fields(fields.iter().map(entry).collect()))
            }
        }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        Self::from(&json)
    }
}

/// Whatever the order of the fields.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        Value::from(self) == Value::from(other)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(self).fmt(f)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            // Not for `{}`, of which a body can hold very many.
            if fields.is_empty() {
                fields.reserve(FIELDS_USUAL);
            }
            fields.push(entry);
        }
        Ok(Json::Object(Fields(fields)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_json_is_read_as_the_usual_reader_reads_it() {
        for text in [
            "null",
            "[true,false,null,[],{}]",
            "[0,-0,-1,1.5,1e3,18446744073709551615,-9223372036854775808,123456789012345678901234567890]",
            r#"{"a":"plain","b\n":"escaped \u00e9 \"quoted\"","c":{"d":[{"e":1}]}}"#,
            r#"{"twice":1,"other":2,"twice":3}"#,
        ] {
            let tree: Json = serde_json::from_str(text).unwrap();
            let usual: Value = serde_json::from_str(text).unwrap();
            assert_eq!(Value::from(&tree), usual, "{text}");
            assert_eq!(Json::from(usual), tree, "{text}");
        }
        for text in [
            "1e999",
            "{\"a\":1",
            "[1,]",
            "\"\\ud800\"",
            &"[".repeat(100_000),
        ] {
            let ours = serde_json::from_str::<Json>(text).unwrap_err();
            let usual = serde_json::from_str::<Value>(text).unwrap_err();
            assert_eq!(ours.to_string(), usual.to_string(), "{text}");
        }
    }

    #[test]
    fn of_equal_keys_the_last_counts() {
        let mut tree: Json = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        let fields = tree.as_object_mut().unwrap();
        assert_eq!(fields.get("a"), Some(&Json::Number(3.into())));
        assert_eq!(fields.to_map().len(), 2);
        assert_eq!(fields.remove("a"), Some(Json::Number(3.into())));
        assert!(!fields.contains_key("a"));
        fields.insert("b", "new");
        assert_eq!(fields.get("b").and_then(Json::as_str), Some("new"));
    }
}
