//! Seats are balanced exactly, whatever the length of a series, so that two copies of one strategy are not told apart
//! more often than a test may err: in every game, with every length and in every format.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use matchday_core::game::strategy::StrategyEntry;
use matchday_core::game::{GAMES, GameEntry, strategy};
use matchday_core::league::format::{Competition, Format};
use matchday_core::protocol::GameType;
use matchday_research::{Duels, Entrant, Leagues, Pair, Run, summary};
use matchday_stats::sprt::{Answer, Sprt};
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

const LENGTHS: [u32; 5] = [1, 2, 3, 7, 100];

fn duel(
    game: &'static GameEntry,
    strategy: &'static StrategyEntry,
    (matches, series, seed): (u64, u32, u64),
    mut watch: impl FnMut(&[Pair]) -> ControlFlow<()>,
) -> Pair {
    let entrants = [strategy, strategy].map(Entrant::built_in);
    let series = NonZeroU32::new(series).unwrap();
    let duels = Duels {
        game,
        entrants: &entrants,
        rules: None,
        matches,
        series,
        openings: &[],
        seed,
        every_unit: true,
        records: false,
    };
    let stop = AtomicBool::new(false);
    let run = Run {
        threads: NonZeroUsize::new(2).unwrap(),
        stop: &stop,
    };
    duels.play(&run, |pairs, _| watch(pairs)).remove(0)
}

#[test]
fn who_begins_changes_whatever_the_length_of_a_series() {
    // In nim the first player wins against the same strategy.
    let nim = matchday_core::game::find(&GameType::new("nim")).unwrap();
    let optimal = strategy::named("optimal").unwrap();
    for series in LENGTHS {
        let pair = duel(
            nim,
            optimal,
            (420, series, 1),
            |_| ControlFlow::Continue(()),
        );
        assert_eq!(
            (pair.tally.record.wins, pair.tally.record.losses),
            (210, 210),
            "series of {series}"
        );
    }
}

/// The most of so many tests that may err if each does with a chance of 5 %, but for four standard deviations.
fn errors_max(tests: u32) -> f64 {
    let tests = f64::from(tests);
    0.05 * tests + 4.0 * (0.05 * 0.95 * tests).sqrt()
}

#[test]
fn two_copies_of_a_strategy_are_not_told_apart_by_sprt_nor_by_intervals() {
    let sprt = Sprt::new(0.0, 60.0, 0.05, 0.05).unwrap();
    for game in GAMES {
        for series in LENGTHS {
            let mut tests = 0;
            let mut told_apart = 0;
            let mut intervals_without_0 = 0;
            for strategy in strategy::of(game) {
                for seed in 0..12 {
                    let mut answer = Answer::Open;
                    let pair = duel(game, strategy, (400, series, seed), |pairs| {
                        // The first answer counts; the matches go on for the interval.
                        if answer == Answer::Open {
                            answer = sprt.standing(pairs[0].tally.pairs).answer;
                        }
                        ControlFlow::Continue(())
                    });
                    let (_, _, elo) = summary::of_pair(&pair.tally);
                    let holds_0 = elo.is_some_and(|elo| {
                        elo.low.is_none_or(|low| low <= 0.0)
                            && elo.high.is_none_or(|high| high >= 0.0)
                    });
                    tests += 1;
                    told_apart += u32::from(answer == Answer::Elo1);
                    intervals_without_0 += u32::from(!holds_0);
                }
            }
            let what = format!("{} in series of {series}: of {tests} tests", game.name);
            assert!(
                f64::from(told_apart) <= errors_max(tests),
                "{what} SPRT tells {told_apart} apart"
            );
            assert!(
                f64::from(intervals_without_0) <= errors_max(tests),
                "{what} {intervals_without_0} intervals do not hold 0"
            );
        }
    }
}

#[test]
fn copies_of_a_strategy_are_champions_equally_often_in_every_format() {
    let copies = 4;
    let leagues = 60_u32;
    let stop = AtomicBool::new(false);
    let run = Run {
        threads: NonZeroUsize::new(2).unwrap(),
        stop: &stop,
    };
    for game in GAMES {
        for (strategy, format) in
            strategy::of(game).flat_map(|entry| Format::ENDING.map(|format| (entry, format)))
        {
            let entrants = vec![Entrant::built_in(strategy); copies];
            let competition = Competition::of(format);
            let played = Leagues {
                game,
                entrants: &entrants,
                rules: None,
                competition: &competition,
                leagues: u64::from(leagues),
                seed: 1,
                records: false,
            };
            let seasons = played.play(&run, |_, _| ControlFlow::Continue(())).unwrap();
            let expected = f64::from(leagues) / copies as f64;
            let titles = seasons.places.iter().map(|places| places[0] as f64);
            let chi_square: f64 = titles
                .map(|titles| (titles - expected).powi(2) / expected)
                .sum();
            // One in 100,000 by chance, with three degrees of freedom.
            assert!(
                chi_square < 25.9,
                "{} of {} in {format}: {:?}",
                strategy.name,
                game.name,
                seasons.places
            );
        }
    }
}
