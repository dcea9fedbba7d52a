//! Ladders in the simulated world: players join late, leave, come back and crash, and every checker holds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::league::LeagueEvent;
use matchday_core::league::format::{Competition, Format};
use matchday_core::protocol::{PlayerId, Timestamp};
use matchday_sim::{Faults, Options, Scenario};
use std::collections::BTreeMap;
use std::time::Duration;

fn scenario(matches_per_pairing: u32, matches_per_hour: Option<u32>, faults: Faults) -> Scenario {
    let competition = Competition {
        matches_per_pairing,
        matches_per_hour,
        ..Competition::of(Format::Ladder)
    };
    Scenario {
        competition,
        faults,
        hasty: true,
        ..Scenario::plain(5, 2)
    }
}

fn play(scenario: &Scenario, seeds: std::ops::Range<u64>) -> Vec<Vec<LeagueEvent>> {
    let options = Options {
        scenario: Some(scenario.clone()),
        ..Options::default()
    };
    seeds
        .map(|seed| {
            let report = matchday_sim::run(seed, &options);
            assert!(
                report.failure.is_none(),
                "seed {seed}: {}",
                report.failure.unwrap()
            );
            report.league.into_iter().map(|(_, event)| event).collect()
        })
        .collect()
}

fn rounds(events: &[LeagueEvent]) -> usize {
    events
        .iter()
        .filter(|event| matches!(event, LeagueEvent::RoundCompleted { .. }))
        .count()
}

#[test]
fn a_ladder_on_a_sound_network_is_paired_and_rated_round_after_round() {
    for scenario in [
        scenario(1, None, Faults::NONE),
        scenario(3, Some(60), Faults::NONE),
    ] {
        assert!(
            play(&scenario, 0..5)
                .iter()
                .all(|events| rounds(events) >= 5)
        );
    }
}

#[test]
fn a_ladder_whose_players_allow_few_matches_waits_for_the_next_hour() {
    for events in play(&scenario(1, Some(2), Faults::NONE), 0..2) {
        let drawn = events
            .iter()
            .filter(|event| matches!(event, LeagueEvent::RoundDrawn { .. }))
            .count();
        assert!(drawn > 2, "{drawn}");
    }
}

/// The most matches that one player was drawn for within an hour.
fn most_in_an_hour(log: &[(Timestamp, LeagueEvent)]) -> usize {
    let mut drawn_at: BTreeMap<&PlayerId, Vec<Timestamp>> = BTreeMap::new();
    for (at, event) in log {
        if let LeagueEvent::RoundDrawn { drawn, .. } = event {
            for player in drawn.pairs.iter().flat_map(|(a, b)| [a, b]) {
                drawn_at.entry(player).or_default().push(*at);
            }
        }
    }
    let within = |times: &Vec<Timestamp>| {
        let hour = Duration::from_secs(3600);
        let counts = times.iter().map(|first| {
            times
                .iter()
                .filter(|at| **at >= *first && **at < *first + hour)
                .count()
        });
        counts.max().unwrap_or(0)
    };
    drawn_at.values().map(within).max().unwrap_or(0)
}

#[test]
fn no_player_of_a_ladder_has_more_matches_in_an_hour_than_allowed_whatever_the_best_of() {
    for (best_of, per_hour, most) in [(3, 4, 4), (3, 2, 2), (5, 7, 7)] {
        let options = Options {
            scenario: Some(scenario(best_of, Some(per_hour), Faults::NONE)),
            ..Options::default()
        };
        for seed in 0..4 {
            let report = matchday_sim::run(seed, &options);
            assert!(report.failure.is_none(), "{:?}", report.failure);
            let played = most_in_an_hour(&report.league);
            assert!(
                (1..=most).contains(&played),
                "best of {best_of}, {per_hour} an hour: {played}, seed {seed}"
            );
        }
    }
}

#[test]
fn players_of_a_ladder_leave_come_back_and_crash() {
    let mut left = 0;
    let mut played = 0;
    for heal_after in [20, 60] {
        let heal_after = Duration::from_secs(heal_after);
        let faults = Faults {
            loss_percent: 10,
            meddling_percent: 50,
            crashes: 3,
            outage_us_max: 5_000_000,
            heal_after,
            ..Faults::NONE
        };
        let logs = play(&scenario(1, None, faults), 0..15);
        let leaves = |events: &Vec<LeagueEvent>| {
            events
                .iter()
                .filter(|event| matches!(event, LeagueEvent::PlayerLeft { .. }))
                .count()
        };
        left += logs.iter().map(leaves).sum::<usize>();
        played += logs.iter().map(|events| rounds(events)).sum::<usize>();
    }
    assert!(
        left > 5 && played > 30,
        "{left} have left, in {played} rounds"
    );
}
