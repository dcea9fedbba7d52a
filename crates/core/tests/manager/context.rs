//! What `context` of a LEAGUE_ERROR tells a program: the keys that the sources name are there, besides our own.

use crate::desk::*;
use matchday_core::agent::{Ask, Content};
use matchday_core::protocol::decode::{Conformance, Limits, Reading, decode};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ErrorCode, Message, PlayerId, Sender, Token};
use serde_json::{Value, json};

fn context(body: &Body) -> (ErrorCode, Value) {
    match body {
        Body::LeagueError(error) => (
            error.error_code.clone(),
            Value::Object(error.context.clone().unwrap_or_default()),
        ),
        other => panic!("expected LEAGUE_ERROR, got {other:?}"),
    }
}

fn standings_query(desk: &Desk, sender: &Sender, token: Option<&str>) -> Message {
    let query_params = QueryParams::default();
    let query = LeagueQuery {
        league_id: league_id(),
        query_type: Query::Standings,
        query_params,
    };
    let mut message = desk.message(sender, query);
    message.envelope.auth_token = token.map(Token::new);
    message
}

#[test]
fn a_refusal_names_the_action_that_was_attempted() {
    let mut desk = Desk::with(quick(), 2, 1);
    let query = standings_query(&desk, &player(1), Some("tok_p01_guess"));
    let (code, told) = context(&desk.ask(query).body);
    assert_eq!(
        (code, &told["action"]),
        (ErrorCode::TokenInvalid, &json!("league_query"))
    );
    assert_eq!(
        told["provided_token"], "tok_p01_...",
        "what was there before stays"
    );
    let start = desk.message(
        &referee(1),
        StartLeague {
            league_id: league_id(),
        },
    );
    assert_eq!(context(&desk.ask(start).body).1["action"], "start_league");
}

#[test]
fn a_message_that_breaks_a_rule_is_refused_with_its_action_too() {
    let mut desk = Desk::new(quick());
    let mut refused = |wire: Value| {
        let now = desk.now;
        let reading = Reading {
            conformance: Conformance::Strict,
            now,
            limits: Limits::MANAGER,
            exchange: None,
            about: None,
        };
        match desk
            .ask_any(Ask::Message(decode(&wire, &reading)), true)
            .pop()
        {
            Some(Content::Message(answer)) => context(&answer.body).1,
            other => panic!("expected an answer, got {other:?}"),
        }
    };
    let envelope = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:ada",
        "timestamp": "2025-01-15T10:30:00Z", "conversation_id": "conv-1",
    });
    let told = refused(envelope.clone());
    assert_eq!(
        (&told["action"], &told["path"]),
        (&json!("register_player"), &json!("player_meta"))
    );
    let mut unknown = envelope;
    unknown["message_type"] = json!("LEAGUE_PARTY");
    assert_eq!(
        refused(unknown)["action"],
        "LEAGUE_PARTY",
        "what is not known is named as it came"
    );
}

#[test]
fn a_refusal_that_concerns_a_player_names_it() {
    let mut desk = Desk::with(quick(), 2, 1);
    let stranger = Sender::Player(PlayerId::new("P99"));
    for (sender, expected) in [
        (stranger, ErrorCode::PlayerNotRegistered),
        (player(1), ErrorCode::TokenInvalid),
    ] {
        let query = standings_query(&desk, &sender, Some("tok_p99_x"));
        let (code, told) = context(&desk.ask(query).body);
        assert_eq!((code, &told["player_id"]), (expected, &json!(sender.id())));
    }
    let query = standings_query(&desk, &referee(1), Some("tok_ref01_x"));
    assert_eq!(
        context(&desk.ask(query).body).1.get("player_id"),
        None,
        "a referee is no player"
    );
}
