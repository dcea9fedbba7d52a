//! Whole leagues in hostile worlds. A failing seed can be watched:
//! `cargo run --release -p matchday-sim --example soak -- --seed N --trace`.

use matchday_core::entropy::Entropy;
use matchday_core::league::LeagueEvent;
use matchday_core::league::format::{Competition, Format};
use matchday_sim::external_deciders::Decider;
use matchday_sim::faults::Faults;
use matchday_sim::{Options, Scenario};
use std::collections::BTreeSet;
use std::time::Duration;

fn all_hold(seeds: std::ops::Range<u64>) {
    let failures: Vec<_> = seeds
        .filter_map(|seed| {
            matchday_sim::run(seed, &Options::default())
                .failure
                .map(|failure| format!("seed {seed}: {failure}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

macro_rules! slices {
    ($($name:ident $from:literal;)*) => {$(
        #[test]
        fn $name() {
            all_hold($from..$from + 250);
        }
    )*};
}

slices! {
    seeds_from_0 0;
    seeds_from_250 250;
    seeds_from_500 500;
    seeds_from_750 750;
    seeds_from_1000 1000;
    seeds_from_1250 1250;
    seeds_from_1500 1500;
    seeds_from_1750 1750;
    seeds_from_2000 2000;
    seeds_from_2250 2250;
    seeds_from_2500 2500;
    seeds_from_2750 2750;
}

/// As the seed has it, but with all agents in one process, or all but some players, whom it must never tell what it may forget.
#[test]
fn agents_that_share_a_process_and_hear_each_other_before_the_disk_does_keep_every_rule() {
    for seed in 0..300 {
        let drawn = Scenario::drawn(&mut Entropy::numbered(seed));
        let at_home = drawn.players.len() as u64 - seed % 3;
        let scenario = Scenario {
            colocated_players: u8::try_from(at_home).ok(),
            ..drawn
        };
        let report = matchday_sim::run(
            seed,
            &Options {
                scenario: Some(scenario),
                ..Options::default()
            },
        );
        assert!(
            report.failure.is_none(),
            "seed {seed}: {:?}",
            report.failure
        );
    }
}

/// As the seed has it, but with referees that lie in their reports and hand matches back to draw again: one, or all of them.
#[test]
fn referees_that_cheat_bring_nothing_on_record_that_was_not_signed_and_drawn() {
    let mut lies = 0;
    for seed in 0..100 {
        let drawn = Scenario::drawn(&mut Entropy::numbered(seed));
        let referees = u8::try_from(drawn.referees.len()).unwrap();
        let cheats = if seed % 3 == 0 {
            (1..=referees).collect()
        } else {
            vec![1]
        };
        let report = matchday_sim::run(
            seed,
            &Options {
                scenario: Some(Scenario { cheats, ..drawn }),
                ..Options::default()
            },
        );
        assert!(
            report.failure.is_none(),
            "seed {seed}: {:?}",
            report.failure
        );
        lies += report.stats.lies;
    }
    assert!(lies > 300, "{lies} lies are too few to prove anything");
}

/// As the seed has it, but with a first referee that proves nothing and lies, beside others that prove: it is given no match of
/// players that sign, and every league comes to its end.
#[test]
fn a_liar_that_proves_nothing_brings_nothing_on_record() {
    for seed in 0..100 {
        let drawn = Scenario::drawn(&mut Entropy::numbered(seed));
        let mut referees = drawn.referees.clone();
        referees.resize(referees.len().max(2), 2);
        let scenario = Scenario {
            cheats: vec![1],
            without_proof: vec![1],
            referees,
            ..drawn
        };
        let report = matchday_sim::run(
            seed,
            &Options {
                scenario: Some(scenario),
                ..Options::default()
            },
        );
        assert!(
            report.failure.is_none(),
            "seed {seed}: {:?}",
            report.failure
        );
    }
}

/// Whatever the deciders do, on a sound network nobody loses a match for want of an answer.
#[test]
fn players_whose_minds_are_late_silent_or_wrong_lose_no_match_by_it() {
    for sound_percent in [0, 50, 100] {
        let deciders = vec![Decider::External { sound_percent }; 4];
        let options = Options {
            scenario: Some(Scenario {
                deciders,
                ..Scenario::plain(4, 2)
            }),
            ..Options::default()
        };
        for seed in 0..25 {
            let report = matchday_sim::run(seed, &options);
            assert!(
                report.failure.is_none(),
                "seed {seed}: {:?}",
                report.failure
            );
            assert_eq!(
                report.stats.inquiries, 12,
                "both players of six matches, once each"
            );
            assert_eq!(report.stats.technical_losses, 0);
        }
    }
}

/// Machines that cannot send, and referees that are cut off, cost time and no player a match.
#[test]
fn nobody_loses_by_the_faults_of_referees_and_machines() {
    let heal_after = Duration::from_secs(40);
    let ours = Faults {
        our_fault_percent: 60,
        heal_after,
        ..Faults::NONE
    };
    let cut_off = Faults {
        cut_off: 1,
        heal_after,
        ..Faults::NONE
    };
    let both = Faults {
        our_fault_percent: 30,
        cut_off: 2,
        heal_after,
        ..Faults::NONE
    };
    for (faults, referees) in [(ours, 1), (cut_off.clone(), 2), (cut_off, 1), (both, 2)] {
        let mut reassigned = 0;
        for seed in 0..50 {
            let scenario = Scenario {
                faults: faults.clone(),
                ..Scenario::plain(4, referees)
            };
            let report = matchday_sim::run(
                seed,
                &Options {
                    scenario: Some(scenario),
                    ..Options::default()
                },
            );
            assert!(
                report.failure.is_none(),
                "{faults:?}, seed {seed}: {:?}",
                report.failure
            );
            assert_eq!(report.stats.technical_losses, 0, "{faults:?}, seed {seed}");
            reassigned += report.stats.reassigned;
        }
        assert!(
            reassigned > 0,
            "{faults:?} never kept a referee from playing"
        );
    }
}

/// Every format, with agents that crash and a network that loses and doubles: few seeds here, since any seed of the slices
/// above may draw a format too.
#[test]
fn leagues_of_every_format_hold_in_hostile_worlds() {
    for format in Format::ALL {
        for (seed, players, matches_per_pairing) in [(1, 5, 1), (2, 4, 2), (3, 7, 1)] {
            let faults = Faults::drawn(&mut Entropy::numbered(seed));
            let competition = Competition {
                matches_per_pairing,
                ..Competition::of(format)
            };
            let scenario = Scenario {
                faults,
                competition,
                ..Scenario::plain(players, 2)
            };
            let report = matchday_sim::run(
                seed,
                &Options {
                    scenario: Some(scenario),
                    ..Options::default()
                },
            );
            assert!(
                report.failure.is_none(),
                "{format}, seed {seed}: {:?}",
                report.failure
            );
        }
    }
}

/// Two to four players are often level. The checkers demand each series of the play-off, and the right players in it.
#[test]
fn a_play_off_holds_in_hostile_worlds_and_ends_when_nobody_gets_ahead() {
    let mut played = 0;
    for format in [Format::RoundRobin, Format::DoubleRoundRobin, Format::Swiss] {
        for (seed, players) in (1..13).zip([2, 3, 4].into_iter().cycle()) {
            let faults = if seed % 2 == 0 {
                Faults::NONE
            } else {
                Faults::drawn(&mut Entropy::numbered(seed))
            };
            let competition = Competition {
                play_off: true,
                replays: 1,
                ..Competition::of(format)
            };
            let scenario = Scenario {
                faults,
                competition,
                ..Scenario::plain(players, 2)
            };
            let report = matchday_sim::run(
                seed,
                &Options {
                    scenario: Some(scenario),
                    ..Options::default()
                },
            );
            assert!(
                report.failure.is_none(),
                "{format}, seed {seed}: {:?}",
                report.failure
            );
            let is_play_off = |event: &LeagueEvent| matches!(event, LeagueEvent::RoundDrawn { drawn, .. } if drawn.play_off);
            played += report
                .league
                .iter()
                .filter(|(_, event)| is_play_off(event))
                .count();
        }
    }
    assert!(played > 0, "no league had a play-off");
}

#[test]
fn some_seeds_draw_a_format() {
    let formats: BTreeSet<Format> = (0..400)
        .map(|seed| {
            Scenario::drawn(&mut Entropy::numbered(seed))
                .competition
                .format
        })
        .collect();
    assert_eq!(formats, BTreeSet::from(Format::ALL));
}
