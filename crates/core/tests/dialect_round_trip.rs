//! What we write, we read: every dialect, as a call and as a reply.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

use matchday_core::agent::Content;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use matchday_core::protocol::dialect::call::{write_call, write_probe};
use matchday_core::protocol::dialect::printed::PrintedMessage;
use matchday_core::protocol::dialect::reply::{HttpReply, write_error, write_reply};
use matchday_core::protocol::dialect::request::{
    ReplyTo, Request, RequestContent, Requests, read_requests,
};
use matchday_core::protocol::jsonrpc::Fault;
use matchday_core::protocol::message::{Body, Message};
use matchday_core::protocol::messages::{
    ChooseParityCall, GameInvitation, LeagueError, LeagueQuery, Role, StartLeague,
};
use matchday_core::protocol::{
    ConversationId, Envelope, ErrorCode, GameType, LeagueId, MatchId, PlayerId, RoundId, Sender,
    Timestamp, Token,
};
use matchday_core::protocol::{Query, QueryParams};
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    message_bytes_max: 10 * 1024,
    array_len_max: 100,
};

fn message(body: impl Into<Body>) -> Message {
    let envelope = Envelope::new(
        Sender::LeagueManager,
        Timestamp::EPOCH,
        ConversationId::new("conv-1"),
    );
    Message::new(envelope.with_token(Some(Token::new("tok_p01_x"))), body)
}

fn parity_call() -> Message {
    message(ChooseParityCall {
        league_id: None,
        round_id: None,
        match_id: MatchId::new("R1M1"),
        player_id: PlayerId::numbered(1),
        game_type: GameType::new("even_odd"),
        context: None,
        deadline: Timestamp::EPOCH,
        turn: None,
        opponent_nonce_commitment: None,
    })
}

fn league_error() -> Message {
    message(LeagueError {
        error_code: ErrorCode::TokenInvalid,
        error_name: None,
        error_description: "AUTH_TOKEN_INVALID".into(),
        error_message: Some("\"quoted\" and\nbroken".into()),
        original_message_type: None,
        retryable: None,
        context: None,
    })
}

fn messages() -> [Message; 4] {
    let league_id = LeagueId::new("league");
    let query = LeagueQuery {
        league_id: league_id.clone(),
        query_type: Query::Standings,
        query_params: QueryParams::default(),
    };
    [
        parity_call(),
        league_error(),
        message(query),
        message(StartLeague { league_id }),
    ]
}

/// What is read borrows from the body; a test can afford to keep it for ever.
fn one(body: Vec<u8>) -> Request {
    let body: &'static [u8] = body.leak();
    match read_requests(body, &LIMITS) {
        Requests::One(request) => request,
        other => panic!(
            "{} should be one request, is {other:?}",
            body.escape_ascii()
        ),
    }
}

fn reply(dialect: Dialect, content: &Content) -> HttpReply {
    let request = one(write_call(dialect, 7, &parity_call()));
    HttpReply::one(write_reply(&request.reply_to, request.dialect, content))
}

#[test]
fn a_call_in_any_dialect_is_read_as_it_was_written() {
    for (message, dialect) in messages()
        .iter()
        .flat_map(|message| Dialect::ALL.map(|dialect| (message, dialect)))
    {
        let request = one(write_call(dialect, 7, message));
        let asked = RequestContent::Message {
            value: serde_json::to_value(message).unwrap().into(),
            type_implied: false,
        };
        assert_eq!(request.asked, asked, "{dialect:?}");
        let kind = message.message_type();
        let same = kind.name().to_ascii_lowercase() == kind.method();
        if dialect == Dialect::LowerTypeAsMethod && same {
            assert_eq!(
                request.dialect,
                Dialect::Standard,
                "{kind} cannot be told apart"
            );
        } else {
            assert_eq!(request.dialect, dialect, "{kind}");
        }
        let reply_to = if dialect == Dialect::Bare {
            ReplyTo::Body
        } else {
            ReplyTo::Id(7.into())
        };
        assert_eq!(request.reply_to, reply_to);
    }
}

#[test]
fn a_call_has_the_form_of_its_dialect() {
    let message = parity_call();
    let value = serde_json::to_value(&message).unwrap();
    let wrapped = json!({ "message": value });
    let tool = json!({ "name": "choose_parity", "arguments": value });
    for (dialect, method, params) in [
        (Dialect::Standard, "choose_parity", &value),
        (Dialect::TypeAsMethod, "CHOOSE_PARITY_CALL", &value),
        (Dialect::LowerTypeAsMethod, "choose_parity_call", &value),
        (Dialect::HandleMessage, "handle_message", &wrapped),
        (Dialect::McpMessage, "mcp_message", &wrapped),
        (Dialect::ProtocolMessage, "protocol/message", &wrapped),
        (Dialect::ToolsCall, "tools/call", &tool),
    ] {
        let written: Value = serde_json::from_slice(&write_call(dialect, 7, &message)).unwrap();
        assert_eq!(
            written,
            json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
        );
    }
    let bare: Value = serde_json::from_slice(&write_call(Dialect::Bare, 7, &message)).unwrap();
    assert_eq!(bare, value);
}

