//! JSON Schema of what tools take and give, made of the schemas of the league messages.

use matchday_core::protocol::{MessageType, schema};
use serde_json::{Map, Value, json};

/// What a client of the Model Context Protocol need not know: it is filled in before the message is read.
pub(super) const FILLED: [&str; 5] = ["protocol", "message_type", "sender", "timestamp", "conversation_id"];

type Object = Map<String, Value>;

/// What a tool takes that carries a league message.
pub(super) fn input(kind: MessageType) -> Object {
    let mut schema = message(kind);
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !FILLED.contains(&name)));
    }
    schema
}

/// What a tool gives back: this, or LEAGUE_ERROR.
pub(crate) fn output(given: Object) -> Object {
    // Only a manager puts an envelope around its refusals.
    let mut alternatives = [given, input(MessageType::LeagueError)];
    let mut definitions = Map::new();
    for alternative in &mut alternatives {
        for own in ["$schema", "$comment"] {
            alternative.remove(own);
        }
        if let Some(Value::Object(own)) = alternative.remove("$defs") {
            definitions.extend(own);
        }
    }
    object(json!({
        "$schema": schema::META_SCHEMA,
        "type": "object",
        "anyOf": alternatives,
        "$defs": definitions,
    }))
}

/// The schema of a message, without its own name: a client that sees two tools give the same kind of message would find
/// two schemas of one name.
pub(super) fn message(kind: MessageType) -> Object {
    let mut schema = object(schema::message(kind));
    schema.remove("$id");
    schema
}

pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
