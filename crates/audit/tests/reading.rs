//! What can be made of a stored league: timelines for people, files for other programs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_audit::export::columns::TABLES;
use matchday_audit::export::{export, export_tables};
use matchday_audit::log_set::LogSet;
use matchday_audit::timeline::replay;
use matchday_core::protocol::{ConversationId, MatchId, Timestamp};
use matchday_store::{Direction, Exchange, Store, StoreUrl};
use matchday_testkit::event_lines::{BEGIN, append, append_with};
use matchday_testkit::instant_league::{fair_referee, played};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn at(ms: u64) -> Timestamp {
    BEGIN + Duration::from_millis(49 + ms)
}

fn exchange(
    ms: u64,
    took: u64,
    to: &str,
    kind: &str,
    request: Value,
    answer: Option<Value>,
) -> Exchange {
    Exchange {
        at: at(ms),
        connected_at: Some(at(ms)),
        first_byte_at: answer.as_ref().map(|_| at(ms + took)),
        deadline_at: Some(at(ms + 5000)),
        done_at: Some(at(ms + took)),
        agent: "REF01".into(),
        direction: Direction::Out,
        peer: to.into(),
        message_type: kind.into(),
        conversation_id: ConversationId::new("conv-r1m1-001"),
        match_id: Some(MatchId::new("R1M1")),
        request: request.to_string(),
        error_code: answer.is_none().then(|| "E001".into()),
        outcome: answer
            .as_ref()
            .map_or("no answer in time", |_| "answered")
            .into(),
        answer: answer
            .map(|message| json!({"jsonrpc": "2.0", "id": 1, "result": message}).to_string()),
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
        exchange(
            1,
            4,
            p1,
            "GAME_INVITATION",
            invitation.clone(),
            Some(joined.clone()),
        ),
        exchange(1, 9, p2, "GAME_INVITATION", invitation.clone(), None),
        exchange(
            12,
            2,
            p2,
            "GAME_INVITATION",
            invitation.clone(),
            Some(joined),
        ),
        exchange(
            15,
            20,
            p1,
            "CHOOSE_PARITY_CALL",
            call.clone(),
            Some(chose("odd")),
        ),
        exchange(15, 26, p2, "CHOOSE_PARITY_CALL", call, Some(chose("even"))),
        exchange(42, 2, p1, "GAME_OVER", over, Some(json!({"status": "ok"}))),
    ];
    let heard = Exchange {
        agent: "P01".into(),
        direction: Direction::In,
        peer: "".into(),
        ..all[0].clone()
    };
    all.push(heard);
    let report = json!({"message_type": "MATCH_RESULT_REPORT", "sender": "referee:REF01"});
    let ack = json!({"message_type": "MATCH_RESULT_ACK", "status": "recorded"});
    let mut reported = exchange(
        45,
        1,
        "127.0.0.1:54321",
        "MATCH_RESULT_REPORT",
        report,
        Some(ack),
    );
    reported.agent = "league_manager".into();
    reported.direction = Direction::In;
    all.push(reported);
    all
}

fn stored(path: &Path) {
    let store = Store::open(path).unwrap();
    append_with(&store, "league", played(4, fair_referee), exchanges()).unwrap();
    store.close().unwrap();
}

#[test]
fn a_match_reads_as_a_timeline() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    stored(&path);
    let logs = opened(&path);
    insta::assert_snapshot!("match", replay(&logs, Some(&MatchId::new("R1M1"))).unwrap());
    insta::assert_snapshot!("league", replay(&logs, None).unwrap());
    let error = replay(&logs, Some(&MatchId::new("R9M9")))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "there is no match R9M9 in this league; matches are named as R1M1"
    );
}

fn opened(path: &Path) -> LogSet {
    LogSet::open(&[path.into()]).unwrap()
}

/// What a referee of ours writes down of R1M1.
fn referee_notes() -> Vec<String> {
    let player = |id: &str, port| {
        json!({"player_id": id, "endpoint": format!("http://localhost:{port}/mcp"), "dialect": "standard",
               "record": null, "shows": "tok_shown", "expects": null})
    };
    let assignment = json!({
        "league_id": "league_2025_even_odd", "round_id": 1, "match_id": "R1M1", "game_type": "even_odd",
        "attempt": 1, "conversation_id": "conv-r1m1-001", "starts_at": at(0).as_micros(),
        "secret": "5ec7e7".repeat(10) + "5ec7", "players": [player("P01", 8101), player("P02", 8102)],
    });
    let score = json!({"P01": 0, "P02": 3});
    let result = json!({"winner": "P02", "score": score, "details": {"choices": {"P01": null, "P02": null}},
                        "status": "TECHNICAL_LOSS", "reason": "P01 did not join - P02 wins by default"});
    let identity = json!({"id": "REF01", "league_id": null, "auth_token": "tok_ref01_secret", "match_tokens": true});
    let events = [
        json!({"type": "enrolled", "identity": identity}),
        json!({"type": "assigned", "assignment": assignment}),
        json!({"type": "decided", "match_id": "R1M1", "attempt": 1, "result": result}),
        json!({"type": "reported", "match_id": "R1M1", "attempt": 1}),
    ];
    (0..)
        .zip(events)
        .map(|(n, event)| matchday_core::event_codec::encode(at(n * 50), &event).unwrap())
        .collect()
}