#[test]
fn a_probe_is_a_ping() {
    let request = one(write_probe(3));
    assert_eq!(
        (request.reply_to, request.asked),
        (
            ReplyTo::Id(3.into()),
            RequestContent::Query(Query::Ping.into())
        )
    );
}

#[test]
fn a_reply_in_any_dialect_is_read_as_the_message_it_carries() {
    for (message, dialect) in messages()
        .iter()
        .flat_map(|message| Dialect::ALL.map(|dialect| (message, dialect)))
    {
        let reply = reply(dialect, &Content::Message(message.clone()));
        assert_eq!(reply.status, 200);
        let value = serde_json::to_value(message).unwrap();
        assert_eq!(
            read_answer(reply.status, &reply.body, &LIMITS),
            WireAnswer::Message(value.into()),
            "{dialect:?}"
        );
    }
}

#[test]
fn received_and_data_are_read_as_received() {
    for (content, dialect) in [
        Content::Received,
        Content::Data(json!({ "standings": [] })),
        Content::Data(json!([1])),
    ]
    .iter()
    .flat_map(|content| Dialect::ALL.map(|dialect| (content, dialect)))
    .filter(|(content, dialect)| {
        !(matches!(content, Content::Data(Value::Array(_))) && *dialect == Dialect::Bare)
    }) {
        let reply = reply(dialect, content);
        assert_eq!(
            read_answer(reply.status, &reply.body, &LIMITS),
            WireAnswer::Received,
            "{dialect:?}"
        );
    }
}

#[test]
fn a_reply_has_the_form_of_its_dialect() {
    let value = serde_json::to_value(league_error()).unwrap();
    let received = json!({ "status": "received" });
    for dialect in Dialect::ALL {
        let body =
            |content| serde_json::from_slice::<Value>(&reply(dialect, &content).body).unwrap();
        let message = body(Content::Message(league_error()));
        let ack = body(Content::Received);
        match dialect {
            Dialect::Bare => assert_eq!((message, ack), (value.clone(), received.clone())),
            Dialect::ToolsCall => {
                assert_eq!(
                    (&message["id"], &message["result"]["isError"]),
                    (&json!(7), &json!(true))
                );
                assert_eq!(message["result"]["structuredContent"], value);
                let text = message["result"]["content"][0]["text"].as_str().unwrap();
                assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value);
                assert_eq!(ack["result"]["isError"], false);
                assert_eq!(ack["result"]["structuredContent"], received);
            }
            _ => {
                assert_eq!(
                    message,
                    json!({ "jsonrpc": "2.0", "id": 7, "result": value })
                );
                assert_eq!(
                    ack,
                    json!({ "jsonrpc": "2.0", "id": 7, "result": received })
                );
            }
        }
    }
}

#[test]
fn a_notification_is_answered_with_202_and_nothing_else() {
    for part in [
        write_reply(
            &ReplyTo::Nobody,
            Dialect::Standard,
            &Content::Message(parity_call()),
        ),
        write_reply(&ReplyTo::Nobody, Dialect::ToolsCall, &Content::Received),
        write_error(&ReplyTo::Nobody, &Fault::Internal.because("x")),
    ] {
        let reply = HttpReply::one(part);
        assert_eq!((reply.status, reply.body.as_slice()), (202, &[][..]));
        assert_eq!(
            read_answer(reply.status, &reply.body, &LIMITS),
            WireAnswer::Received
        );
    }
}

#[test]
fn a_batch_leaves_out_its_notifications() {
    let part = |to: &ReplyTo| write_reply(to, Dialect::Standard, &Content::Received);
    let reply = HttpReply::batch([
        part(&ReplyTo::Id(1.into())),
        part(&ReplyTo::Nobody),
        part(&ReplyTo::Id(2.into())),
    ]);
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(
        (
            &body[0]["id"],
            &body[1]["id"],
            body.as_array().unwrap().len()
        ),
        (&json!(1), &json!(2), 2)
    );
    assert_eq!(HttpReply::batch([part(&ReplyTo::Nobody)]).status, 202);
}

#[test]
fn a_refusal_of_ours_is_read_as_what_it_is() {
    let refusal = |fault: Fault| {
        HttpReply::one(write_error(&ReplyTo::Id(1.into()), &fault.because("so"))).body
    };
    for fault in Fault::ALL {
        let expected = match fault {
            Fault::MethodNotFound => WireAnswer::MethodNotFound,
            other => WireAnswer::Error {
                code: other.code(),
                message: other.message().to_owned(),
            },
        };
        assert_eq!(read_answer(200, &refusal(fault), &LIMITS), expected);
    }
}

