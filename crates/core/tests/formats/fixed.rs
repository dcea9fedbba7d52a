//! The round robins.

use crate::season::{Season, pair, players, the_better};
use matchday_core::league::format::{Competition, Format};
use matchday_core::league::schedule::round_robin;
use std::collections::BTreeMap;

#[test]
fn a_round_robin_is_the_schedule_that_leagues_have_always_had() {
    for count in 2..40 {
        let season = Season::play(&Competition::default(), count, the_better);
        let known = round_robin(&players(count));
        assert_eq!(season.rounds.len(), known.len());
        for (drawn, known) in season.rounds.iter().zip(known) {
            assert_eq!(drawn.pairs, known.pairs);
            assert_eq!(drawn.byes, Vec::from_iter(known.bye));
        }
    }
}

#[test]
fn in_a_double_round_robin_each_pair_meets_once_on_each_side() {
    for count in 2..40 {
        let season = Season::play(
            &Competition::of(Format::DoubleRoundRobin),
            count,
            the_better,
        );
        let mut met = BTreeMap::new();
        for (a, b) in season.rounds.iter().flat_map(|round| &round.pairs) {
            *met.entry((a, b)).or_insert(0) += 1;
        }
        assert_eq!(met.len(), count * (count - 1), "{count} players");
        assert!(met.values().all(|times| *times == 1), "{count} players");
    }
}

#[test]
fn several_matches_a_pairing_follow_each_other_with_sides_alternating() {
    let competition = Competition {
        matches_per_pairing: 3,
        ..Competition::default()
    };
    let season = Season::play(&competition, 6, the_better);
    assert_eq!(season.rounds.len(), 15);
    for legs in season.rounds.chunks(3) {
        let [first, second, third] = legs else {
            panic!("three games a pairing")
        };
        let turned: Vec<_> = first
            .pairs
            .iter()
            .map(|(a, b)| (b.clone(), a.clone()))
            .collect();
        assert_eq!(second.pairs, turned);
        assert_eq!(third.pairs, first.pairs);
        assert_eq!(second.title, format!("Round {}, game 2 of 3", first.stage));
    }
    let mut met = BTreeMap::new();
    for (a, b) in season.rounds.iter().flat_map(|round| &round.pairs) {
        *met.entry(pair(a, b)).or_insert(0) += 1;
    }
    assert!(met.values().all(|times| *times == 3));
}
