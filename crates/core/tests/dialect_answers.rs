//! What peers answer, in every form in which they answer it, and what we make of it.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    message_bytes_max: 10 * 1024,
    array_len_max: 100,
};

fn read(status: u16, body: &Value) -> WireAnswer {
    read_answer(status, body.to_string().as_bytes(), &LIMITS)
}

fn garbled(status: u16, body: &[u8]) -> String {
    match read_answer(status, body, &LIMITS) {
        WireAnswer::Garbled(why) | WireAnswer::Failed(why) => why,
        other => panic!(
            "{status} {} should be garbled, is {other:?}",
            body.escape_ascii()
        ),
    }
}

#[test]
fn a_message_is_found_wherever_agents_put_it() {
    let ack = json!({ "message_type": "GAME_JOIN_ACK", "accept": true });
    let text = ack.to_string();
    for body in [
        json!({ "jsonrpc": "2.0", "id": 1, "result": ack }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": ack, "error": null }),
        json!({ "result": ack, "error": {} }),
        ack.clone(),
        json!({ "jsonrpc": "2.0", "id": 99, "method": "game_join_ack", "params": ack }),
        json!({ "jsonrpc": "2.0", "id": "x", "method": "handle_message", "params": { "message": ack } }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "response": ack } }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "status": "ok", "message": ack } }),
        json!({ "status": "ok", "response": ack }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [], "structuredContent": ack } }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text", "text": text }] } }),
    ] {
        for status in [200, 201, 400, 404, 500] {
            assert_eq!(
                read(status, &body),
                WireAnswer::Message(ack.clone().into()),
                "{status} {body}"
            );
        }
    }
}

#[test]
fn a_message_with_an_error_of_its_own_is_still_a_message() {
    let response = json!({ "message_type": "LEAGUE_QUERY_RESPONSE", "success": false, "error": { "error_code": "E005" } });
    assert_eq!(
        read(200, &response),
        WireAnswer::Message((&response).into())
    );
    assert_eq!(
        read(200, &json!({ "result": response })),
        WireAnswer::Message(response.into())
    );
}

#[test]
fn a_players_answer_without_its_type_is_not_a_mere_acknowledgement() {
    for answer in [
        json!({ "accept": false }),
        json!({ "parity_choice": "even" }),
        json!({ "choice": "odd" }),
        json!({ "move_data": { "choice": 4 } }),
        json!({ "parity_choice": null }),
    ] {
        assert_eq!(read(200, &answer), WireAnswer::Message((&answer).into()));
        assert_eq!(
            read(200, &json!({ "id": 1, "result": answer })),
            WireAnswer::Message(answer.into())
        );
    }
}

#[test]
fn an_acknowledgement_is_no_more_than_that() {
    for body in [
        json!({ "status": "RECEIVED" }),
        json!({ "status": "ok", "message": "thanks" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "status": "ok" } }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": null }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": true, "error": null }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": "ok" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text", "text": "noted" }] } }),
        json!({}),
        json!([1]),
        json!(42),
        json!({ "message_type": "ACK" }),
        json!({ "message_type": "ROUND_ANNOUNCEMENT_ACK", "status": "ok" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "message_type": "received" } }),
        json!("ok"),
        json!(true),
        json!(null),
    ] {
        assert_eq!(read(200, &body), WireAnswer::Received, "{body}");
    }
    for (status, body) in [(202, ""), (204, ""), (200, ""), (200, " \r\n"), (200, "OK")] {
        assert_eq!(
            read_answer(status, body.as_bytes(), &LIMITS),
            WireAnswer::Received,
            "{status} {body:?}"
        );
    }
}

