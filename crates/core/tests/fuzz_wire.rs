//! Fuzz targets for everything that reads what others wrote. A plain `cargo test` gives each a short random run; they are
//! bolero targets, so that `cargo bolero` can let coverage guide a long one.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

use bolero::check;
use matchday_core::agent::Content;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::answer::read_answer;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{Requests, read_requests};
use matchday_core::protocol::{Endpoint, ErrorCode, Sender, Timestamp};
use serde_json::Value;

const LIMITS: Limits = Limits { message_bytes_max: 10 * 1024, array_len_max: 100 };

const RUNS: usize = 200_000;

/// Random bytes alone never get past the first brace. So half of all inputs say how to spoil a good text: which one,
/// from where on, how much to cut out, and what to put there. The other half are taken as they come.
fn spoiled(good: &[&str], input: &[u8]) -> Vec<u8> {
    let [pick, high, low, cut, splice @ ..] = input else {
        return input.to_vec();
    };
    let Some(text) = good.get(usize::from(*pick) % (2 * good.len())) else {
        return input.to_vec();
    };
    let bytes = text.as_bytes();
    let from = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
    let to = (from + usize::from(cut % 16)).min(bytes.len());
    [&bytes[..from], splice, &bytes[to..]].concat()
}

fn spoiled_text(good: &[&str], input: &[u8]) -> String {
    String::from_utf8_lossy(&spoiled(good, input)).into_owned()
}

#[test]
fn fuzz_read_requests() {
    let good = [
        r#"{"jsonrpc":"2.0","id":1,"method":"choose_parity","params":{"message_type":"CHOOSE_PARITY_CALL"}}"#,
        r#"{"jsonrpc":"2.0","id":1.50,"method":"handle_message","params":{"message":{"message_type":"GAME_OVER"}}}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"get_standings","arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"get_match_state","params":{"match_id":"R1M1"}}"#,
        r#"[{"jsonrpc":"2.0","method":"ping"},{"message_type":"LEAGUE_QUERY"},1]"#,
    ];
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let content = &Content::Received;
        let reply = match read_requests(&spoiled(&good, input), &LIMITS) {
            Requests::Refused(reply) => reply,
            Requests::One(request) => {
                HttpReply::one(write_reply(&request.reply_to, request.dialect, content))
            }
            Requests::Batch(requests) => HttpReply::batch(requests.into_iter().map(|request| {
                request.map_or_else(|refusal| refusal, |ok| write_reply(&ok.reply_to, ok.dialect, content))
            })),
        };
        assert!(reply.body.is_empty() || serde_json::from_slice::<Value>(&reply.body).is_ok());
    });
}

#[test]
fn fuzz_read_answer() {
    let good = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"message_type":"GAME_JOIN_ACK","accept":true},"error":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"tok_p01_0 unknown","data":null}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"message":{"message_type":"GAME_JOIN_ACK"}}}"#,
        r#"{"result":{"isError":true,"content":[{"type":"text","text":"{\"choice\":1}"}],"response":{}}}"#,
        r#"{"status":"error","message":"no"}"#,
    ];
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let body = spoiled(&good, input);
        for status in [200, 202, 404, 500] {
            let _ = read_answer(status, &body, &LIMITS);
        }
    });
}

#[test]
fn fuzz_timestamp() {
    let good = ["2025-01-15T10:30:00Z", "2024-02-29T23:59:59.999999999+00:00", "20250115T10:30:00+00:00Z"];
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        if let Some((timestamp, _)) = Timestamp::parse(&spoiled_text(&good, input)) {
            let written = timestamp.to_string();
            let (again, _) = Timestamp::parse(&written).expect("what we write, we read");
            assert_eq!(again.to_string(), written);
        }
    });
}

#[test]
fn fuzz_error_code() {
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let text = spoiled_text(&["E001", "AUTH_TOKEN_INVALID"], input);
        let code = ErrorCode::parse(&text);
        assert!(code.code() == text || code.name() == text);
    });
}

#[test]
fn fuzz_endpoint() {
    let good = ["http://localhost:8101/mcp", "https://[::1]:9/a?b#c", "http://a@b:80/"];
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let text = spoiled_text(&good, input);
        if let Ok(endpoint) = Endpoint::parse(&text) {
            assert_eq!(endpoint.as_str(), text);
        }
    });
}

#[test]
fn fuzz_sender() {
    let good = ["league_manager", "launcher", "referee:REF01", "player:P01"];
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let text = spoiled_text(&good, input);
        if let Some(sender) = Sender::parse(&text) {
            assert_eq!(sender.to_string(), text);
        }
    });
}
