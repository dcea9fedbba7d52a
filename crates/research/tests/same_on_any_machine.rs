//! A seed gives the same results on any number of threads, divided into any blocks, on any machine.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use matchday_core::game::{self, GameEntry, strategy};
use matchday_core::league::format::{Competition, Format};
use matchday_core::protocol::GameType;
use matchday_research::{Duels, Entrant, Leagues, Pair, Run, Seasons};
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

fn game(name: &str) -> &'static GameEntry {
    game::find(&GameType::new(name)).unwrap()
}

fn entrants(names: &[&str]) -> Vec<Entrant> {
    names
        .iter()
        .map(|name| Entrant::built_in(strategy::named(name).unwrap()))
        .collect()
}

fn duels(name: &str, names: &[&str], matches: u64, threads: usize, every_unit: bool) -> Vec<Pair> {
    let stop = AtomicBool::new(false);
    let entrants = entrants(names);
    let series = NonZeroU32::new(100).unwrap();
    let duels = Duels {
        game: game(name),
        entrants: &entrants,
        rules: None,
        matches,
        series,
        openings: &[],
        seed: 2026,
        every_unit,
        records: false,
    };
    let run = Run {
        threads: NonZeroUsize::new(threads).unwrap(),
        stop: &stop,
    };
    duels.play(&run, |_, _| ControlFlow::Continue(()))
}

fn leagues(name: &str, names: &[&str], format: Format, leagues: u64, threads: usize) -> Seasons {
    let stop = AtomicBool::new(false);
    let entrants = entrants(names);
    let competition = Competition::of(format);
    let leagues = Leagues {
        game: game(name),
        entrants: &entrants,
        rules: None,
        competition: &competition,
        leagues,
        seed: 2026,
        records: false,
    };
    let run = Run {
        threads: NonZeroUsize::new(threads).unwrap(),
        stop: &stop,
    };
    leagues
        .play(&run, |_, _| ControlFlow::Continue(()))
        .unwrap()
}

fn records(pairs: &[Pair]) -> Vec<[u64; 3]> {
    pairs
        .iter()
        .map(|pair| pair.tally.record)
        .map(|wdl| [wdl.wins, wdl.draws, wdl.losses])
        .collect()
}

#[test]
fn duels_of_even_odd() {
    for threads in [1, 2, 3] {
        for every_unit in [false, true] {
            let pairs = duels(
                "even_odd",
                &["random", "pattern", "mirror", "frequency"],
                100_050,
                threads,
                every_unit,
            );
            let expected = [
                [25_054, 49_912, 25_084],
                [25_172, 49_920, 24_958],
                [25_057, 50_159, 24_834],
                [21_943, 56_161, 21_946],
                [18_316, 63_497, 18_237],
                [3_982, 92_074, 3_994],
            ];
            assert_eq!(
                records(&pairs),
                expected,
                "{threads} threads, every unit {every_unit}"
            );
        }
    }
}

#[test]
fn duels_of_another_game() {
    for threads in [1, 2, 3] {
        let pairs = duels(
            "rock_paper_scissors",
            &["random", "frequency", "pattern"],
            250,
            threads,
            false,
        );
        let expected = [[96, 28, 126], [98, 40, 112], [4, 6, 240]];
        assert_eq!(records(&pairs), expected, "{threads} threads");
    }
}

#[test]
fn leagues_of_even_odd() {
    for threads in [1, 2, 3] {
        let seasons = leagues(
            "even_odd",
            &["random", "pattern", "mirror", "alternating"],
            Format::RoundRobin,
            1_000,
            threads,
        );
        assert_eq!(
            (seasons.leagues, seasons.matches),
            (1_000, 6_000),
            "{threads} threads"
        );
        let expected = [
            [245, 268, 253, 234],
            [223, 260, 251, 266],
            [253, 240, 247, 260],
            [279, 232, 249, 240],
        ];
        assert_eq!(
            seasons.places,
            expected.map(|places| places.to_vec()),
            "{threads} threads"
        );
    }
}

#[test]
fn a_test_that_stops_early_stops_after_the_same_match() {
    let stopped = |threads| {
        let stop = AtomicBool::new(false);
        let entrants = entrants(&["pattern", "random"]);
        let series = NonZeroU32::new(10).unwrap();
        let duels = Duels {
            game: game("rock_paper_scissors"),
            entrants: &entrants,
            rules: None,
            matches: 1_000,
            series,
            seed: 1,
            openings: &[],
            every_unit: true,
            records: false,
        };
        let run = Run {
            threads: NonZeroUsize::new(threads).unwrap(),
            stop: &stop,
        };
        duels.play(&run, |pairs, _| match pairs[0].tally.record.losses {
            0..20 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        })
    };
    let first = stopped(1);
    assert!((20..1_000).contains(&first[0].tally.matches()), "{first:?}");
    assert_eq!(stopped(2), first);
    assert_eq!(stopped(3), first);
}

#[test]
fn seats_change_after_each_match() {
    // In nim the first player wins against the same strategy.
    let pairs = duels("nim", &["optimal", "optimal"], 100, 2, false);
    assert_eq!(records(&pairs), [[50, 0, 50]]);
}

#[test]
fn every_place_of_every_league_is_taken_once() {
    let seasons = leagues("tic_tac_toe", &["random"; 3], Format::RoundRobin, 40, 2);
    for rank in 0..3 {
        assert_eq!(
            seasons
                .places
                .iter()
                .map(|places| places[rank])
                .sum::<u64>(),
            40,
            "place {rank}"
        );
    }
    assert!(
        seasons.places.iter().all(|places| places[0] > 0),
        "chance favours nobody: {:?}",
        seasons.places
    );
}

#[test]
fn leagues_of_every_format() {
    for format in Format::ENDING {
        let played = |threads| {
            leagues(
                "nim",
                &["optimal", "random", "random", "random"],
                format,
                60,
                threads,
            )
        };
        let first = played(1);
        assert_eq!(played(2), first, "{format}");
        assert_eq!(played(3), first, "{format}");
        assert_eq!(first.leagues, 60, "{format}");
        for rank in 0..4 {
            assert_eq!(
                first.places.iter().map(|places| places[rank]).sum::<u64>(),
                60,
                "{format}, place {rank}"
            );
        }
        assert!(
            first.places[0][0] > 40,
            "{format}: the perfect player wins: {:?}",
            first.places
        );
    }
}

#[test]
fn a_knockout_has_one_match_for_each_who_is_out() {
    // Nim has no draws, so no tie is replayed.
    let seasons = leagues("nim", &["random"; 8], Format::Knockout, 30, 2);
    assert_eq!(seasons.matches, 30 * 7);
}

#[test]
fn too_few_for_a_format_are_told_so() {
    let stop = AtomicBool::new(false);
    let entrants = entrants(&["random", "optimal"]);
    let competition = Competition::of(Format::GroupsKnockout);
    let competition = Competition {
        groups: Some(2),
        ..competition
    };
    let leagues = Leagues {
        game: game("nim"),
        entrants: &entrants,
        rules: None,
        competition: &competition,
        leagues: 1,
        seed: 1,
        records: false,
    };
    let run = Run {
        threads: NonZeroUsize::MIN,
        stop: &stop,
    };
    let error = leagues
        .play(&run, |_, _| ControlFlow::Continue(()))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("2 players cannot be put into 2 groups"),
        "{error}"
    );
}
