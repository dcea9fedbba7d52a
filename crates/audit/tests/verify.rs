//! A good log passes, and whatever was done to it is found and named.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_audit::verify::{Fault, Verification, verify, verify_file};
use matchday_core::league::format::{Competition, Format, Seeding};
use matchday_core::protocol::Token;
use matchday_core::protocol::messages::Order;
use matchday_store::{Store, Stored};
use matchday_testkit::event_lines::{append, chained, stream};
use matchday_testkit::instant_league::{
    InstantLeague, Referee, fair_referee, plain_referee, played, referee_of_the_absent,
};
use serde_json::{Value, json};

fn check(events: Vec<Stored>) -> Verification {
    verify([(stream("league"), events)])
}

fn good(players: u32, referee: Referee) -> Verification {
    let found = check(chained("league", &played(players, referee)));
    assert_eq!(found.fault, None);
    found
}

/// The report, without the one line that changes with every setting that a league can have.
fn printed(mut found: Verification) -> String {
    assert_eq!(
        found.head.replace("(head)".into()).map(|head| head.len()),
        Some(64)
    );
    found.to_string()
}

#[test]
fn a_fair_league_is_proven_to_the_last_draw() {
    let found = good(4, fair_referee);
    assert_eq!(
        (found.matches, found.draws_proven, found.draws_unproven),
        (6, 6, 0)
    );
    assert!(found.champion.is_some());
    insta::assert_snapshot!(printed(found));
}

#[test]
fn draws_without_proof_are_counted_as_such() {
    let found = good(5, plain_referee);
    assert_eq!(
        (found.matches, found.draws_proven, found.draws_unproven),
        (10, 0, 10)
    );
}

#[test]
fn suspensions_and_forfeits_fit() {
    let lines = played(7, referee_of_the_absent);
    assert!(
        lines.iter().any(|line| line.contains("\"by\":\"manager\"")),
        "the manager decides matches of P01"
    );
    let found = check(chained("league", &lines));
    assert_eq!(found.fault, None);
    assert_eq!(found.matches, 21);
}

#[test]
fn what_the_operator_does_fits() {
    let mut league = InstantLeague::started(4, fair_referee);
    league.play_one();
    league.order(Order::Pause, None, None);
    league.play_one();
    league.order(Order::Resume, None, None);
    league.order(Order::Void, None, Some("R1M1"));
    league.play_one();
    league.order(Order::Withdraw, Some("P03"), None);
    while league.is_running() {
        league.play_one();
    }
    league.order(Order::Void, None, Some("R3M1"));
    while league.is_running() {
        league.play_one();
    }
    let found = check(chained("league", &league.lines));
    assert_eq!(found.fault, None);
    assert_eq!(
        (found.matches, found.draws_proven, found.ended_early),
        (6, 4, false)
    );
}

#[test]
fn a_league_that_was_ended_early_fits_and_is_called_so() {
    let mut league = InstantLeague::started(4, fair_referee);
    league.play_one();
    league.order(Order::End, None, None);
    let found = check(chained("league", &league.lines));
    assert_eq!(found.fault, None);
    assert!(found.ended_early);
    assert!(
        found
            .to_string()
            .contains("1 of 6 decided; the operator has ended the league early"),
        "{found}"
    );
}

#[test]
fn a_struck_result_cannot_come_back() {
    let mut league = InstantLeague::started(4, fair_referee);
    league.play_one();
    let decided = league.lines.last().unwrap().clone();
    assert!(decided.contains("match_decided"));
    league.order(Order::Void, None, Some("R1M1"));
    let mut lines = league.lines;
    lines.push(decided);
    let fault = check(chained("league", &lines)).fault.unwrap();
    assert!(
        fault
            .why
            .contains("the result of attempt 1 at R1M1 was voided, but is recorded again"),
        "{fault}"
    );
}

