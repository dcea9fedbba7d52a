//! What people read when a message is refused.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::decode::Conformance::Strict;
use matchday_core::protocol::decode::Rejection;
use matchday_core::protocol::messages::LeagueError;
use matchday_core::protocol::{ErrorCode, Message, UntrustedText};
use matchday_testkit::golden::{self, named, read_body};
use serde_json::{Value, json};

fn refused(name: &str, pointer: &str, value: Value) -> Rejection {
    let mut message = named(name);
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    message.pointer_mut(parent).unwrap()[key] = value;
    read_body(&message, Strict).unwrap_err()
}

#[test]
fn sentences() {
    let player = "002_3-1_league_register_request";
    let referee = "002_2-1_referee_register_request";
    let choice = "002_3-3_choose_parity_response";
    let query = "002_3-4_league_query";
    let sentences = [
        read_body(&json!(["GAME_OVER"]), Strict).unwrap_err(),
        refused(player, "/protocol", json!("league.v1")),
        refused(player, "/sender", json!("alpha")),
        refused(player, "/timestamp", json!("2025-01-15T10:30:00+02:00")),
        refused(player, "/message_type", json!("league_register_request")),
        refused(player, "/message_type", json!("REGISTER")),
        refused(player, "/player_meta", json!(null)),
        refused(player, "/player_meta/display_name", json!("")),
        refused(player, "/player_meta/display_name", json!("n".repeat(99))),
        refused(player, "/player_meta/display_name", json!("Ada\u{202e}")),
        refused(
            player,
            "/player_meta/contact_endpoint",
            json!("http://localhost:8101/\nmcp"),
        ),
        refused(player, "/player_meta/version", json!("1.0")),
        refused(
            player,
            "/player_meta/contact_endpoint",
            json!("localhost:8101"),
        ),
        refused(player, "/player_meta/game_types", json!([])),
        refused(referee, "/referee_meta/max_concurrent_matches", json!(11)),
        refused(referee, "/referee_meta/game_types", json!(["even_odd", 7])),
        refused(choice, "/parity_choice", json!("Even")),
        refused(choice, "/match_id", json!(null)),
        refused(choice, "/player_id", json!({"id": "P01"})),
        refused(query, "/query_type", json!("GET_ALL")),
        refused(
            "002_1-1_round_announcement",
            "/matches/1/referee_endpoint",
            json!("nowhere"),
        ),
        refused(
            "002_2-5_match_result_report",
            "/result/score/P01",
            json!("3"),
        ),
        refused(
            "002_2-3_choose_parity_call",
            "/context/round_id",
            json!(1.0),
        ),
    ]
    .map(|rejection| rejection.to_string());
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn a_refusal_as_it_is_sent() {
    let rejection = refused(
        "002_3-1_league_register_request",
        "/player_meta/display_name",
        json!(""),
    );
    assert_eq!(
        rejection.message_type.as_ref().map(UntrustedText::raw),
        Some("LEAGUE_REGISTER_REQUEST")
    );
    assert_eq!(
        rejection.conversation_id.as_ref().unwrap().as_str(),
        "conv-p01-registration"
    );
    insta::assert_json_snapshot!(LeagueError::from(&rejection));
}

#[test]
fn every_refusal_is_itself_strictly_right() {
    let unknown = Rejection {
        message_type: None,
        ..refused("002_3-4_league_query", "/league_id", json!(7))
    };
    let envelope = golden::read(&named("002_1-6_league_error"), Strict)
        .unwrap()
        .envelope;
    let errors = [
        LeagueError::from(&unknown),
        LeagueError::new(ErrorCode::RateLimited, "Wait a second.", None, None),
        LeagueError::new(
            ErrorCode::Foreign("E777".into()),
            "",
            Some("PING".into()),
            None,
        ),
    ];
    for error in errors {
        let written = serde_json::to_value(Message::new(envelope.clone(), error.clone())).unwrap();
        assert_eq!(read_body(&written, Strict).unwrap(), error.into());
    }
}

#[test]
fn a_token_is_never_told_whole() {
    let token = "tok_p01_0123456789abcdef";
    let long = token.repeat(80);
    for rejection in [
        refused("002_3-4_league_query", "/auth_token", json!(long)),
        refused("002_3-4_league_query", "/sender", json!(token)),
        refused(
            "002_3-4_league_query",
            "/league_id",
            json!({"auth_token": token}),
        ),
        refused("002_3-4_league_query", "/league_id", json!([token])),
        refused(
            "round_announcement_for_referees",
            "/matches/0/player_A_tokens/to_player",
            json!(long),
        ),
        refused(
            "round_announcement_for_referees",
            "/matches/0/player_A_tokens",
            json!(token),
        ),
    ] {
        assert!(!format!("{rejection:?}").contains("p01_0"), "{rejection:?}");
    }
}

#[test]
fn what_came_is_shortened() {
    let rejection = refused("002_3-4_league_query", "/sender", json!("é".repeat(5_000)));
    assert!(rejection.came.chars().count() < 70, "{rejection}");
    let long_type = refused(
        "002_3-4_league_query",
        "/message_type",
        json!("M".repeat(5_000)),
    );
    assert!(long_type.message_type.unwrap().raw().len() < 70);
}