#[test]
fn a_referees_store_alone_tells_what_the_referee_saw() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("referee-8001.db");
    let store = Store::open(&path).unwrap();
    let own = exchanges()
        .into_iter()
        .filter(|exchange| exchange.agent == "REF01")
        .collect();
    append_with(&store, "referee/8001", referee_notes(), own).unwrap();
    store.close().unwrap();
    let here = |text: String| {
        let text = text.replace(dir.path().to_str().unwrap(), "DIR");
        text.replace("DIR\\", "DIR/")
    };
    let told = replay(&opened(&path), Some(&MatchId::new("R1M1"))).unwrap();
    insta::assert_snapshot!("match_by_referee", here(told));
    insta::assert_snapshot!("referee", here(replay(&opened(&path), None).unwrap()));
    let error = replay(&opened(&path), Some(&MatchId::new("R9M9")))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "REF01 has nothing of match R9M9: its only match is R1M1"
    );
    let out = dir.path().join("out");
    let exported = export(&opened(&path), &out).unwrap();
    assert_eq!(
        (exported.events, exported.matches, exported.league),
        (4, 1, false)
    );
    let record = fs::read_to_string(out.join("matches/R1M1.json")).unwrap();
    assert!(
        !record.contains("tok_") && !record.contains("5ec7e7"),
        "{record}"
    );
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!(
        (&record["decided_by"], &record["status"]),
        (&json!("REF01"), &json!("TECHNICAL_LOSS"))
    );
    assert_eq!(record["transcript"].as_array().unwrap().len(), 6);
    assert!(!out.join("matches.csv").exists());
}

#[test]
fn stores_of_two_leagues_are_not_mixed() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two, referee) = (
        dir.path().join("one.db"),
        dir.path().join("two.db"),
        dir.path().join("referee-8001.db"),
    );
    stored(&one);
    stored(&two);
    let store = Store::open(&referee).unwrap();
    append(&store, "referee/8001", referee_notes()).unwrap();
    store.close().unwrap();
    let error = LogSet::open(&[(&one).into(), two.into()])
        .unwrap_err()
        .to_string();
    assert!(error.contains("each hold a league"), "{error}");
    let error = LogSet::open(&[(&one).into(), referee.into()])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("is of REF01 in another league"),
        "its token is not the league's: {error}"
    );
    assert!(
        LogSet::open(&[(&one).into(), one.into()]).is_ok(),
        "the same file twice is read once"
    );
}

#[test]
fn an_answer_that_came_too_late_is_told_from_both_sides() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let mut both: Vec<Exchange> = exchanges().into_iter().skip(1).take(1).collect();
    let late = Exchange {
        agent: "P02".into(),
        direction: Direction::In,
        peer: "".into(),
        done_at: Some(at(900)),
        answer: Some(
            json!({"result": {"message_type": "GAME_JOIN_ACK", "accept": true}}).to_string(),
        ),
        ..both[0].clone()
    };
    both.push(late);
    append_with(&store, "league", played(4, fair_referee), both).unwrap();
    store.close().unwrap();
    let told = replay(&opened(&path), Some(&MatchId::new("R1M1"))).unwrap();
    let line = "no answer in time; P02 answered after 899.0 ms, which did not arrive: GAME_JOIN_ACK, accept true";
    assert!(told.contains(line), "{told}");
}

