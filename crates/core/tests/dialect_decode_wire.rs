//! From the wire into an agent's hands: what was read becomes what is asked, or how a call ended.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

use matchday_core::agent::{Answer, Ask};
use matchday_core::protocol::decode::{
    Conformance, Deviation, DeviationKind, Exchange, Limits, Reading,
};
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::protocol::dialect::decode_wire::{answer, ask};
use matchday_core::protocol::dialect::request::{RequestContent, Requests, read_requests};
use matchday_core::protocol::{
    ConversationId, ErrorCode, MatchId, MessageType, PlayerId, Sender, Timestamp,
};
use matchday_core::protocol::{Query, QueryParams, QueryRequest};
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    message_bytes_max: 10 * 1024,
    array_len_max: 100,
};

fn reading(conformance: Conformance) -> Reading<'static> {
    Reading {
        conformance,
        now: Timestamp::parse("2025-01-15T10:30:00Z").unwrap().0,
        limits: LIMITS,
        exchange: None,
        about: None,
    }
}

fn start_league() -> Value {
    json!({
        "protocol": "league.v2",
        "message_type": "START_LEAGUE",
        "sender": "launcher",
        "timestamp": "2025-01-15T10:30:00Z",
        "conversation_id": "conv-start",
        "league_id": "league_2025_even_odd",
    })
}

fn asked(params: &Value) -> RequestContent {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "start_league", "params": params });
    match read_requests(body.to_string().leak().as_bytes(), &LIMITS) {
        Requests::One(request) => request.asked,
        other => panic!("one request was sent: {other:?}"),
    }
}

#[test]
fn a_message_is_decoded() {
    let Some(Ask::Message(Ok(incoming))) =
        ask(asked(&start_league()), &reading(Conformance::Strict))
    else {
        panic!("a good message was sent");
    };
    assert_eq!(incoming.message_type, MessageType::StartLeague);
    assert_eq!(incoming.deviations, []);
}

#[test]
fn an_implied_type_is_missing_to_the_strict_and_a_deviation_to_the_lenient() {
    let mut params = start_league();
    params.as_object_mut().unwrap().remove("message_type");

    let Some(Ask::Message(Err(rejection))) = ask(asked(&params), &reading(Conformance::Strict))
    else {
        panic!("a required field is missing");
    };
    assert_eq!(
        (rejection.code, rejection.path.as_str()),
        (ErrorCode::MissingField, "message_type")
    );

    let Some(Ask::Message(Ok(incoming))) = ask(asked(&params), &reading(Conformance::Lenient))
    else {
        panic!("the method says what is meant");
    };
    let missing = Deviation {
        kind: DeviationKind::Missing,
        path: "message_type".to_owned(),
    };
    assert_eq!(incoming.deviations, [missing]);
}

#[test]
fn questions_are_handed_on_and_what_is_foreign_is_not() {
    let ask = |asked| ask(asked, &reading(Conformance::Strict));
    let match_id = Some(MatchId::new("R1M1"));
    let asked = QueryRequest::new(
        Query::MatchState,
        QueryParams {
            match_id,
            ..QueryParams::default()
        },
    );
    assert!(
        matches!(ask(RequestContent::Query(asked.clone())), Some(Ask::Query(handed)) if handed == asked)
    );
    assert!(ask(RequestContent::Query(Query::Discover.into())).is_none());
    assert!(ask(RequestContent::Foreign { method: None }).is_none());
}

#[test]
fn an_answer_is_decoded_or_described() {
    let answer = |wire| answer(wire, &reading(Conformance::Strict));
    assert!(matches!(
        answer(WireAnswer::Message(start_league().into())),
        Answer::Message(Ok(_))
    ));
    assert!(matches!(
        answer(WireAnswer::Message(json!({ "choice": "even" }).into())),
        Answer::Message(Err(_))
    ));
    assert!(matches!(answer(WireAnswer::Received), Answer::Received));
    assert!(matches!(
        answer(WireAnswer::MethodNotFound),
        Answer::NotUnderstood(_)
    ));
    let error = WireAnswer::Error {
        code: -32000,
        message: "busy".to_owned(),
    };
    assert!(
        matches!(answer(error), Answer::NotUnderstood(why) if why.contains("-32000") && why.contains("busy"))
    );
    let failed = answer(WireAnswer::Failed("HTTP 500".to_owned()));
    assert!(matches!(failed, Answer::NotUnderstood(why) if why == "HTTP 500"));
    assert!(
        matches!(answer(WireAnswer::Garbled("so".to_owned())), Answer::Garbled(why) if why == "so")
    );
}