#[test]
fn a_call_that_was_not_understood_is_told_from_one_that_failed() {
    let error = |code: i64, message: &str| json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": message } });
    for (status, body) in [
        (200, error(-32601, "Method not found")),
        (400, error(-32601, "whatever")),
        (200, error(-32000, "Unknown method: choose_parity")),
        (200, error(-32603, "METHOD NOT FOUND")),
        (200, json!({ "error": "Unknown method" })),
        (200, json!({ "error": { "message": "unknown method" } })),
        (400, json!({ "detail": "Unknown method choose_parity" })),
        (404, json!({ "detail": "Not Found" })),
        (404, json!({ "error": "Not Found" })),
        (405, json!({ "detail": "Method Not Allowed" })),
        (
            422,
            json!({ "detail": [{ "loc": ["body", "jsonrpc"], "msg": "field required" }] }),
        ),
        (422, json!([1])),
        (
            200,
            json!({ "status": "error", "message": "unknown method" }),
        ),
        (
            200,
            json!({ "result": { "isError": true, "content": [{ "type": "text", "text": "Unknown tool: x" }] } }),
        ),
    ] {
        assert_eq!(
            read(status, &body),
            WireAnswer::MethodNotFound,
            "{status} {body}"
        );
    }
    for status in [404, 405, 422] {
        for body in ["", "<html>Not Found</html>", "Not Found", "\u{fffd}"] {
            assert_eq!(
                read_answer(status, body.as_bytes(), &LIMITS),
                WireAnswer::MethodNotFound,
                "{status} {body}"
            );
        }
    }
    for status in [200, 404, 500] {
        let expected = WireAnswer::Error {
            code: -32602,
            message: "Invalid params".to_owned(),
        };
        assert_eq!(read(status, &error(-32602, "Invalid params")), expected);
    }
}

#[test]
fn any_failure_without_a_league_error_may_be_a_matter_of_dialect() {
    let error = |error: Value| json!({ "jsonrpc": "2.0", "id": 1, "error": error });
    for (status, body) in [
        (
            200,
            error(json!({ "code": -32601, "message": "Method not found" })),
        ),
        (
            200,
            error(json!({ "code": -32602, "message": "Invalid params" })),
        ),
        (200, error(json!("Invalid request"))),
        (200, json!({ "status": "error", "message": "what?" })),
        (400, json!({ "detail": "Bad Request" })),
        (415, json!({ "detail": "Unsupported Media Type" })),
        (500, json!({ "detail": "Internal Server Error" })),
        (502, json!({})),
    ] {
        assert!(read(status, &body).is_not_understood(), "{status} {body}");
    }
    let league_error = json!({ "error_code": "E012", "error_message": "not yours" });
    for (status, body) in [
        (400, league_error.clone()),
        (403, json!({ "detail": league_error })),
        (200, error(league_error.clone())),
        (
            500,
            error(json!({ "code": -32000, "message": "E012", "data": league_error })),
        ),
        (429, json!({ "detail": "Too Many Requests" })),
        (503, json!({ "detail": "Service Unavailable" })),
        (200, json!({ "status": "ok" })),
    ] {
        assert!(!read(status, &body).is_not_understood(), "{status} {body}");
    }
}

#[test]
fn what_is_of_no_use_is_described_in_a_sentence() {
    for (status, body, expected) in [
        (500, "", "the agent answered HTTP 500 with an empty body"),
        (
            302,
            "",
            "the agent answered HTTP 302, a redirect, which is never followed: register the address that it leads to",
        ),
        (
            500,
            "{\"status\":\"RECEIVED\"}",
            "the agent answered HTTP 500 with JSON that holds no league message",
        ),
        (
            502,
            "<html>Bad Gateway</html>",
            "the agent answered HTTP 502 with a page for people instead of JSON",
        ),
        (
            200,
            "<!DOCTYPE html>",
            "the agent answered HTTP 200 with a page for people instead of JSON",
        ),
        (
            500,
            "[1]",
            "the agent answered HTTP 500 with JSON that is not an object",
        ),
        (
            200,
            "{\"error\":\"no\"}",
            "the agent answered with an error: no",
        ),
        (
            200,
            "{\"success\":false,\"reason\":\"busy\"}",
            "the agent says that it failed: busy",
        ),
    ] {
        assert_eq!(garbled(status, body.as_bytes()), expected);
    }
    assert!(garbled(200, b"{\"message_type\":\"GAME_JOIN").contains("not JSON"));
    assert!(garbled(200, b"\xff\xff").contains("not UTF-8"));
    assert!(garbled(200, &vec![b' '; LIMITS.message_bytes_max + 1]).contains("10241 bytes"));
    assert!(garbled(200, "[".repeat(10_000).as_bytes()).contains("not JSON"));
}