#[test]
fn an_export_holds_everything_but_the_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    stored(&path);
    let store = Store::open(&path).unwrap();
    // Without its name, so that it is anyone's: the manager of this league never gave REF01 that token.
    let applied = json!({"type": "applied", "conversation_id": "conv-1", "registration_key": "tok_registration_1"});
    let applied = matchday_core::event_codec::encode(BEGIN, &applied).unwrap();
    let notes = std::iter::once(applied)
        .chain(referee_notes().into_iter().skip(1))
        .collect();
    append(&store, "referee/8001", notes).unwrap();
    store.close().unwrap();

    let out = dir.path().join("out");
    let logs = opened(&path);
    let exported = export(&logs, &out).unwrap();
    assert_eq!(
        (exported.events, exported.matches, exported.league),
        (33, 6, true)
    );
    let events = fs::read_to_string(out.join("events.jsonl")).unwrap();
    assert_eq!(events.lines().count(), 33);
    for hidden in ["tok_", "5ec7e7"] {
        assert!(!events.contains(hidden), "{hidden}");
    }
    let first: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["stream"], &first["seq"]),
        (&json!("league"), &json!(1))
    );
    assert_eq!(first["hash"].as_str().unwrap().len(), 64);
    let marked = events
        .lines()
        .filter(|line| line.contains("\"redacted\":true"))
        .count();
    assert_eq!(
        marked,
        1 + 6 + 2,
        "the settings, registrations, and what the referee keeps"
    );
    let table = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let first = |name: &str| table(name).lines().nth(1).unwrap().to_owned();
    let matches = first("matches.csv");
    let (plain, times) = matches.split_once(",REF01,1,").unwrap();
    assert!(
        plain.ends_with(",R1M1,1,,even_odd,round_robin,P01,P02,WIN,P02,0,3,,,2,,,1,20,"),
        "{matches}"
    );
    assert!(times.ends_with(",number was 2 (even)"), "{matches}");
    // The messages of this league do not name whom they ask, and no player's log is at hand.
    let moves = first("moves.csv");
    assert!(moves.ends_with(",R1M1,1,P01,odd,,,,,,,"), "{moves}");
    assert_eq!(table("moves.csv").lines().count(), 1 + 12);
    assert_eq!(table("players.csv").lines().count(), 1 + 4);
    assert_eq!(table("ratings.csv").lines().count(), 1 + 3 * 4);
    assert!(first("leagues.csv").contains(",even_odd,round_robin,completed,4,2,3,6,6,"));
    let record: Value =
        serde_json::from_str(&fs::read_to_string(out.join("matches/R1M1.json")).unwrap()).unwrap();
    assert_eq!(record["transcript"].as_array().unwrap().len(), 8);
    assert_eq!(record["lifecycle"].as_array().unwrap().len(), 3);
    assert_eq!(record["notes"].as_array().unwrap().len(), 3);
    assert_eq!(
        record["result"]["details"]["fairness"]["scheme"],
        "matchday-draw-2"
    );
    assert_eq!(fs::read_dir(out.join("matches")).unwrap().count(), 6);

    let error = export(&logs, &out).unwrap_err().to_string();
    assert!(error.contains("is not empty"), "{error}");
}

/// What a row has is what the page says of its table.
#[test]
fn the_columns_of_each_table_are_those_that_are_documented() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    stored(&path);
    let out = dir.path().join("out");
    let written = export_tables(&[(&path).into()], None, &out).unwrap();
    assert_eq!((written.leagues, written.matches), (1, 6));
    let types: Value =
        serde_json::from_str(&fs::read_to_string(out.join("tables.json")).unwrap()).unwrap();
    for table in TABLES {
        let csv = fs::read_to_string(out.join(format!("{}.csv", table.name))).unwrap();
        let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let documented: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(header, documented, "{}", table.name);
        // No language model has played.
        if table.name != "model_calls" {
            let cells = csv.lines().nth(1).unwrap().split(',').count();
            assert!(cells >= header.len(), "{csv}");
        }
        assert_eq!(types[table.name].as_object().unwrap().len(), header.len());
    }
    assert_eq!(fs::read_dir(&out).unwrap().count(), TABLES.len() + 1);
}

#[test]
fn leagues_of_one_id_in_two_stores_are_told_apart_by_their_creation() {
    let dir = tempfile::tempdir().unwrap();
    let stores = ["one.db", "two.db"].map(|name| dir.path().join(name));
    stores.iter().for_each(|path| stored(path));
    let out = dir.path().join("out");
    let urls = stores.map(|path| StoreUrl::from(&path));
    let written = export_tables(&urls, None, &out).unwrap();
    assert_eq!((written.leagues, written.matches), (2, 12));
    let leagues = fs::read_to_string(out.join("leagues.csv")).unwrap();
    assert_eq!(
        leagues.lines().filter(|line| line.contains("@20")).count(),
        2,
        "{leagues}"
    );
}

/// A seat's own events lie beside the league: in another league, or before it was given another token, it may have had one
/// that this league does not know.
#[test]
fn an_agent_beside_the_league_that_the_league_does_not_know_spoils_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    stored(&path);
    let before = replay(&opened(&path), None).unwrap();
    let identity = json!({"id": "P01", "league_id": null, "auth_token": "tok_p01_of_before", "match_tokens": true});
    let event = json!({"type": "enrolled", "identity": identity});
    let line = matchday_core::event_codec::encode(at(0), &event).unwrap();
    let store = Store::open(&path).unwrap();
    append(&store, "player/seat-1", vec![line]).unwrap();
    store.close().unwrap();
    assert_eq!(replay(&opened(&path), None).unwrap(), before);
    export(&opened(&path), &dir.path().join("exported")).unwrap();
}