#[test]
fn a_registration_after_the_start_fits_only_soon_in_the_same_conversation_and_while_its_token_is_unused()
 {
    let lines = InstantLeague::started(2, fair_referee).lines;
    let read = |line: &String| serde_json::from_str::<Value>(line).unwrap();
    let registered = lines
        .iter()
        .map(read)
        .find(|line| line["event"]["type"] == "player_registered")
        .unwrap();
    let began = registered["at"].as_i64().unwrap();
    let again = |after: i64, change: fn(&mut Value)| {
        let mut line = registered.clone();
        line["at"] = json!(began + after);
        change(&mut line["event"]);
        line.to_string()
    };
    let why = |more: Vec<String>| {
        check(chained("league", &[lines.clone(), more].concat()))
            .fault
            .map(|fault| fault.why)
    };
    let closed = Some("registration was closed when the league started".to_owned());
    let seconds = |count: i64| count * 1_000_000;
    let other_token = |event: &mut Value| event["token"] = json!("00".repeat(32));
    assert_eq!(why(vec![again(seconds(30), other_token)]), None);
    assert_eq!(
        why(vec![again(seconds(31), other_token)]),
        closed,
        "too late"
    );
    let other_proof =
        |event: &mut Value| event["request"]["proof"]["conversation"] = json!("00".repeat(32));
    assert_eq!(why(vec![again(seconds(1), other_proof)]), closed);
    let no_proof = |event: &mut Value| event["request"] = Value::Null;
    let unreadable = why(vec![again(seconds(1), no_proof)]).unwrap();
    assert!(
        unreadable.contains("not an event: invalid type: null, expected struct RegistrationRecord"),
        "{unreadable}"
    );
    let shown = |event: &mut Value| *event = json!({"type": "token_shown", "agent": "player:P01"});
    assert_eq!(
        why(vec![
            again(seconds(1), shown),
            again(seconds(2), other_token)
        ]),
        closed
    );
}

#[test]
fn a_league_that_is_not_over_fits_as_far_as_it_goes() {
    let lines = played(4, fair_referee);
    for length in 0..lines.len() {
        let found = check(chained("league", &lines[..length]));
        assert_eq!(found.fault, None, "the first {length}");
        assert_eq!(found.events, length as u64);
    }
}

#[test]
fn a_stored_league_is_verified_from_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let lines = played(4, fair_referee);
    append(&store, "league", lines.clone()).unwrap();
    let live = verify_file(&path).unwrap();
    store.close().unwrap();
    let found = verify_file(&path).unwrap();
    assert_eq!((live.fault, found.fault), (None, None));
    assert_eq!(
        found.head,
        Some(chained("league", &lines).last().unwrap().hash.to_string())
    );
}

#[test]
fn any_byte_changed_in_any_event_is_found_and_named() {
    let events = chained("league", &played(3, fair_referee));
    for place in 0..events.len() {
        let length = events[place].line.len();
        for byte in (place % 5..length).step_by(5) {
            let mut changed = events.clone();
            let mut bytes = changed[place].line.clone().into_bytes();
            bytes[byte] ^= 1;
            changed[place].line = String::from_utf8(bytes).unwrap();
            let fault = check(changed).fault.expect("something is amiss");
            assert_eq!(fault.seq, place as u64 + 1, "byte {byte}");
            assert!(fault.why.contains("its hash does not follow"), "{fault}");
        }
    }
}

#[test]
fn a_byte_changed_in_the_file_is_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append(&store, "league", played(3, fair_referee)).unwrap();
    store.close().unwrap();
    let whole = std::fs::read(&path).unwrap();
    // Pages that were split may hold remains of the line that no longer count.
    let places = (0..whole.len()).filter(|at| whole[*at..].starts_with(b"\"league_started\""));
    let places: Vec<usize> = places.collect();
    for change in [b'x', 0xff] {
        let mut changed = whole.clone();
        places.iter().for_each(|place| changed[place + 4] = change);
        std::fs::write(&path, changed).unwrap();
        let fault = verify_file(&path)
            .unwrap()
            .fault
            .expect("something is amiss");
        assert_eq!((fault.stream, fault.seq), (stream("league"), 7));
    }
}

#[test]
fn missing_moved_and_doubled_events_are_found() {
    let events = chained("league", &played(3, fair_referee));
    let seq = |change: fn(&mut Vec<Stored>)| {
        let mut changed = events.clone();
        change(&mut changed);
        check(changed).fault.map(|fault| fault.seq)
    };
    assert_eq!(seq(|events| drop(events.remove(4))), Some(6));
    assert_eq!(seq(|events| events.swap(4, 5)), Some(6));
    assert_eq!(seq(|events| events.insert(4, events[4].clone())), Some(5));
    let renumbered = |events: &mut Vec<Stored>| {
        events.remove(4);
        (1..).zip(events).for_each(|(seq, event)| event.seq = seq);
    };
    assert_eq!(seq(renumbered), Some(5));
}

#[test]
fn the_time_of_filing_is_that_of_the_event() {
    let mut events = chained("league", &played(3, fair_referee));
    events[2].at = events[3].at;
    assert_eq!(check(events).fault.unwrap().seq, 3);
}

