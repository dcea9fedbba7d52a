//! Is an HTTP body a JSON-RPC response to a given request? If not, which of the known dialects is it?

use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResponseFormat {
    Standard,
    /// Not a JSON-RPC response, but a dialect that our leagues read; with its description.
    Dialect(&'static str),
    /// Not readable as any dialect.
    Unreadable,
}

pub(crate) fn of(answer: &Value) -> ResponseFormat {
    let Some(object) = answer.as_object() else {
        return if answer.is_array() || answer.is_number() {
            ResponseFormat::Unreadable
        } else {
            ResponseFormat::Dialect("a plain JSON value in place of a response")
        };
    };
    if object.contains_key("method") && object.contains_key("params") {
        return ResponseFormat::Dialect("a JSON-RPC request in the response body");
    }
    let result = object.get("result");
    if !["jsonrpc", "result", "error"]
        .iter()
        .any(|key| object.contains_key(*key))
    {
        return ResponseFormat::Dialect("the bare message, with no JSON-RPC response around it");
    }
    if let Some(result) = result.and_then(Value::as_object)
        && let Some(place) = nested(result)
    {
        return ResponseFormat::Dialect(place);
    }
    ResponseFormat::Standard
}

/// The message in a text that is JSON itself: the whole body, or the `result`.
pub(crate) fn encoded_twice(answer: Value) -> Option<Value> {
    let text = answer.as_str().or_else(|| answer.get("result")?.as_str())?;
    let inner: Value = serde_json::from_str(text).ok()?;
    let message = match inner.get("result") {
        Some(result) => result.clone(),
        None => inner,
    };
    message.get("message_type").is_some().then_some(message)
}

/// Describes where the message is nested, if it is not `result` itself.
fn nested(result: &Map<String, Value>) -> Option<&'static str> {
    if result.contains_key("message_type") {
        return None;
    }
    let holds = |key: &str| {
        result
            .get(key)
            .is_some_and(|held| held.get("message_type").is_some())
    };
    [
        ("response", "the message in `result.response`"),
        ("message", "the message in `result.message`"),
        (
            "structuredContent",
            "a tool result, the message in `result.structuredContent`",
        ),
    ]
    .into_iter()
    .find_map(|(key, name)| holds(key).then_some(name))
    .or_else(|| {
        result
            .contains_key("content")
            .then_some("a tool result, the message as text in `result.content`")
    })
}

pub(crate) fn version(answer: &Value) -> Result<(), String> {
    match answer.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => Ok(()),
        Some(other) => Err(format!("jsonrpc: expected \"2.0\", got {other}")),
        None => Err("jsonrpc: expected \"2.0\", got nothing".to_owned()),
    }
}

/// The id must equal the request's, JSON type included.
pub(crate) fn id(answer: &Value, sent: &Value) -> Result<(), String> {
    match answer.get("id") {
        Some(came) if came == sent => Ok(()),
        Some(came) => Err(format!("id: expected {sent}, got {came}")),
        None => Err(format!("id: expected {sent}, got nothing")),
    }
}

/// JSON-RPC requires exactly one of `result` and `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultOrError {
    One,
    /// A result beside `"error": null`, which our leagues accept.
    EmptyError,
    Both,
    Neither,
}

pub(crate) fn result_or_error(answer: &Value) -> ResultOrError {
    match (answer.get("result").is_some(), answer.get("error")) {
        (true, Some(Value::Null)) => ResultOrError::EmptyError,
        (true, Some(_)) => ResultOrError::Both,
        (true, None) | (false, Some(_)) => ResultOrError::One,
        (false, None) => ResultOrError::Neither,
    }
}

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
            ResponseFormat::Dialect(name) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            of(&json!({"jsonrpc": "2.0", "id": 1, "result": {"status": "received"}})),
            ResponseFormat::Standard
        );
        assert_eq!(
            of(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}})),
            ResponseFormat::Standard
        );
        assert!(dialect(json!({"message_type": "GAME_JOIN_ACK"})).contains("bare"));
        assert!(dialect(json!({"method": "game_join_ack", "params": {}})).contains("request"));
        assert!(
            dialect(json!({"result": {"response": {"message_type": "X"}}}))
                .contains("result.response")
        );
        assert!(dialect(json!({"result": {"content": []}})).contains("tool result"));
        assert_eq!(of(&json!([1])), ResponseFormat::Unreadable);
    }

    #[test]
    fn a_message_that_was_encoded_twice_is_found() {
        let message = json!({"message_type": "GAME_JOIN_ACK"});
        let response = json!({"jsonrpc": "2.0", "id": 1, "result": message.to_string()});
        assert_eq!(encoded_twice(response), Some(message.clone()));
        let response = json!({"jsonrpc": "2.0", "id": 1, "result": message});
        assert_eq!(
            encoded_twice(Value::String(response.to_string())),
            Some(message.clone())
        );
        for other in [response, json!("received"), json!({"result": "ok"})] {
            assert_eq!(encoded_twice(other), None);
        }
    }

    #[test]
    fn an_id_goes_back_in_its_own_type() {
        assert!(id(&json!({"id": 7}), &json!(7)).is_ok());
        assert_eq!(
            id(&json!({"id": "7"}), &json!(7)),
            Err("id: expected 7, got \"7\"".into())
        );
        assert!(id(&json!({"id": 7.0}), &json!(7)).is_err());
    }
}
