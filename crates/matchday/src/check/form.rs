//! The form of an answer: is it a JSON-RPC response, to this very request? And if it is something else that a league
//! understands, what do people call that?

use serde_json::{Map, Value};

/// How an answer is wrapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// A JSON-RPC response, with what stands where the standard has it.
    Response,
    /// Something else that every league of ours understands.
    Dialect(&'static str),
    /// Nothing that anyone could read.
    None,
}

/// The form of the answer to a call that should have been answered by a JSON-RPC response.
pub(crate) fn of(answer: &Value) -> Form {
    let Some(object) = answer.as_object() else {
        return if answer.is_array() || answer.is_number() {
            Form::None
        } else {
            Form::Dialect("a plain JSON value in place of a response")
        };
    };
    if object.contains_key("method") && object.contains_key("params") {
        return Form::Dialect("a JSON-RPC request in the response body");
    }
    let result = object.get("result");
    if !["jsonrpc", "result", "error"].iter().any(|key| object.contains_key(*key)) {
        return Form::Dialect("the bare message, with no JSON-RPC response around it");
    }
    if let Some(result) = result.and_then(Value::as_object)
        && let Some(place) = nested(result)
    {
        return Form::Dialect(place);
    }
    Form::Response
}

/// Where a message stands that is not the result itself.
fn nested(result: &Map<String, Value>) -> Option<&'static str> {
    if result.contains_key("message_type") {
        return None;
    }
    let holds = |key: &str| result.get(key).is_some_and(|held| held.get("message_type").is_some());
    [
        ("response", "the message in `result.response`"),
        ("message", "the message in `result.message`"),
        ("structuredContent", "a tool result, the message in `result.structuredContent`"),
    ]
    .into_iter()
    .find_map(|(key, name)| holds(key).then_some(name))
    .or_else(|| {
        result.contains_key("content").then_some("a tool result, the message as text in `result.content`")
    })
}

/// What is wrong with `jsonrpc`.
pub(crate) fn version(answer: &Value) -> Result<(), String> {
    match answer.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => Ok(()),
        Some(other) => Err(format!("jsonrpc: expected \"2.0\", got {other}")),
        None => Err("jsonrpc: expected \"2.0\", got nothing".to_owned()),
    }
}

/// What is wrong with the id: it must be the one that was sent, in the same JSON type.
pub(crate) fn id(answer: &Value, sent: &Value) -> Result<(), String> {
    match answer.get("id") {
        Some(came) if came == sent => Ok(()),
        Some(came) => Err(format!("id: expected {sent}, got {came}")),
        None => Err(format!("id: expected {sent}, got nothing")),
    }
}

/// Whether there is a result or an error, and not both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    One,
    /// A result, and beside it an error that says nothing. Every league of ours reads past it.
    EmptyError,
    Both,
    Neither,
}

pub(crate) fn outcome(answer: &Value) -> Outcome {
    match (answer.get("result").is_some(), answer.get("error")) {
        (true, Some(Value::Null)) => Outcome::EmptyError,
        (true, Some(_)) => Outcome::Both,
        (true, None) | (false, Some(_)) => Outcome::One,
        (false, None) => Outcome::Neither,
    }
}

/// The code of a JSON-RPC error, if the answer is one.
pub(crate) fn error_code(answer: &Value) -> Option<i64> {
    answer.pointer("/error/code")?.as_i64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn forms_are_told_apart() {
        let dialect = |answer: Value| match of(&answer) {
            Form::Dialect(name) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(of(&json!({"jsonrpc": "2.0", "id": 1, "result": {"status": "received"}})), Form::Response);
        assert_eq!(of(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}})), Form::Response);
        assert!(dialect(json!({"message_type": "GAME_JOIN_ACK"})).contains("bare"));
        assert!(dialect(json!({"method": "game_join_ack", "params": {}})).contains("request"));
        assert!(dialect(json!({"result": {"response": {"message_type": "X"}}})).contains("result.response"));
        assert!(dialect(json!({"result": {"content": []}})).contains("tool result"));
        assert_eq!(of(&json!([1])), Form::None);
    }

    #[test]
    fn an_id_goes_back_in_its_own_type() {
        assert!(id(&json!({"id": 7}), &json!(7)).is_ok());
        assert_eq!(id(&json!({"id": "7"}), &json!(7)), Err("id: expected 7, got \"7\"".into()));
        assert!(id(&json!({"id": 7.0}), &json!(7)).is_err());
    }
}
