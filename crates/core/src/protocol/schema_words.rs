//! What the JSON Schemas of single fields are made of.

use super::untrusted::ID_BYTES_MAX;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use std::borrow::Cow;

/// What is sent, not what is read: a field that may be null is there all the same.
pub(crate) fn sent<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// The deceptive characters of the basic plane (see [`is_deceptive`](super::untrusted::is_deceptive)), as a part of a class
/// that the usual kinds of pattern all understand; they differ about the planes beyond.
macro_rules! controls {
    () => {
        concat!(
            r"\x00-\x1F\x7F-\x9F\xAD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E",
            r"\u2060-\u206F\u3164\uFDD0-\uFDEF\uFEFF\uFFA0\uFFF0-\uFFFB\uFFFE\uFFFF"
        )
    };
}
pub(crate) const CONTROLS: &str = controls!();

/// Any other character.
pub(crate) const NO_CONTROLS: &str = concat!("[^", controls!(), "]");

/// A short text of someone's choosing: an id, a code, a state, a kind of move.
pub(crate) struct Word;

impl JsonSchema for Word {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Word".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": ID_BYTES_MAX,
            "pattern": format!("^{NO_CONTROLS}+$"),
        })
    }
}

/// Any value, so long as there is one.
pub(crate) struct NotNull;

impl JsonSchema for NotNull {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NotNull".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean", "array", "object"] })
    }
}
