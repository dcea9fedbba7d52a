//! league.v2 as JSON Schema 2020-12, made from the very types that are sent and read. Values only: who writes them to a
//! file or serves them is elsewhere.
//!
//! # What a schema describes
//! The *content* that the strict reading takes: what must be there, and in which form. That is the promise in both
//! directions:
//! - what we **send** always fits its schema, and is narrower: times in whole seconds with `Z`, ids and tokens in our
//!   own shape, and many fields that are optional here are always there;
//! - what we **accept** is at least what fits. The lenient reading takes more, as do the dialects, and fields that are
//!   not named here are allowed everywhere.
//!
//! A schema cannot say everything. `1.0` is an integer to JSON Schema and none to us; lengths in bytes are given as
//! lengths in characters; that a port is below 65536, or that scores fit a winner, stands in no schema.

mod exchange;
mod library;
mod openrpc;

pub use exchange::exchange;
pub use library::{Library, data};
pub use openrpc::{OPENRPC, openrpc};

use super::envelope::{PROTOCOL, Sender};
use super::ids::ConversationId;
use super::message::MessageType;
use super::time::Timestamp;
use super::token::Token;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The dialect of JSON Schema that all of this is written in.
pub const META_SCHEMA: &str = "https://json-schema.org/draft/2020-12/schema";

/// How the names of all documents begin. They are names, not addresses: nothing has to be fetched to use one.
pub const ID_PREFIX: &str = "urn:matchday:league.v2:";

/// The schema of one message, whole and needing no other: the fields of its envelope and its own, side by side.
pub fn message(kind: MessageType) -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = whole(kind, &mut generator);
    let definitions = generator.take_definitions(false);
    schema.insert("$schema".to_owned(), META_SCHEMA.into());
    schema.insert(
        "$id".to_owned(),
        format!("{ID_PREFIX}message:{kind}").into(),
    );
    schema.insert("$comment".to_owned(), COMMENT.into());
    schema.insert("$defs".to_owned(), definitions.into());
    finished(schema.to_value())
}

const COMMENT: &str = "What the strict reading of league.v2 demands. Fields that are not named are allowed and ignored. \
                       What Matchday sends always fits; its lenient reading accepts more than this.";

/// A message as a schema whose definitions are the generator's.
fn whole(kind: MessageType, generator: &mut SchemaGenerator) -> Schema {
    let mut body = kind.body_schema(generator);
    let frame = Frame::json_schema(generator);
    let fields = |schema: &Schema, key: &str| schema.get(key).cloned().unwrap_or_default();
    let mut properties = Map::new();
    properties.insert("protocol".to_owned(), json!({ "const": PROTOCOL }));
    properties.insert("message_type".to_owned(), type_schema(kind));
    for part in [&frame, &body] {
        properties.extend(
            fields(part, "properties")
                .as_object()
                .cloned()
                .unwrap_or_default(),
        );
    }
    let mut required = vec![Value::from("protocol"), Value::from("message_type")];
    for part in [&frame, &body] {
        required.extend(
            fields(part, "required")
                .as_array()
                .cloned()
                .unwrap_or_default(),
        );
    }
    if kind == MessageType::StartLeague {
        // The source that defines it gives it no more of an envelope than a sender.
        for name in ["timestamp", "conversation_id"] {
            required.retain(|field| field != name);
            if let Some(schema) = properties.get_mut(name) {
                *schema = json!({ "anyOf": [schema.take(), { "type": "null" }] });
            }
        }
    }
    body.insert("title".to_owned(), kind.name().into());
    body.insert("properties".to_owned(), properties.into());
    body.insert("required".to_owned(), required.into());
    body
}

fn type_schema(kind: MessageType) -> Value {
    match kind {
        MessageType::MatchAssignment => json!({ "enum": [kind.name(), "START_MATCH"] }),
        _ => json!({ "const": kind.name() }),
    }
}

/// What stands around every message, but for the two fields that tell them apart.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is of use")]
struct Frame {
    sender: Sender,
    /// When it was sent.
    timestamp: Timestamp,
    conversation_id: ConversationId,
    /// What proves the sender. Required after registration wherever the protocol says so; empty counts as absent.
    auth_token: Option<Token>,
}

/// The last touch: Rust's kinds of number become the one kind that the protocol has.
fn finished(mut document: Value) -> Value {
    plain_numbers(&mut document);
    document
}

fn plain_numbers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(plain_numbers),
        Value::Object(fields) => {
            let format = fields
                .get("format")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let is_integer = format.starts_with("uint") || format.starts_with("int");
            if is_integer || format == "double" {
                fields.remove("format");
            }
            if is_integer && !fields.contains_key("maximum") {
                fields.insert("maximum".to_owned(), i32::MAX.into());
            }
            fields.values_mut().for_each(plain_numbers);
        }
        _ => {}
    }
}
