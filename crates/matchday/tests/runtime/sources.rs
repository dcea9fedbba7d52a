//! Small print of the sources, put to the agents over HTTP.

use matchday_core::league::{LeagueSettings, Manager};
use matchday_core::protocol::decode::Conformance;
use matchday_core::timing::Timing;
use matchday_runtime::Handle;
use matchday_testkit::test_league::{TestLeague, endpoint, quick, until_registered};
use serde_json::{Value, json};
use std::net::SocketAddr;

async fn manager() -> (TestLeague, Handle<Manager>) {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let settings = LeagueSettings {
        conformance: Conformance::Strict,
        ..quick(Timing::default())
    };
    let manager = test_league.manager(settings).await;
    (test_league, manager)
}

/// A registration as a player sends it, with some fields otherwise.
fn registration(otherwise: impl FnOnce(&mut Value)) -> Value {
    let mut message = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:ada",
        "timestamp": "2026-03-02T09:00:00Z", "conversation_id": "conv-register-ada",
        "player_meta": {
            "display_name": "Ada", "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": "http://localhost:8101/mcp",
        },
    });
    otherwise(&mut message);
    message
}

async fn call(test_league: &TestLeague, to: SocketAddr, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    test_league.post(to, body.to_string()).await.1
}

#[tokio::test]
async fn the_compact_date_that_a_source_prints_is_read_in_strict() {
    let (test_league, manager) = manager().await;
    for (timestamp, expected) in [
        ("20260302T09:00:00Z", None),
        ("20260302T090000Z", Some("E021")),
    ] {
        let message = registration(|message| message["timestamp"] = json!(timestamp));
        let answer = call(&test_league, manager.address(), "register_player", message).await;
        assert_eq!(
            answer["result"]["error_code"].as_str(),
            expected,
            "{answer}"
        );
    }
}

#[tokio::test]
async fn an_endpoint_that_nobody_can_call_is_refused_with_its_path() {
    let (test_league, manager) = manager().await;
    for bad in [
        "http:///mcp",
        "http://localhost:0/mcp",
        "http://local host/mcp",
        "http://localhost/\u{7}",
    ] {
        let message =
            registration(|message| message["player_meta"]["contact_endpoint"] = json!(bad));
        let answer = call(&test_league, manager.address(), "register_player", message).await;
        let told = &answer["result"];
        assert_eq!(
            (
                &told["error_code"],
                &told["context"]["path"],
                &told["context"]["action"]
            ),
            (
                &json!("E002"),
                &json!("player_meta.contact_endpoint"),
                &json!("register_player")
            ),
            "{bad:?}: {answer}"
        );
    }
}

#[tokio::test]
async fn a_referee_does_not_register_a_player() {
    let (test_league, manager) = manager().await;
    let message = registration(|message| message["sender"] = json!("referee:ada"));
    let answer = call(&test_league, manager.address(), "register_player", message).await;
    assert_eq!(answer["result"]["error_code"], "E012", "{answer}");
}

#[tokio::test]
async fn before_the_start_there_is_no_schedule_to_ask_for() {
    let (test_league, manager) = manager().await;
    let answer = call(&test_league, manager.address(), "get_schedule", json!({})).await;
    let told = &answer["result"];
    assert_eq!(
        (&told["success"], &told["error"]["error_code"]),
        (&json!(false), &json!("E008")),
        "{answer}"
    );
}

#[tokio::test]
async fn a_player_and_a_referee_refuse_by_an_error_of_json_rpc() {
    let (test_league, manager) = manager().await;
    let at = endpoint(manager.address());
    let referee = test_league.referee(1, &at, Timing::default()).await;
    let player = test_league.player(1, &at, "random").await;
    until_registered(&manager, 1, 1).await;
    for (address, method) in [
        (player.address(), "report_match_result"),
        (referee.address(), "start_league"),
    ] {
        let message = json!({
            "protocol": "league.v2", "message_type": "START_LEAGUE", "sender": "launcher",
            "timestamp": "2026-03-02T09:00:00Z", "conversation_id": "conv-1", "league_id": "league",
        });
        let answer = call(&test_league, address, method, message).await;
        let error = &answer["error"];
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32000), &json!("INVALID_STATE")),
            "{answer}"
        );
        assert_eq!(
            (
                &error["data"]["error_code"],
                &error["data"]["original_message_type"],
                answer.get("result")
            ),
            (&json!("E008"), &json!("START_LEAGUE"), None),
            "{answer}"
        );
    }
}
