//! JSON-RPC 2.0: what is a request, and what is said to what is none.

use crate::agent::{Agent, RpcError};
use serde_json::{Value, json};

/// The response to a request body; nothing if there is nothing to say.
pub async fn answer(agent: &Agent, body: &[u8]) -> Option<Value> {
    match serde_json::from_slice(body) {
        Err(error) => Some(failure(Value::Null, -32700, format!("Parse error: {error}"))),
        Ok(Value::Array(requests)) if !requests.is_empty() => {
            let mut responses = Vec::new();
            for request in &requests {
                responses.extend(answer_one(agent, request).await);
            }
            (!responses.is_empty()).then_some(Value::Array(responses))
        }
        Ok(request) => answer_one(agent, &request).await,
    }
}

async fn answer_one(agent: &Agent, request: &Value) -> Option<Value> {
    let Value::Object(fields) = request else {
        return Some(failure(Value::Null, -32600, "Invalid Request: expected an object"));
    };
    let id = fields.get("id").cloned().unwrap_or(Value::Null);
    if !(id.is_number() || id.is_string() || id.is_null()) {
        return Some(failure(Value::Null, -32600, "Invalid Request: id must be a number, a text or null"));
    }
    let (true, Some(method)) = (request["jsonrpc"] == "2.0", request["method"].as_str()) else {
        let words = r#"Invalid Request: expected "jsonrpc": "2.0" and a method"#;
        return Some(failure(id, -32600, words));
    };
    let nothing = json!({});
    let response = match agent.call(method, fields.get("params").unwrap_or(&nothing)).await {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcError { code, words }) => failure(id, code, words),
    };
    fields.contains_key("id").then_some(response)
}

pub fn failure(id: Value, code: i32, words: impl Into<String>) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words.into()}})
}