#[test]
fn from_any_dialect_the_ring_comes_past_all_others_before_it_returns() {
    for start in Dialect::ALL {
        let mut seen: Vec<_> = std::iter::successors(Some(start), |dialect| Some(dialect.next()))
            .take(8)
            .collect();
        assert_eq!(seen.last().unwrap().next(), start);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), Dialect::ALL.len());
    }
    assert_eq!(Dialect::Standard.next(), Dialect::TypeAsMethod);
}

/// A refusal in the name of a player.
fn refusal_of_player() -> Message {
    let Message { envelope, body } = league_error();
    Message {
        envelope: Envelope {
            sender: Sender::Player(PlayerId::numbered(1)),
            ..envelope
        },
        body,
    }
}

#[test]
fn a_player_refuses_by_an_error_of_json_rpc_that_is_read_as_the_refusal_in_every_dialect() {
    for dialect in Dialect::ALL {
        let HttpReply { status, body } = reply(dialect, &Content::Message(refusal_of_player()));
        let WireAnswer::Refused(refusal) = read_answer(status, &body, &LIMITS) else {
            panic!("{dialect:?}: {}", body.escape_ascii())
        };
        let refusal = Value::from(refusal);
        assert_eq!(refusal["message_type"], "LEAGUE_ERROR");
        assert_eq!(refusal["error_code"], "E012", "{dialect:?}");
    }
}

#[test]
fn the_error_by_which_a_player_refuses_names_what_is_wrong_and_is_no_league_message() {
    let HttpReply { status, body } =
        reply(Dialect::Standard, &Content::Message(refusal_of_player()));
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (status, &body["id"], body.get("result")),
        (200, &json!(7), None)
    );
    assert_eq!(
        (&body["error"]["code"], &body["error"]["message"]),
        (&json!(-32000), &json!("AUTH_TOKEN_INVALID"))
    );
    let data = &body["error"]["data"];
    assert_eq!(
        (
            &data["error_code"],
            data.get("message_type"),
            data.get("sender")
        ),
        (&json!("E012"), None, None)
    );
}

#[test]
fn a_tool_of_a_player_refuses_with_the_same_fields() {
    let HttpReply { body, .. } = reply(Dialect::ToolsCall, &Content::Message(refusal_of_player()));
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["result"]["isError"], true);
    assert_eq!(body["result"]["structuredContent"]["error_code"], "E012");
    assert_eq!(
        body["result"]["structuredContent"].get("message_type"),
        None
    );
}

#[test]
fn the_manager_still_refuses_by_a_league_error_as_the_result() {
    let HttpReply { status, body } = reply(Dialect::Standard, &Content::Message(league_error()));
    let WireAnswer::Message(message) = read_answer(status, &body, &LIMITS) else {
        panic!("no message")
    };
    assert_eq!(Value::from(message)["message_type"], "LEAGUE_ERROR");
}

fn invitation() -> Message {
    message(GameInvitation {
        league_id: LeagueId::new("league_2025_even_odd"),
        round_id: RoundId(1),
        match_id: MatchId::new("R1M1"),
        game_type: GameType::new("even_odd"),
        role_in_match: Role::PlayerA,
        opponent_id: PlayerId::numbered(2),
        player_id: Some(PlayerId::numbered(1)),
        draw_commitment: None,
        commitment_signature: None,
        draw_scheme: Some("matchday-draw-2".into()),
    })
}

#[test]
fn a_message_for_those_who_forbid_other_keys_has_the_documents_keys_alone() {
    let printed = PrintedMessage::of(&invitation()).expect("there is something to leave out");
    let body: Value = serde_json::from_slice(&printed.written(Dialect::Standard, 7)).unwrap();
    let mut whole: Value =
        serde_json::from_slice(&write_call(Dialect::Standard, 7, &invitation())).unwrap();
    let params = whole["params"].as_object_mut().unwrap();
    params.remove("player_id");
    params.remove("draw_scheme");
    assert_eq!(body, whole);
}

#[test]
fn only_a_refusal_that_names_a_key_of_ours_asks_for_a_message_without() {
    let printed = PrintedMessage::of(&invitation()).expect("there is something to leave out");
    let asked = |refusal: &str| printed.is_asked_for_by(refusal.as_bytes());
    assert!(asked(
        r#"{"error":{"code":-32602,"message":"Extra inputs are not permitted: draw_scheme"}}"#
    ));
    assert!(asked(
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","params","player_id"]}]}"#
    ));
    assert!(asked("got an unexpected keyword argument 'draw_scheme'"));
    assert!(!asked(
        r#"{"error":{"code":-32601,"message":"Unknown method: handle_game_invitation"}}"#
    ));
    assert!(!asked(
        r#"{"error":{"code":-32602,"message":"extra key: redraw_scheme_2"}}"#
    ));
    assert!(!asked(r#"{"error":{"message":"player_id is 7"}}"#));
}
