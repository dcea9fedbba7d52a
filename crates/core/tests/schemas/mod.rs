//! The schemas of the messages, ready to judge by. For tests alone.
#![allow(dead_code, reason = "each test program uses a part of this")]

use jsonschema::{Draft, Validator};
use matchday_core::protocol::{MessageType, schema};
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) struct Schemas(BTreeMap<MessageType, Validator>);

impl Schemas {
    pub(crate) fn new() -> Self {
        Self(MessageType::ALL.iter().map(|&kind| (kind, validator(&schema::message(kind)))).collect())
    }

    /// What is wrong with a message by the schema of its type; nothing, if it fits.
    pub(crate) fn faults(&self, message: &Value) -> Vec<String> {
        let kind = message.get("message_type").and_then(Value::as_str).and_then(MessageType::parse);
        match kind {
            Some(kind) => self.0[&kind]
                .iter_errors(message)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect(),
            None => vec!["message_type: names no message".to_owned()],
        }
    }
}

/// Formats count here: a date that does not exist is no time.
pub(crate) fn validator(schema: &Value) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    options.build(schema).unwrap_or_else(|error| panic!("no schema: {error}"))
}
