//! The schemas of the messages, as validators.

use jsonschema::{Draft, Validator};
use matchday_core::agent::{Content, Payload, Step};
use matchday_core::protocol::Query;
use matchday_core::protocol::{MessageType, schema};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The validators of all messages, and of the data of all queries.
pub struct Schemas {
    messages: BTreeMap<MessageType, Validator>,
    data: BTreeMap<&'static str, Validator>,
}

impl Schemas {
    pub fn new() -> Self {
        Self {
            messages: MessageType::ALL
                .iter()
                .map(|&kind| (kind, validator(&schema::message(kind))))
                .collect(),
            data: Query::types()
                .filter_map(|(query, name)| Some((name, validator(&schema::data(query)?))))
                .collect(),
        }
    }

    /// What is wrong with a message by the schema of its type; nothing, if it fits.
    pub fn faults(&self, message: &Value) -> Vec<String> {
        let kind = message
            .get("message_type")
            .and_then(Value::as_str)
            .and_then(MessageType::parse);
        match kind {
            Some(kind) => self.messages[&kind]
                .iter_errors(message)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect(),
            None => vec!["message_type: names no message".to_owned()],
        }
    }

    /// As `faults`, and of an answer to a query also what our own manager promises beyond the protocol.
    pub fn faults_of_ours(&self, message: &Value) -> Vec<String> {
        let mut faults = self.faults(message);
        let schema = message["query_type"]
            .as_str()
            .and_then(|name| self.data.get(name));
        if let (Some(data), Some(schema)) = (message.get("data"), schema) {
            faults.extend(
                schema
                    .iter_errors(data)
                    .map(|error| format!("data: {error}")),
            );
        }
        faults
    }
}

/// Formats count here: a date that does not exist is no time.
pub fn validator(schema: &Value) -> Validator {
    let options = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true);
    options
        .build(schema)
        .unwrap_or_else(|error| panic!("no schema: {error}"))
}

/// Panics with everything that is wrong.
pub fn assert_fits(schema: &Validator, value: &Value) {
    let faults: Vec<_> = schema
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert!(faults.is_empty(), "{faults:?} in {value:#}");
}

thread_local! {
    static NEEDED: RefCell<BTreeMap<MessageType, Validator>> = RefCell::default();
}

/// Everything that a step of an agent lets out fits its schema. Each is made when it is first needed, for many small
/// tests.
pub fn assert_step_fits<E>(step: &Step<E>) {
    let sent = step
        .outbox
        .iter()
        .filter_map(|outgoing| match &outgoing.payload {
            Payload::Message(message) => Some(message),
            Payload::Probe | Payload::Connect => None,
        });
    let answered = step
        .replies
        .iter()
        .filter_map(|reply| match &reply.content {
            Content::Message(message) => Some(message),
            Content::Data(_) | Content::Received => None,
        });
    NEEDED.with_borrow_mut(|needed| {
        for message in sent.chain(answered) {
            let kind = message.message_type();
            let value = serde_json::to_value(message).unwrap();
            let judge = needed
                .entry(kind)
                .or_insert_with(|| validator(&schema::message(kind)));
            assert_fits(judge, &value);
        }
    });
}
