//! A token that stands where an id should is kept nowhere: not in the log, nor in a column of the record.

use matchday_core::timing::Timing;
use matchday_runtime::log;
use matchday_testkit::test_league::{TestLeague, quick};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const TOKEN: &str = "tok_p01_0123456789abcdef0123456789abcdef";

fn registration() -> Value {
    json!({
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:ada",
        "timestamp": "2026-03-02T09:00:00Z", "conversation_id": "conv-register-ada",
        "player_meta": {
            "display_name": "Ada", "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": "http://localhost:8101/mcp",
        },
    })
}

fn report() -> Value {
    json!({
        "protocol": "league.v2", "message_type": "MATCH_RESULT_REPORT", "sender": "referee:REF01",
        "timestamp": "2026-03-02T09:00:00Z", "conversation_id": "conv-1", "auth_token": "tok_ref_1",
        "league_id": "league_2025_even_odd", "round_id": 1, "match_id": "R1M1", "game_type": "even_odd",
        "result": {"winner": "P01", "score": {"P01": 3, "P02": 0}, "status": "WIN"},
    })
}

#[tokio::test]
async fn a_token_in_any_field_of_a_message_stands_neither_in_the_log_nor_in_a_column() {
    let mut test_league = TestLeague::new(matchday_server::agent_options);
    let lines = Arc::new(Mutex::new(String::new()));
    let written = Arc::clone(&lines);
    test_league.log = log::dispatch(tracing::Level::DEBUG, move |entry| {
        let mut lines = written.lock().unwrap();
        lines.push_str(&format!("{}\n{}\n", entry.as_json(), entry.for_people()));
    });
    let manager = test_league.manager(quick(Timing::default())).await;
    let with = |field: &str, value: &str, mut message: Value| {
        message[field] = json!(value);
        json!({"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": message})
    };
    let escaped = format!("\\u0074{}", &TOKEN[1..]);
    for value in [TOKEN, &format!("conv-{TOKEN}"), &escaped] {
        for field in [
            "conversation_id",
            "sender",
            "message_type",
            "timestamp",
            "protocol",
        ] {
            test_league
                .post(
                    manager.address(),
                    with(field, value, registration()).to_string(),
                )
                .await;
        }
        for field in ["match_id", "conversation_id", "sender", "league_id"] {
            test_league
                .post(manager.address(), with(field, value, report()).to_string())
                .await;
        }
        for (method, params) in [
            (value, json!({})),
            ("get_match_state", json!({"match_id": value})),
            ("get_player_stats", json!({"player_id": value})),
            ("tools/call", json!({"name": value, "arguments": {}})),
        ] {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            test_league.post(manager.address(), body.to_string()).await;
        }
    }
    manager.shutdown().await.unwrap();
    let mut all = lines.lock().unwrap().clone();
    assert!(all.contains("conv-tok_p01_..."), "{all}");
    for exchange in test_league.exchanges_unchecked() {
        all.push_str(&format!("{exchange:?}\n"));
    }
    let secret = &TOKEN[12..];
    let hidden = "tok_p01_...";
    let kept: Vec<_> = all.lines().filter(|line| line.contains(secret)).collect();
    assert!(kept.is_empty() && all.contains(hidden), "{kept:#?}");
}
