//! `Deserialize` for the tree; `serde_json` parses.

use super::{Fields, Json};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Tree)
    }
}

/// Room for the fields of most objects, so that the vector seldom grows.
const FIELDS_USUAL: usize = 12;
/// Up to so many fields, comparing each pair is faster than a set; beyond, a hostile object must not cost quadratic time.
const FIELDS_COMPARED_MAX: usize = 32;

/// Of a duplicate key the last value counts.
fn keep_last<'a>(mut fields: Vec<(Cow<'a, str>, Json<'a>)>) -> Vec<(Cow<'a, str>, Json<'a>)> {
    let last: Vec<bool> = if fields.len() <= FIELDS_COMPARED_MAX {
        let after = |place: usize| fields.get(place + 1..).unwrap_or_default();
        let repeated = |place, name| after(place).iter().any(|(other, _)| other == name);
        if !fields.iter().enumerate().any(|(place, (name, _))| repeated(place, name)) {
            return fields;
        }
        fields.iter().enumerate().map(|(place, (name, _))| !repeated(place, name)).collect()
    } else {
        let mut seen = BTreeSet::new();
        let mut last: Vec<bool> = fields.iter().rev().map(|(name, _)| seen.insert(name)).collect();
        last.reverse();
        last
    };
    let mut last = last.into_iter();
    fields.retain(|_| last.next().unwrap_or(true));
    fields
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json<'de>, E> {
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut fields = Vec::with_capacity(FIELDS_USUAL);
        while let Some(Name(name)) = entries.next_key()? {
            fields.push((name, entries.next_value()?));
        }
        Ok(Json::Object(Fields(keep_last(fields))))
    }
}

/// The name of a field.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a field")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}