fn asked_of(peer: Sender) -> Exchange {
    let conversation_id = ConversationId::new("conv-1");
    Exchange {
        peer,
        conversation_id,
        league_id: None,
        match_id: None,
        player_id: None,
    }
}

#[test]
fn a_refusal_is_a_league_error_though_it_has_no_envelope() {
    let exchange = asked_of(Sender::Player(PlayerId::numbered(1)));
    let reading = Reading {
        exchange: Some(&exchange),
        ..reading(Conformance::Strict)
    };
    let data = json!({ "message_type": "LEAGUE_ERROR", "error_code": "E008", "error_description": "INVALID_STATE" });
    let Answer::Message(Ok(incoming)) = answer(WireAnswer::Refused(data.into()), &reading) else {
        panic!("a refusal was sent")
    };
    assert_eq!(
        (incoming.message_type, &incoming.deviations[..]),
        (MessageType::LeagueError, &[][..])
    );
    assert_eq!(incoming.envelope.sender, exchange.peer);
}

#[test]
fn what_a_manager_of_another_make_answers_is_read_without_an_envelope_in_strict_too() {
    let response = json!({
        "message_type": "REFEREE_REGISTER_RESPONSE", "status": "ACCEPTED", "referee_id": "REF01",
        "auth_token": "tok_ref01_abc", "league_id": "league_2025_even_odd", "reason": null,
    });
    for (peer, read) in [
        (Sender::LeagueManager, true),
        (Sender::Player(PlayerId::numbered(1)), false),
    ] {
        let exchange = asked_of(peer);
        let reading = Reading {
            exchange: Some(&exchange),
            ..reading(Conformance::Strict)
        };
        let came = answer(WireAnswer::Message((&response).into()), &reading);
        assert_eq!(matches!(came, Answer::Message(Ok(_))), read, "{came:?}");
    }
}

#[test]
fn what_a_manager_of_another_make_announces_is_read_without_an_envelope_in_strict_too() {
    let round = json!({
        "message_type": "ROUND_ANNOUNCEMENT", "league_id": "league_2025_even_odd", "round_id": 1,
        "matches": [{
            "match_id": "R1M1", "game_type": "even_odd", "player_A_id": "P01", "player_B_id": "P02",
            "referee_endpoint": "http://localhost:8001/mcp",
        }],
    });
    let Some(Ask::Message(came)) = ask(asked(&round), &reading(Conformance::Strict)) else {
        panic!("a message")
    };
    let incoming = came.unwrap();
    assert_eq!(
        (incoming.envelope.sender, incoming.body.is_ok()),
        (Sender::LeagueManager, true)
    );
    let mut named = round;
    named["sender"] = json!("league_manager:LM01");
    let Some(Ask::Message(Ok(incoming))) = ask(asked(&named), &reading(Conformance::Strict)) else {
        panic!("a manager with an id is a manager")
    };
    assert_eq!(incoming.envelope.sender, Sender::LeagueManager);
}

#[test]
fn an_error_of_another_make_has_its_own_code_and_words_and_no_name_of_ours() {
    use matchday_core::driver::ExchangeOutcome;
    for (refusal, shown) in [
        (
            json!({"message_type": "LEAGUE_ERROR", "error_code": "E004", "error_message": "Sender not registered"}),
            "E004: Sender not registered",
        ),
        (
            json!({"message_type": "LEAGUE_ERROR", "error_code": "E004", "error_description": "Unknown match"}),
            "E004: Unknown match",
        ),
        (
            json!({"message_type": "LEAGUE_ERROR", "error_code": "E012", "error_description": "AUTH_TOKEN_INVALID"}),
            "E012 AUTH_TOKEN_INVALID: AUTH_TOKEN_INVALID",
        ),
    ] {
        let answered = answer(
            WireAnswer::Refused(refusal.into()),
            &reading(Conformance::Strict),
        );
        assert_eq!(ExchangeOutcome::of_answer(&answered).to_string(), shown);
    }
}
