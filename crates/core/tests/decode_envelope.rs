//! The strict reading of what all messages share: the envelope, times, bounds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod change;

use change::{assert_refused, assert_taken, changed};
use matchday_core::protocol::decode::Conformance::{Lenient, Strict};
use matchday_core::protocol::decode::{Limits, Reading, decode};
use matchday_testkit::golden::{self, named, read};
use serde_json::json;

const JOIN: &str = "002_3-2_game_join_ack";
const CALL: &str = "002_2-3_choose_parity_call";
const STANDINGS: &str = "002_1-3_league_standings_update";
const QUERY: &str = "002_3-4_league_query";

#[test]
fn times_are_in_utc_and_say_so() {
    let times = [
        (JOIN, "/timestamp"),
        (JOIN, "/arrival_timestamp"),
        (CALL, "/deadline"),
    ];
    for (name, pointer) in times {
        for good in [
            "2025-01-15T10:30:00Z",
            "2025-01-15T10:30:00.5Z",
            "2025-01-15T10:30:00.123456789Z",
            "2025-01-15T10:30:00+00:00",
            "2024-02-29T23:59:59Z",
            "20250115T10:30:00Z",
        ] {
            assert_taken(name, pointer, &json!(good));
        }
        for bad in [
            "2025-01-15T10:30:00+02:00",
            "2025-01-15T10:30:00-05:00",
            "2025-01-15T10:30:00",
            "2025-01-15 10:30:00Z",
            "2025-01-15",
            "2025-02-30T10:30:00Z",
            "20250115T103000Z",
            "20250230T10:30:00Z",
            "2025-01-15T10:30:00+00:00Z",
            "YYYY-MM-DDTHH:MM:SSZ",
            "now",
            "",
        ] {
            assert_refused(name, pointer, &json!(bad), "E021");
        }
        for other_type in [
            json!(1_736_937_000),
            json!(true),
            json!({}),
            json!(["2025-01-15T10:30:00Z"]),
        ] {
            assert_refused(name, pointer, &other_type, "E002");
        }
        assert_refused(name, pointer, &json!(null), "E003");
    }
}

#[test]
fn the_envelope_is_checked_in_its_order() {
    for (pointer, value, code) in [
        ("/protocol", json!("league.v1"), "E018"),
        ("/protocol", json!("LEAGUE.V2"), "E018"),
        ("/protocol", json!(""), "E018"),
        ("/protocol", json!(null), "E003"),
        ("/protocol", json!(2), "E002"),
        ("/message_type", json!(null), "E003"),
        ("/message_type", json!("game_join_ack"), "E002"),
        ("/message_type", json!("SPECIFIC_MESSAGE_TYPE"), "E002"),
        ("/message_type", json!(12), "E002"),
        ("/sender", json!(null), "E003"),
        ("/sender", json!("P01"), "E002"),
        ("/sender", json!("type:id"), "E002"),
        ("/sender", json!("player:"), "E002"),
        ("/sender", json!("Player:P01"), "E002"),
        ("/sender", json!("player:a\nb"), "E002"),
        (
            "/sender",
            json!(format!("player:{}", "P".repeat(129))),
            "E002",
        ),
        ("/conversation_id", json!(null), "E003"),
        ("/conversation_id", json!(""), "E002"),
        ("/conversation_id", json!(1), "E002"),
        ("/auth_token", json!(5), "E002"),
        ("/auth_token", json!("t".repeat(1025)), "E002"),
    ] {
        assert_refused(JOIN, pointer, &value, code);
    }
    // Each fault hides those behind it.
    let mut message = json!({
        "protocol": "league.v1", "message_type": "NOTHING", "sender": 5, "timestamp": "yesterday",
        "conversation_id": "c",
    });
    let mut codes = Vec::new();
    for (key, fixed) in [
        ("protocol", "league.v2"),
        ("message_type", "GAME_JOIN_ACK"),
        ("sender", "player:P01"),
        ("timestamp", "2025-01-15T10:30:00Z"),
    ] {
        let rejection = read(&message, Strict).unwrap_err();
        codes.push(format!("{} {}", rejection.code.code(), rejection.path));
        message[key] = json!(fixed);
    }
    assert_eq!(
        codes,
        [
            "E018 protocol",
            "E002 message_type",
            "E002 sender",
            "E021 timestamp"
        ]
    );
    let body = read(&message, Strict).unwrap().body;
    assert_eq!(body.unwrap_err().path, "match_id");
}

#[test]
fn what_is_no_object_is_no_message() {
    for value in [
        json!(null),
        json!(1),
        json!("GAME_OVER"),
        json!([named(JOIN)]),
        json!(true),
    ] {
        for conformance in [Strict, Lenient] {
            let rejection = read(&value, conformance).unwrap_err();
            assert_eq!(
                (rejection.code.code(), rejection.path.as_str()),
                ("E002", "")
            );
        }
    }
}

#[test]
fn lists_and_messages_are_bounded() {
    let row = named(STANDINGS)["standings"][0].clone();
    let read_rows = |rows: usize, limits: Limits| {
        let message = changed(STANDINGS, "/standings", json!(vec![row.clone(); rows]));
        let reading = Reading {
            conformance: Strict,
            now: golden::NOW,
            limits,
            exchange: None,
            about: None,
        };
        decode(&message, &reading).unwrap().body
    };
    assert!(read_rows(100, Limits::MANAGER).is_ok());
    let rejection = read_rows(101, Limits::MANAGER).unwrap_err();
    assert_eq!(
        rejection.to_string(),
        "E002 INVALID_MESSAGE_FORMAT: standings: expected at most 100 entries, got a list of 101"
    );
    assert!(read_rows(101, Limits::AGENT).is_ok());

    assert_eq!(Limits::MANAGER.admit(10 * 1024), Ok(()));
    let rejection = Limits::MANAGER.admit(10 * 1024 + 1).unwrap_err();
    assert_eq!(
        rejection.sentence(),
        "the message: expected at most 10240 bytes, got 10241 bytes"
    );
}

#[test]
fn an_empty_token_is_no_token() {
    let incoming = read(&changed(QUERY, "/auth_token", json!("")), Strict).unwrap();
    assert_eq!(incoming.envelope.auth_token, None);
}
