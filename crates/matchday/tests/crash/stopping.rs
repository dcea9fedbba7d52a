//! A process that is stopped for longer than any deadline, and goes on: what came meanwhile counts by when it came, and
//! whose process it was decides who may have lost by it.

use crate::agents::Agents;
use crate::{LEAGUE_MAX, PLAYERS, REFEREES, assert_right_end, number, verified};
use matchday_store::{Store, StoreUrl, Stream};
use serde_json::Value;
use std::time::{Duration, Instant};

/// `MATCHDAY_STOP_SECONDS=60` for a minute. The time to join and the time to choose are one second.
pub(crate) fn span() -> Duration {
    Duration::from_secs(number("MATCHDAY_STOP_SECONDS", 3))
}

pub(crate) fn champion(store: &StoreUrl) -> bool {
    verified(std::slice::from_ref(store)).is_some_and(|found| found["champion"].is_string())
}

/// Plays a league in which the first agent of a kind is stopped once play has begun. The technical losses.
fn play(kind: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let store = StoreUrl::Sqlite(folder.path().join("league.db"));
    let agents = Agents::start(folder.path(), "league.db", PLAYERS, REFEREES);
    let began = Instant::now();
    let in_time = || {
        let late = began.elapsed() > LEAGUE_MAX + span();
        assert!(!late, "the league does not end\n{}", agents.last_words());
    };
    while events(&store)
        .iter()
        .all(|event| event["type"] != "match_assigned")
    {
        in_time();
        std::thread::sleep(Duration::from_millis(5));
    }
    agents.stop(kind, span());
    while !champion(&store) {
        in_time();
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(agents);
    assert_right_end(folder.path(), &store);
    technical_losses(&store)
}

pub(crate) fn technical_losses(store: &StoreUrl) -> Vec<Value> {
    let decided = events(store)
        .into_iter()
        .filter(|event| event["type"] == "match_decided");
    decided
        .filter(|event| event["result"]["status"] == "TECHNICAL_LOSS")
        .collect()
}

/// The events of the league so far.
pub(crate) fn events(store: &StoreUrl) -> Vec<Value> {
    let Ok(reader) = Store::open_read_only(store) else {
        return Vec::new();
    };
    let stored = reader.load(&Stream::league()).unwrap_or_default();
    let event = |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].take();
    stored.iter().map(|stored| event(&stored.line)).collect()
}

#[test]
fn a_manager_that_is_stopped_costs_nobody_a_match() {
    let lost = play("manager");
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn a_referee_that_is_stopped_costs_nobody_a_match() {
    let lost = play("referee");
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn a_player_that_is_stopped_costs_no_other_player_a_match() {
    let lost = play("player");
    let mut losers: Vec<_> = lost
        .iter()
        .flat_map(|event| {
            event["result"]["details"]["blame"]
                .as_object()
                .into_iter()
                .flatten()
        })
        .map(|(player, _)| player.clone())
        .collect();
    losers.dedup();
    assert!(losers.len() <= 1, "{lost:#?}");
}
