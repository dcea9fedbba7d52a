//! JSON Schema of what tools take and give, made of the schemas of the league messages.

use matchday_core::protocol::MessageType;
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
pub(super) fn output(given: Object) -> Object {
    let mut alternatives = [given, message(MessageType::LeagueError)];
    let mut definitions = Map::new();
    for alternative in &mut alternatives {
        alternative.remove("$schema");
        if let Some(Value::Object(own)) = alternative.remove("$defs") {
            definitions.extend(own);
        }
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("type".to_owned(), "object".into());
    schema.insert("anyOf".to_owned(), json!(alternatives));
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

pub(super) fn message(kind: MessageType) -> Object {
    // The seam: replaced by the schemas of the messages themselves.
    object(json!({
        "type": "object",
        "title": kind.name(),
        "properties": { "message_type": { "const": kind.name() } },
    }))
}

pub(super) fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