#[test]
fn a_peers_words_are_shown_short_on_one_line_and_without_tokens() {
    let said = format!(
        "bad token tok_p01_0123456789abcdef, tok_x\n{}",
        "é".repeat(500)
    );
    let body = json!({ "error": { "code": -32000, "message": said } });
    let WireAnswer::Error { message, .. } = read(200, &body) else {
        panic!("an error was sent");
    };
    assert!(
        message.starts_with("bad token tok_..., tok_... é"),
        "{message}"
    );
    assert!(message.ends_with("é..."), "{message}");
    assert!(message.chars().count() <= 170);
}

#[test]
fn a_redirect_is_a_failure_of_its_own_whatever_it_says() {
    let ack = json!({ "message_type": "GAME_JOIN_ACK", "accept": true }).to_string();
    for (status, body) in [
        (301, ""),
        (302, "<html>moved</html>"),
        (307, ack.as_str()),
        (308, "unknown method"),
    ] {
        let why = garbled(status, body.as_bytes());
        assert!(
            why.starts_with(&format!("the agent answered HTTP {status}, a redirect")),
            "{why}"
        );
    }
}

#[test]
fn only_an_error_that_names_a_code_of_the_league_is_a_refusal() {
    let error = |error: Value| json!({ "jsonrpc": "2.0", "id": 7, "error": error });
    let refused =
        error(json!({ "code": -32000, "message": "REFUSED", "data": { "error_code": "E008" } }));
    assert!(matches!(read(200, &refused), WireAnswer::Refused(_)));
    for data in [
        json!(null),
        json!("why"),
        json!({}),
        json!({ "error_code": 8 }),
    ] {
        let failed = error(json!({ "code": -32000, "message": "busy", "data": data }));
        assert!(
            matches!(read(200, &failed), WireAnswer::Error { code: -32000, .. }),
            "{data}"
        );
    }
    let unknown = error(json!({ "code": -32601, "message": "Method not found", "data": {} }));
    assert_eq!(read(200, &unknown), WireAnswer::MethodNotFound);
}

#[test]
fn an_acknowledgement_under_the_type_of_the_notice_is_one() {
    for kind in [
        "ROUND_COMPLETED",
        "ROUND_ANNOUNCEMENT",
        "GAME_OVER",
        "LEAGUE_STANDINGS_UPDATE",
    ] {
        let ack = json!({ "message_type": kind, "status": "acknowledged" });
        assert_eq!(read(200, &ack), WireAnswer::Received, "{kind}");
        assert_eq!(
            read(200, &json!({ "result": ack })),
            WireAnswer::Received,
            "{kind}"
        );
    }
    let table = json!({ "message_type": "LEAGUE_STANDINGS_UPDATE", "standings": [] });
    assert_eq!(read(200, &table), WireAnswer::Message(table.into()));
}

#[test]
fn a_message_that_calls_itself_an_error_is_a_refusal() {
    let named = json!({ "message_type": "ERROR", "error_code": "E005", "message": "who is that" });
    let WireAnswer::Refused(refusal) = read(200, &json!({ "id": 1, "result": named })) else {
        panic!("a refusal");
    };
    let refusal = Value::from(refusal);
    assert_eq!(refusal["message_type"], "LEAGUE_ERROR");
    assert_eq!(refusal["error_code"], "E005");
    assert_eq!(refusal["error_message"], "who is that");
    let nameless = json!({ "message_type": "REGISTRATION_ERROR", "error": "full" });
    let WireAnswer::Refused(refusal) = read(200, &nameless) else {
        panic!("a refusal");
    };
    let refusal = Value::from(refusal);
    assert_eq!(
        (&refusal["error_code"], &refusal["error_message"]),
        (&json!("full"), &json!("full"))
    );
}

#[test]
fn the_words_of_an_error_stand_outside_its_data() {
    let error = json!({ "error": { "code": -32000, "message": "Sender not registered", "data": { "error_code": "E004" } } });
    let WireAnswer::Refused(refusal) = read(200, &error) else {
        panic!("a refusal");
    };
    let refusal = Value::from(refusal);
    assert_eq!(refusal["error_message"], "Sender not registered");
}

#[test]
fn the_answer_is_found_in_a_stream_of_events() {
    let ack = json!({ "message_type": "GAME_JOIN_ACK", "accept": true });
    let body = format!(
        "event: message\r\ndata: {}\r\n\r\n",
        json!({ "id": 1, "result": ack })
    );
    assert_eq!(
        read_answer(200, body.as_bytes(), &LIMITS),
        WireAnswer::Message(ack.into())
    );
}