#[test]
fn other_streams_are_checked_too() {
    let events = chained("league", &played(3, fair_referee));
    let strange = chained("referee/8001", &[matchday_testkit::event_lines::line(0)]);
    let fault = verify([
        (stream("league"), events),
        (stream("referee/8001"), strange),
    ])
    .fault
    .unwrap();
    assert_eq!((fault.stream, fault.seq), (stream("referee/8001"), 1));
}

/// Rewrites the first event of a kind, with a chain that holds over the lie.
fn lie(kind: &str, change: impl FnOnce(&mut Value)) -> Fault {
    let mut lines = played(4, fair_referee);
    let tag = format!("\"type\":\"{kind}\"");
    let place = lines.iter().position(|line| line.contains(&tag)).unwrap();
    let mut value: Value = serde_json::from_str(&lines[place]).unwrap();
    change(&mut value["event"]);
    lines[place] = value.to_string();
    let fault = check(chained("league", &lines))
        .fault
        .expect("something is amiss");
    if fault.seq != place as u64 + 1 {
        panic!(
            "the lie is in event {}, and this was named: {fault}",
            place + 1
        );
    }
    fault
}

#[test]
fn a_lie_under_a_chain_that_holds_is_found_by_the_rules() {
    let decided = "match_decided";
    let said = [
        lie("league_started", |event| {
            event["rounds"][1]["pairs"][0] = json!(["P01", "P02"])
        }),
        lie("league_started", |event| {
            event["rounds"][0]["pairs"][0] = json!(["P01", "P09"])
        }),
        lie("league_started", |event| {
            drop(event["rounds"].as_array_mut().unwrap().pop())
        }),
        lie("round_announced", |event| event["round_id"] = json!(2)),
        lie("round_announced", |event| {
            event["plan"][0][0] = json!("R2M1")
        }),
        lie("match_assigned", |event| event["attempt"] = json!(2)),
        lie("match_assigned", |event| {
            event["referee_id"] = json!("REF09")
        }),
        lie(decided, |event| event["by"] = json!({"referee": "REF02"})),
        lie(decided, |event| event["by"] = json!("manager")),
        lie(decided, |event| event["match_id"] = json!("R2M1")),
        lie(decided, |event| event["result"]["score"]["P01"] = json!(7)),
        lie(decided, |event| event["result"]["winner"] = json!("P03")),
        lie(decided, |event| {
            event["status"] = json!("DRAW");
            event["result"]["status"] = json!("DRAW");
            event["result"]["winner"] = json!(null);
            event["result"]["score"] = json!({"P01": 1, "P02": 1});
        }),
        lie(decided, |event| {
            let number = event["result"]["details"]["drawn_number"].as_u64().unwrap();
            event["result"]["details"]["drawn_number"] =
                json!(if number > 2 { number - 2 } else { number + 2 });
        }),
        lie(decided, |event| {
            event["result"]["details"]["fairness"]["nonces"]["P01"] = json!("pepper")
        }),
        lie(decided, |event| {
            event["result"]["details"]["fairness"]["secret"] = json!("00".repeat(32))
        }),
        lie("round_completed", |event| event["round_id"] = json!(3)),
        lie("league_completed", |event| event["champion"] = json!("P09")),
    ];
    let said: Vec<String> = said.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_match_decided_twice_is_found() {
    let mut lines = played(4, fair_referee);
    let place = lines
        .iter()
        .position(|line| line.contains("match_decided"))
        .unwrap();
    lines.insert(place + 1, lines[place].clone());
    let fault = check(chained("league", &lines)).fault.unwrap();
    assert_eq!(fault.seq, place as u64 + 2);
    assert!(fault.why.contains("was decided before"), "{fault}");
}

#[test]
fn a_fault_is_reported_with_what_fits_before_it() {
    let mut lines = played(4, fair_referee);
    let last = lines.len() - 1;
    lines[last] = lines[last].replace("\"champion\":\"P0", "\"champion\":\"P1");
    insta::assert_snapshot!(printed(check(chained("league", &lines))));
}

const REFEREE_TOKEN: &str = "tok_ref01_of_the_tests";

/// A league whose manager knows REF01 by a token of ours, and what REF01 itself wrote down meanwhile.
fn league_and_referee() -> (Vec<String>, Vec<String>) {
    let hash = serde_json::to_value(Token::new(REFEREE_TOKEN).hash()).unwrap();
    let mut lines = played(4, fair_referee);
    let mut notes = Vec::new();
    let entry = |line: &Value, event: Value| {
        json!({"v": line["v"], "at": line["at"], "event": event}).to_string()
    };
    for line in &mut lines {
        let mut stored: Value = serde_json::from_str(line).unwrap();
        let event = stored["event"].clone();
        if event["type"] == "referee_registered" && event["referee_id"] == "REF01" {
            stored["event"]["token"] = hash.clone();
            *line = stored.to_string();
            let identity = json!({"id": "REF01", "league_id": "league_2025_even_odd",
                                  "auth_token": REFEREE_TOKEN, "match_tokens": true});
            notes.push(entry(
                &stored,
                json!({"type": "enrolled", "identity": identity}),
            ));
        }
        if event["type"] == "match_decided" && event["by"] == json!({"referee": "REF01"}) {
            let seats = event["result"]["score"].as_object().unwrap().keys();
            let seat = |id: &String| {
                json!({"player_id": id, "endpoint": null, "dialect": "standard", "record": null,
                       "shows": "tok_x", "expects": null})
            };
            let mut players: Vec<Value> = seats.map(seat).collect();
            // The score is in the order of the ids, the commitment in that of the seats; the nonces say which.
            let with_salt = |player: &Value| {
                event["result"]["details"]["fairness"]["nonces"]
                    [player["player_id"].as_str().unwrap()]
                    == "salt"
            };
            players.sort_by_key(|player| !with_salt(player));
            let assignment = json!({
                "league_id": "league_2025_even_odd", "round_id": 1, "match_id": event["match_id"],
                "game_type": "even_odd", "attempt": event["attempt"], "conversation_id": "conv",
                "starts_at": stored["at"], "secret": event["result"]["details"]["fairness"]["secret"],
                "players": players,
            });
            let id = &event["match_id"];
            let attempt = &event["attempt"];
            let decided = json!({"type": "decided", "match_id": id, "attempt": attempt, "result": event["result"]});
            let reported = json!({"type": "reported", "match_id": id, "attempt": attempt});
            let assigned = json!({"type": "assigned", "assignment": assignment});
            notes.extend([assigned, decided, reported].map(|event| entry(&stored, event)));
        }
    }
    (lines, notes)
}

fn both(league: &[String], referee: &[String]) -> Verification {
    let streams = [(stream("league"), chained("league", league))];
    verify(
        streams
            .into_iter()
            .chain([(stream("referee/8001"), chained("referee/8001", referee))]),
    )
}

#[test]
fn a_referee_that_agrees_with_the_manager_fits() {
    let (league, referee) = league_and_referee();
    let found = both(&league, &referee);
    assert_eq!(
        (found.fault, found.not_checked),
        (None, Vec::<String>::new())
    );
    assert_eq!((found.referees.results, found.referees.agreeing), (3, 3));
    assert_eq!(found.referees.draws_proven, 3);
}

#[test]
fn a_referees_store_alone_is_checked_as_far_as_it_goes() {
    let (_, referee) = league_and_referee();
    insta::assert_snapshot!(verify([(
        stream("referee/8001"),
        chained("referee/8001", &referee)
    )]));
    let mut bent = referee.clone();
    let decided = bent
        .iter()
        .position(|line| line.contains("\"decided\""))
        .unwrap();
    bent.remove(decided - 1);
    let fault = verify([(stream("referee/8001"), chained("referee/8001", &bent))])
        .fault
        .unwrap();
    assert!(fault.why.contains("was never given to it"), "{fault}");
    let mut bent = referee;
    let assigned = bent
        .iter()
        .position(|line| line.contains("\"assigned\""))
        .unwrap();
    let mut line: Value = serde_json::from_str(&bent[assigned]).unwrap();
    line["event"]["assignment"]["secret"] = "ab".repeat(32).into();
    bent[assigned] = line.to_string();
    let fault = verify([(stream("referee/8001"), chained("referee/8001", &bent))])
        .fault
        .unwrap();
    assert!(
        fault
            .why
            .contains("another secret than that of the assignment"),
        "{fault}"
    );
}

#[test]
fn a_manager_that_recorded_otherwise_than_the_referee_decided_is_found() {
    let (league, referee) = league_and_referee();
    let changed: Vec<String> = referee
        .iter()
        .map(|line| line.replace("number was", "the number was"))
        .collect();
    assert_ne!(changed, referee);
    let fault = both(&league, &changed).fault.unwrap();
    assert_eq!(
        (fault.stream.clone(), fault.what.as_str()),
        (stream("league"), "match_decided")
    );
    assert!(
        fault
            .why
            .contains("the store of REF01 has another result of R1M1"),
        "{fault}"
    );
    let forgotten: Vec<String> = referee
        .into_iter()
        .filter(|line| !line.contains("R2M1"))
        .collect();
    let fault = both(&league, &forgotten).fault.unwrap();
    assert!(
        fault
            .why
            .contains("the store of REF01 has no result of R2M1"),
        "{fault}"
    );
}

#[test]
fn an_acknowledged_result_that_the_manager_does_not_have_is_found() {
    let (league, referee) = league_and_referee();
    let end = league
        .iter()
        .position(|line| line.contains("R3M1") && line.contains("match_decided"))
        .unwrap();
    let fault = both(&league[..end], &referee).fault.unwrap();
    assert_eq!(
        (fault.stream.clone(), fault.what.as_str()),
        (stream("referee/8001"), "reported")
    );
    assert!(fault.why.contains("its store does not have it"), "{fault}");
}

#[test]
fn an_agent_of_another_league_is_not_compared() {
    let (_, referee) = league_and_referee();
    let found = both(&played(4, fair_referee), &referee);
    assert_eq!(found.fault, None);
    assert_eq!(
        found.not_checked,
        ["referee/8001 of REF01: it is not of this league"]
    );
}

/// The log of a league of that kind, with so many players.
fn played_as(competition: Competition, players: u32) -> Vec<String> {
    let mut league = InstantLeague::playing(competition, players, fair_referee);
    while league.is_running() {
        league.play_one();
    }
    league.lines
}

fn every_format() -> impl Iterator<Item = Competition> {
    Format::ENDING.into_iter().flat_map(|format| {
        let plain = Competition::of(format);
        [
            Competition {
                seeding: Seeding::Lots,
                ..plain.clone()
            },
            Competition {
                matches_per_pairing: 2,
                ..plain
            },
        ]
    })
}

#[test]
fn leagues_of_every_format_fit_as_far_as_they_go() {
    for competition in every_format() {
        for players in [5, 8] {
            let lines = played_as(competition.clone(), players);
            for length in (0..=lines.len()).rev().step_by(7) {
                let found = check(chained("league", &lines[..length]));
                assert_eq!(
                    found.fault, None,
                    "{competition:?}: {players} players, the first {length}"
                );
            }
        }
    }
}

/// Why the log is refused once the first event of a kind is changed.
fn fault_after(lines: &[String], kind: &str, change: impl Fn(&mut Value)) -> String {
    let mut lines = lines.to_vec();
    let place = lines
        .iter()
        .rposition(|line| line.contains(&format!("\"type\":\"{kind}\"")))
        .expect(kind);
    let mut line: Value = serde_json::from_str(&lines[place]).unwrap();
    change(&mut line["event"]);
    lines[place] = line.to_string();
    check(chained("league", &lines))
        .fault
        .expect("something is amiss")
        .why
}

#[test]
fn a_wrong_pairing_is_found_and_named() {
    let lines = played_as(Competition::of(Format::Swiss), 8);
    let why = fault_after(&lines, "round_drawn", |event| {
        let pairs = event["pairs"].as_array_mut().unwrap();
        let one = pairs[0][1].clone();
        let other = pairs[1][1].clone();
        pairs[0][1] = other;
        pairs[1][1] = one;
    });
    assert!(
        why.starts_with("round 4 pairs ") && why.contains(", and the results put "),
        "{why}"
    );
}

#[test]
fn a_wrong_seed_a_wrong_lot_and_a_missing_round_are_found() {
    let by_lots = Competition {
        seeding: Seeding::Lots,
        ..Competition::of(Format::Knockout)
    };
    let lines = played_as(by_lots, 8);
    let why = fault_after(&lines, "league_started", |event| {
        event["draw"]["seed"] = json!(1)
    });
    assert!(why.starts_with("round 1 pairs "), "{why}");

    let always_level = Competition {
        replays: 0,
        ..Competition::of(Format::Knockout)
    };
    let seeds = (2..40).map(|players| played_as(always_level.clone(), players));
    let lines = seeds
        .into_iter()
        .find(|lines| lines.iter().any(|line| line.contains("lot_drawn")))
        .unwrap();
    let why = fault_after(&lines, "lot_drawn", |event| {
        let winner = event["winner"].clone();
        let loser = event["loser"].clone();
        event["winner"] = loser;
        event["loser"] = winner;
    });
    assert!(why.contains("neither results nor seed give that"), "{why}");

    let without: Vec<String> = lines
        .iter()
        .filter(|line| !line.contains("lot_drawn"))
        .cloned()
        .collect();
    let why = check(chained("league", &without)).fault.unwrap().why;
    assert!(why.contains("is not recorded"), "{why}");
}
