//! Bodies as they come over HTTP, requests and answers, through to what an agent is handed.

use bolero::check;
use matchday_core::agent::Content;
use matchday_core::protocol::decode::{Conformance, Limits, Reading};
use matchday_core::protocol::dialect::answer::read_answer;
use matchday_core::protocol::dialect::decode_wire;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{Request, Requests, read_requests};
use matchday_testkit::golden::{self, NOW};
use matchday_testkit::mutation::mutated;
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    message_bytes_max: 10 * 1024,
    array_len_max: 100,
};

fn readings() -> [Reading<'static>; 2] {
    [Conformance::Strict, Conformance::Lenient].map(|conformance| Reading {
        conformance,
        now: NOW,
        limits: LIMITS,
        exchange: None,
        about: None,
    })
}

/// Good bodies: a few that show each form, and every golden message in `wrap`.
fn bodies(forms: &[&str], wrap: impl Fn(Value) -> Value) -> Vec<String> {
    let messages = golden::of_the_sources()
        .into_iter()
        .chain(golden::of_our_own());
    let wrapped = messages.map(|golden| wrap(golden.value).to_string());
    forms
        .iter()
        .map(|&form| form.to_owned())
        .chain(wrapped)
        .collect()
}

/// Puts the request to the agent as far as the wire goes, and acknowledges it.
fn taken(request: Request) -> matchday_core::protocol::dialect::reply::Part {
    for reading in &readings() {
        let _ = decode_wire::ask(request.asked.clone(), reading);
    }
    write_reply(&request.reply_to, request.dialect, &Content::Received)
}

#[test]
fn request_bodies() {
    let forms = [
        r#"{"jsonrpc":"2.0","id":1,"method":"choose_parity","params":{"message_type":"CHOOSE_PARITY_CALL"}}"#,
        r#"{"jsonrpc":"2.0","id":1.50,"method":"handle_message","params":{"message":{"message_type":"GAME_OVER"}}}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"get_standings","arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"get_match_state","params":{"match_id":"R1M1"}}"#,
        r#"[{"jsonrpc":"2.0","method":"ping"},{"message_type":"LEAGUE_QUERY"},1]"#,
    ];
    let method = |message: Value| json!({"jsonrpc": "2.0", "id": 7, "method": "handle_message", "params": message});
    let good = bodies(&forms, method);
    check!()
        .with_iterations(crate::RUNS)
        .for_each(|input: &[u8]| {
            let body = mutated(&good, input);
            let reply = match read_requests(&body, &LIMITS) {
                Requests::Refused(reply) => reply,
                Requests::One(request) => HttpReply::one(taken(request)),
                Requests::Batch(requests) => HttpReply::batch(
                    requests
                        .into_iter()
                        .map(|request| request.map_or_else(|refusal| refusal, taken)),
                ),
            };
            assert!([200, 202, 413].contains(&reply.status));
            assert_eq!(reply.status == 202, reply.body.is_empty());
            assert!(reply.body.is_empty() || serde_json::from_slice::<Value>(&reply.body).is_ok());
            let _ = read_answer(reply.status, &reply.body, &LIMITS);
        });
}

#[test]
fn answer_bodies() {
    let forms = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"message_type":"GAME_JOIN_ACK","accept":true},"error":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"tok_p01_0 unknown","data":null}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"message":{"message_type":"GAME_JOIN_ACK"}}}"#,
        r#"{"result":{"isError":true,"content":[{"type":"text","text":"{\"choice\":1}"}],"response":{}}}"#,
        r#"{"status":"error","message":"no"}"#,
    ];
    let good = bodies(
        &forms,
        |message| json!({"jsonrpc": "2.0", "id": 7, "result": message}),
    );
    check!()
        .with_iterations(crate::RUNS)
        .for_each(|input: &[u8]| {
            let body = mutated(&good, input);
            for status in [200, 202, 404, 500] {
                let wire = read_answer(status, &body, &LIMITS);
                for reading in &readings() {
                    let _ = decode_wire::answer(wire.clone(), reading);
                }
            }
        });
}
