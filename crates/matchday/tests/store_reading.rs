//! What can be made of a stored league: timelines for people, files for other programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod store_support;

use matchday::store::export::export;
use matchday::store::timeline::replay;
use matchday::store::{Direction, Exchange, Store};
use matchday_core::protocol::{ConversationId, MatchId, Timestamp};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;
use store_support::{BEGIN, append, append_with, fair_referee, league, line};

fn at(ms: u64) -> Timestamp {
    BEGIN + Duration::from_millis(49 + ms)
}

fn exchange(ms: u64, took: u64, to: &str, kind: &str, request: Value, answer: Option<Value>) -> Exchange {
    Exchange {
        at: at(ms),
        done_at: Some(at(ms + took)),
        agent: "REF01".into(),
        direction: Direction::Out,
        peer: to.into(),
        message_type: kind.into(),
        conversation_id: ConversationId::new("conv-r1m1-001"),
        match_id: Some(MatchId::new("R1M1")),
        request: request.to_string(),
        outcome: answer.as_ref().map_or("no answer in time", |_| "answered").into(),
        answer: answer.map(|message| json!({"jsonrpc": "2.0", "id": 1, "result": message}).to_string()),
    }
}

/// What the referee of R1M1 sent and got, and one message that both sides recorded.
fn exchanges() -> Vec<Exchange> {
    let (p1, p2) = ("http://localhost:8101/mcp", "http://localhost:8102/mcp");
    let invitation = json!({"message_type": "GAME_INVITATION", "sender": "referee:REF01"});
    let joined = json!({"message_type": "GAME_JOIN_ACK", "sender": "player:P01", "accept": true});
    let call = json!({"message_type": "CHOOSE_PARITY_CALL", "sender": "referee:REF01"});
    let chose = |parity| json!({"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": parity});
    let over = json!({"message_type": "GAME_OVER", "sender": "referee:REF01"});
    let mut all = vec![
        exchange(1, 4, p1, "GAME_INVITATION", invitation.clone(), Some(joined.clone())),
        exchange(1, 9, p2, "GAME_INVITATION", invitation.clone(), None),
        exchange(12, 2, p2, "GAME_INVITATION", invitation.clone(), Some(joined)),
        exchange(15, 20, p1, "CHOOSE_PARITY_CALL", call.clone(), Some(chose("odd"))),
        exchange(15, 26, p2, "CHOOSE_PARITY_CALL", call, Some(chose("even"))),
        exchange(42, 2, p1, "GAME_OVER", over, Some(json!({"status": "ok"}))),
    ];
    let heard = Exchange { agent: "P01".into(), direction: Direction::In, peer: "".into(), ..all[0].clone() };
    all.push(heard);
    let report = json!({"message_type": "MATCH_RESULT_REPORT", "sender": "referee:REF01"});
    let ack = json!({"message_type": "MATCH_RESULT_ACK", "status": "recorded"});
    let mut reported = exchange(45, 1, "127.0.0.1:54321", "MATCH_RESULT_REPORT", report, Some(ack));
    reported.agent = "league_manager".into();
    reported.direction = Direction::In;
    all.push(reported);
    all
}

fn stored(path: &Path) {
    let store = Store::open(path).unwrap();
    append_with(&store, "league", league(4, fair_referee), exchanges()).unwrap();
    store.close().unwrap();
}

#[test]
fn a_match_reads_as_a_timeline() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    stored(&path);
    let reader = Store::open_read_only(&path).unwrap();
    insta::assert_snapshot!("match", replay(&reader, Some(&MatchId::new("R1M1"))).unwrap());
    insta::assert_snapshot!("league", replay(&reader, None).unwrap());
    let error = replay(&reader, Some(&MatchId::new("R9M9"))).unwrap_err().to_string();
    assert_eq!(error, "there is no match R9M9 in this league; matches are named as R1M1");
}

#[test]
fn a_store_without_a_league_has_nothing_to_replay() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("player.db");
    let store = Store::open(&path).unwrap();
    append(&store, "player/8101", vec![line(0)]).unwrap();
    store.close().unwrap();
    let error = replay(&Store::open_read_only(&path).unwrap(), None).unwrap_err().to_string();
    assert!(error.contains("holds no league"), "{error}");
}

#[test]
fn an_export_holds_everything_but_the_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    stored(&path);
    let store = Store::open(&path).unwrap();
    let secret = json!({"type": "enrolled", "identity": {"id": "P01", "auth_token": "tok_p01_secret"}});
    let assignment =
        json!({"type": "assigned", "assignment": {"secret": "5ec7e7", "players": [{"shows": "tok_x"}]}});
    let applied =
        json!({"type": "applied", "conversation_id": "conv-1", "registration_key": "tok_registration_1"});
    let lines = [secret, assignment, applied].map(|event| matchday_core::log::write(BEGIN, &event).unwrap());
    append(&store, "referee/8001", lines.to_vec()).unwrap();
    store.close().unwrap();

    let out = dir.path().join("out");
    let reader = Store::open_read_only(&path).unwrap();
    let exported = export(&reader, &out).unwrap();
    assert_eq!((exported.events, exported.matches), (32, 6));
    let events = fs::read_to_string(out.join("events.jsonl")).unwrap();
    assert_eq!(events.lines().count(), 32);
    for hidden in ["tok_", "5ec7e7"] {
        assert!(!events.contains(hidden), "{hidden}");
    }
    let first: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    assert_eq!((&first["stream"], &first["seq"]), (&json!("league"), &json!(1)));
    assert_eq!(first["hash"].as_str().unwrap().len(), 64);
    let marked = events.lines().filter(|line| line.contains("\"redacted\":true")).count();
    assert_eq!(marked, 1 + 6 + 3, "the settings, registrations, and what the referee keeps");
    insta::assert_snapshot!("matches.csv", fs::read_to_string(out.join("matches.csv")).unwrap());
    insta::assert_snapshot!("standings.csv", fs::read_to_string(out.join("standings.csv")).unwrap());
    let record: Value =
        serde_json::from_str(&fs::read_to_string(out.join("matches/R1M1.json")).unwrap()).unwrap();
    assert_eq!(record["transcript"].as_array().unwrap().len(), 8);
    assert_eq!(record["lifecycle"].as_array().unwrap().len(), 3);
    assert_eq!(record["result"]["details"]["fairness"]["scheme"], "matchday-draw-1");
    assert_eq!(fs::read_dir(out.join("matches")).unwrap().count(), 6);

    let error = export(&reader, &out).unwrap_err().to_string();
    assert!(error.contains("is not empty"), "{error}");
}
