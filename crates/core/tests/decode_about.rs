//! What is told to everyone, as it is read to one player: its own entries, and whatever does not plainly name others.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::decode::Conformance::Lenient;
use matchday_core::protocol::decode::{Reading, Rejection, decode};
use matchday_core::protocol::{Body, PlayerId};
use matchday_testkit::golden::{named, reading};
use serde_json::{Value, json};

const ROUND: &str = "002_1-1_round_announcement";
const STANDINGS: &str = "002_1-3_league_standings_update";

fn read_to(player: &str, message: &Value) -> Result<Body, Rejection> {
    let player = PlayerId::new(player);
    decode(
        message,
        &Reading {
            about: Some(&player),
            ..reading(Lenient)
        },
    )
    .unwrap()
    .body
}

/// An announcement of these pairs.
fn announcement(pairs: &[(&str, &str)]) -> Value {
    let mut message = named(ROUND);
    let entry = message["matches"][0].clone();
    let of = |(number, (a, b)): (usize, &(&str, &str))| {
        let mut entry = entry.clone();
        entry["match_id"] = json!(format!("R1M{}", number + 1));
        entry["player_A_id"] = json!(a);
        entry["player_B_id"] = json!(b);
        entry
    };
    message["matches"] = pairs.iter().enumerate().map(of).collect();
    message
}

fn matches_read_to(player: &str, message: &Value) -> Vec<String> {
    match read_to(player, message) {
        Ok(Body::RoundAnnouncement(round)) => round
            .matches
            .iter()
            .map(|one| one.match_id.to_string())
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_an_announcement_a_player_is_read_its_own_matches_on_either_side() {
    let message = announcement(&[("P01", "P02"), ("P03", "P04"), ("P05", "P01")]);
    assert_eq!(matches_read_to("P01", &message), ["R1M1", "R1M3"]);
    assert_eq!(matches_read_to("P04", &message), ["R1M2"]);
}

#[test]
fn an_announcement_without_a_match_of_the_player_is_decoded_all_the_same() {
    assert!(matches_read_to("P09", &announcement(&[("P01", "P02")])).is_empty());
}

#[test]
fn an_announcement_of_nothing_is_refused_for_a_player_too() {
    let refusal = read_to("P01", &announcement(&[])).unwrap_err();
    assert_eq!(refusal.path, "matches");
}

#[test]
fn of_a_table_a_player_is_read_its_own_place() {
    let Ok(Body::LeagueStandingsUpdate(table)) = read_to("P01", &named(STANDINGS)) else {
        panic!("a table");
    };
    assert_eq!(
        table
            .standings
            .iter()
            .map(|row| row.player_id.as_str())
            .collect::<Vec<_>>(),
        ["P01"]
    );
}

#[test]
fn what_does_not_plainly_name_others_is_judged_by_every_rule() {
    let mut message = announcement(&[("P03", "P04"), ("P05", "P06")]);
    for (field, wrong, path) in [
        ("player_A_id", json!(7), "matches[1].player_A_id"),
        ("player_B_id", json!(null), "matches[1].player_B_id"),
    ] {
        let right = std::mem::replace(&mut message["matches"][1][field], wrong);
        assert_eq!(read_to("P01", &message).unwrap_err().path, path);
        message["matches"][1][field] = right;
    }
    message["matches"][0] = json!("R1M1");
    assert_eq!(read_to("P01", &message).unwrap_err().path, "matches[0]");
}
