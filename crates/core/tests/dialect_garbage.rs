//! Whatever comes over the wire, reading it ends in a value, and what is sent back is JSON.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

use matchday_core::agent::Content;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::answer::read_answer;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{Requests, read_requests};
use proptest::prelude::*;
use serde_json::Value;

const LIMITS: Limits = Limits {
    message_bytes_max: 10 * 1024,
    array_len_max: 100,
};

/// Reads `body` as a request and as an answer, replies to it, and reads the reply.
fn survive(status: u16, body: &[u8]) {
    let reply = match read_requests(body, &LIMITS) {
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
    };
    assert!([200, 202, 413].contains(&reply.status));
    assert_eq!(reply.status == 202, reply.body.is_empty());
    assert!(reply.body.is_empty() || serde_json::from_slice::<Value>(&reply.body).is_ok());
    let _ = read_answer(reply.status, &reply.body, &LIMITS);
    let _ = read_answer(status, body, &LIMITS);
}

/// Words that lead into every branch, among others that lead nowhere.
fn word() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "jsonrpc",
        "2.0",
        "id",
        "method",
        "params",
        "message",
        "message_type",
        "result",
        "error",
        "code",
        "response",
        "tools/call",
        "name",
        "arguments",
        "structuredContent",
        "content",
        "text",
        "isError",
        "status",
        "ping",
        "handle_message",
        "choose_parity",
        "GAME_OVER",
        "match_id",
        "get_match_state",
        "accept",
        "initialize",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => ".{0,6}"]
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Objects that are nearly requests, so that the deeper branches are reached at all.
fn nearly_a_request() -> impl Strategy<Value = Value> {
    (word(), arbitrary_json(), arbitrary_json()).prop_map(|(method, params, id)| {
        serde_json::json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id })
    })
}

proptest! {
    #[test]
    fn any_bytes(status in any::<u16>(), body in prop::collection::vec(any::<u8>(), 0..300)) {
        survive(status, &body);
    }

    #[test]
    fn any_json(status in any::<u16>(), value in arbitrary_json()) {
        survive(status, value.to_string().as_bytes());
    }

    #[test]
    fn almost_requests(status in any::<u16>(), value in nearly_a_request()) {
        survive(status, value.to_string().as_bytes());
    }

    #[test]
    fn json_with_one_byte_changed(value in nearly_a_request(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut body = value.to_string().into_bytes();
        let at = at.index(body.len());
        body[at] = byte;
        survive(200, &body);
    }
}
