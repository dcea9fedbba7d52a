//! The examples of the JSON-RPC 2.0 specification, as this server answers them. It serves none of the methods that the
//! examples call, and takes no positional parameters: the former are -32601 here, the latter -32602.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

use matchday_core::agent::Content;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{Requests, read_requests};
use matchday_core::protocol::jsonrpc::Fault;
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    message_bytes_max: 10 * 1024,
    array_len_max: 1000,
};

/// What goes back, if every request that is understood is answered with "received".
fn exchange(body: &str) -> HttpReply {
    match read_requests(body.as_bytes(), &LIMITS) {
        Requests::Refused(reply) => reply,
        Requests::One(request) => HttpReply::one(write_reply(
            &request.reply_to,
            request.dialect,
            &Content::Received,
        )),
        Requests::Batch(requests) => {
            HttpReply::batch(requests.into_iter().map(|request| match request {
                Ok(request) => write_reply(&request.reply_to, request.dialect, &Content::Received),
                Err(refusal) => refusal,
            }))
        }
    }
}

/// The codes and ids of the responses, which is what the specification prints.
fn codes_and_ids(reply: &HttpReply) -> Value {
    let brief = |response: &Value| {
        assert_eq!(response["jsonrpc"], "2.0", "{response}");
        match response.get("error") {
            Some(error) => json!([error["code"], response["id"]]),
            None => json!(["ok", response["id"]]),
        }
    };
    match serde_json::from_slice(&reply.body) {
        Ok(Value::Array(responses)) => Value::Array(responses.iter().map(brief).collect()),
        Ok(response) => brief(&response),
        Err(_) => {
            assert!(reply.body.is_empty(), "a reply is JSON or nothing");
            Value::Null
        }
    }
}

#[test]
fn the_examples_are_answered_as_specified() {
    let examples: Vec<Value> = serde_json::from_str(include_str!("jsonrpc_examples.json")).unwrap();
    assert_eq!(
        examples.len(),
        15,
        "one for each example of the specification's section 7"
    );
    for example in examples {
        let reply = exchange(example["body"].as_str().unwrap());
        let answered = json!([reply.status, codes_and_ids(&reply)]);
        assert_eq!(
            answered,
            json!([example["status"], example["codes_and_ids"]]),
            "{}",
            example["name"]
        );
    }
}

#[test]
fn errors_have_the_names_of_the_specification() {
    for (body, code, message) in [
        ("{", -32700, "Parse error"),
        ("{}", -32600, "Invalid Request"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#,
            -32601,
            "Method not found",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            -32602,
            "Invalid params",
        ),
    ] {
        let response: Value = serde_json::from_slice(&exchange(body).body).unwrap();
        assert_eq!(response["error"]["code"], code);
        assert_eq!(response["error"]["message"], message);
        assert!(
            response["error"]["data"].is_string(),
            "a sentence for people: {response}"
        );
    }
    assert_eq!(Fault::Internal.code(), -32603);
    assert_eq!(Fault::Internal.message(), "Internal error");
}

#[test]
fn an_id_goes_back_as_it_came() {
    for id in [
        "null",
        "0",
        "-0",
        "7",
        "-9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "340282366920938463463374607431768211455",
        "1.5",
        "1.50",
        "1e3",
        "-0.0",
        r#""""#,
        r#""abc""#,
        r#""1""#,
        r#""ünï""#,
        r#""a\"b\\""#,
    ] {
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"received"}}}}"#);
        let request = format!(r#"{{"id":{id},"jsonrpc":"2.0","method":"ping"}}"#);
        assert_eq!(
            String::from_utf8(exchange(&request).body).unwrap(),
            expected
        );

        let batch = format!(r#" [ {{"id":1,"jsonrpc":"2.0","method":"ping", "id" : {id} }} ]"#);
        assert_eq!(
            String::from_utf8(exchange(&batch).body).unwrap(),
            format!("[{expected}]")
        );
    }
}

#[test]
fn what_cannot_be_an_id_is_refused() {
    for id in ["true", "[1]", "{}"] {
        let reply = exchange(&format!(r#"{{"id":{id},"jsonrpc":"2.0","method":"ping"}}"#));
        assert_eq!(codes_and_ids(&reply), json!([-32600, null]), "{id}");
    }
}

#[test]
fn an_invalid_request_is_told_so_under_its_own_id() {
    let reply = exchange(r#"{"id":"mine","method":"ping"}"#);
    assert_eq!(codes_and_ids(&reply), json!([-32600, "mine"]));
}
