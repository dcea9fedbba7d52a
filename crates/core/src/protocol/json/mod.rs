//! A JSON tree that borrows its strings from the body, where `serde_json::Value` would copy every key and string.
//!
//! Of a duplicate key the last value counts.

mod deserialize;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::fmt;

/// Any value of JSON.
#[derive(Debug, Clone)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer of 64 bits, else an `f64`.
    Number(Number),
    /// Borrowed, unless the text had escapes.
    String(Cow<'a, str>),
    /// In order.
    Array(Vec<Json<'a>>),
    /// Every key once.
    Object(Fields<'a>),
}

/// The fields of an object, in order. Messages have few, so a linear search is faster than a map.
#[derive(Debug, Clone, Default)]
pub struct Fields<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Json<'a> {
    /// Parses a text.
    pub fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
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
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// An integer in range; `None` for a fraction, even `1.0`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// A non-negative integer in range; `None` for a fraction, even `1.0`.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(Number::as_u64)
    }

    /// Any number, rounded to the nearest `f64`.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().and_then(Number::as_f64)
    }

    fn as_number(&self) -> Option<&Number> {
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
    pub fn as_object(&self) -> Option<&Fields<'a>> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    pub(crate) fn as_object_mut(&mut self) -> Option<&mut Fields<'a>> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The field of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// Without borrowing from the body.
    pub fn into_owned(self) -> Json<'static> {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(number) => Json::Number(number),
            Self::String(text) => Json::String(Cow::Owned(text.into_owned())),
            Self::Array(items) => Json::Array(items.into_iter().map(Self::into_owned).collect()),
            Self::Object(Fields(fields)) => {
                let entry =
                    |(name, value): (Cow<'a, str>, Self)| (Cow::Owned(name.into_owned()), value.into_owned());
                Json::Object(Fields(fields.into_iter().map(entry).collect()))
            }
        }
    }

    /// As `serde_json::Value`.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(number.clone()),
            Self::String(text) => Value::String(text.clone().into_owned()),
            Self::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Object(fields) => Value::Object(fields.to_map()),
        }
    }
}

impl<'a> Fields<'a> {
    /// The value of a field, `null` included; `None` if there is no such field.
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The field and its index. The search begins at `from`, because fields are usually read in the order in which they
    /// were written.
    pub(crate) fn find(&self, key: &str, from: usize) -> Option<(usize, &Json<'a>)> {
        if let Some((name, value)) = self.0.get(from)
            && name == key
        {
            return Some((from, value));
        }
        let place = self.0.iter().position(|(name, _)| name == key)?;
        self.0.get(place).map(|(_, value)| (place, value))
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Json<'a>> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether there is such a field, even if it is `null`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Json<'a>> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    pub(crate) fn insert(&mut self, key: &'static str, value: Json<'a>) {
        self.remove(key);
        self.0.push((Cow::Borrowed(key), value));
    }

    /// How many fields there are, each key counted once.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the object is `{}`.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Key and value of each field, in the order of the object.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// A copy that borrows nothing.
    pub fn to_map(&self) -> Map<String, Value> {
        self.iter().map(|(name, value)| (name.to_owned(), value.to_value())).collect()
    }
}

impl<'a> From<&'a Value> for Json<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::String(Cow::Borrowed(text)),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(fields) => {
                let entry =
                    |(name, value): (&'a String, &'a Value)| (Cow::Borrowed(name.as_str()), value.into());
                Self::Object(Fields(fields.iter().map(entry).collect()))
            }
        }
    }
}

impl From<Value> for Json<'_> {
    fn from(value: Value) -> Self {
        Json::from(&value).into_owned()
    }
}

impl PartialEq for Json<'_> {
    /// The order of fields does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.to_value() == other.to_value()
    }
}

impl PartialEq<Value> for Json<'_> {
    fn eq(&self, other: &Value) -> bool {
        self.to_value() == *other
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => items.serialize(serializer),
            Self::Object(Fields(fields)) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
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
            "[0,-1,1.5,1e3,18446744073709551615,-9223372036854775808,123456789012345678901234567890]",
            r#"{"a":"plain","b\n":"escaped \u00e9 \"quoted\"","c":{"d":[{"e":1}]}}"#,
            r#"{"twice":1,"other":2,"twice":3}"#,
        ] {
            let tree = Json::read(text).unwrap();
            let usual: Value = serde_json::from_str(text).unwrap();
            assert_eq!(tree, usual, "{text}");
            assert_eq!(Json::from(&usual), tree, "{text}");
        }
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_counts() {
        let mut tree = Json::read(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        let fields = tree.as_object_mut().unwrap();
        assert_eq!(fields.get("a").and_then(Json::as_u64), Some(3));
        assert_eq!(fields.remove("a").and_then(|value| value.as_u64()), Some(3));
        assert!(!fields.contains_key("a"));
        assert_eq!(fields.len(), 1);
    }

    #[test]
    fn duplicate_keys_of_a_large_object_are_found_as_well() {
        let fields: Vec<String> =
            (0..1_000).map(|number| format!(r#""{}":{number}"#, number % 100)).collect();
        let text = format!("{{{}}}", fields.join(","));
        let tree = Json::read(&text).unwrap();
        assert_eq!(tree.get("7").and_then(Json::as_u64), Some(907));
        assert_eq!(tree.as_object().map(Fields::len), Some(100));
    }

    #[test]
    fn plain_text_is_not_copied() {
        let tree = Json::read(r#"{"a":"plain"}"#).unwrap();
        assert!(matches!(tree.get("a"), Some(Json::String(Cow::Borrowed("plain")))));
    }

    #[test]
    fn what_is_nested_too_deep_is_refused() {
        let deep = "[".repeat(100_000);
        assert!(Json::read(&deep).is_err());
    }
}
