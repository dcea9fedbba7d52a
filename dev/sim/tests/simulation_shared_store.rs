//! Whole leagues on several machines that share a store: processes that crash, stop and go on, are cut from the store, hand over,
//! and do not hear what came of a commit.

use matchday_core::entropy::Entropy;
use matchday_sim::{Faults, Options, Report, Scenario, SharedStore, Stats};
use std::time::Duration;

fn run(seed: u64, scenario: Scenario) -> Report {
    let report = matchday_sim::run(
        seed,
        &Options {
            scenario: Some(scenario),
            ..Options::default()
        },
    );
    let failure = report
        .failure
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    assert!(failure.is_empty(), "seed {seed}: {failure}");
    report
}

#[test]
fn leagues_on_a_shared_store_keep_every_rule() {
    let mut sum = Stats::default();
    for seed in 0..400 {
        let stats = drawn(seed);
        sum.tenures += stats.tenures;
        sum.pauses += stats.pauses;
        sum.cuts += stats.cuts;
        sum.handovers += stats.handovers;
        sum.unknown_commits += stats.unknown_commits;
        sum.fenced += stats.fenced;
    }
    let least = [
        sum.tenures,
        sum.pauses,
        sum.cuts,
        sum.handovers,
        sum.unknown_commits,
        sum.fenced,
    ];
    assert!(
        least.into_iter().all(|count| count > 100),
        "too little happened to prove anything: {sum:?}"
    );
}

/// With the default timeouts and over a sound network: whether referees live with the manager or on machines of their own.
fn otherwise_sound(shared_store: SharedStore, house: bool) -> Scenario {
    let faults = Faults {
        heal_after: Duration::from_secs(120),
        ..Faults::NONE
    };
    Scenario {
        shared_store: Some(shared_store),
        faults,
        colocated_players: house.then_some(0),
        lead: Duration::from_secs(2),
        ..Scenario::plain(4, 2)
    }
}

#[test]
fn nobody_loses_a_match_because_the_league_changes_hands() {
    let outage_us_max = 30_000_000;
    let faults_per_10k_transactions = 1_000;
    for house in [false, true] {
        let mut tenures = 0;
        for seed in 0..60 {
            let store = SharedStore {
                outage_us_max,
                faults_per_10k_transactions,
                machines: 3,
                ..SharedStore::SOUND
            };
            let report = run(seed, otherwise_sound(store, house));
            assert_eq!(
                report.stats.technical_losses, 0,
                "house {house}, seed {seed}"
            );
            tenures += report.stats.tenures;
        }
        assert!(
            tenures > 120,
            "house {house}: {tenures} owners in 60 leagues"
        );
    }
}

#[test]
fn agents_that_all_live_in_one_process_wait_for_a_slow_store() {
    let store = SharedStore {
        commit_us_max: 300_000,
        ..SharedStore::SOUND
    };
    let scenario = Scenario {
        colocated_players: Some(4),
        ..otherwise_sound(store, true)
    };
    for seed in 0..20 {
        let report = run(seed, scenario.clone());
        assert_eq!(report.stats.technical_losses, 0, "seed {seed}");
    }
}

fn drawn(seed: u64) -> Stats {
    run(
        seed,
        Scenario::drawn_with_shared_store(&mut Entropy::numbered(seed)),
    )
    .stats
}

#[test]
fn a_transaction_that_the_store_has_rolled_back_stores_nothing_when_its_process_wakes() {
    // It woke, heard that it had lost the league, and came to its transaction in the same microsecond.
    assert!(drawn(400_933).fenced > 0);
}

#[test]
fn a_ladder_ends_though_the_process_that_ended_it_lost_the_league_before_that_was_stored() {
    // Its operator gave up when the end was decided; the ladder then went on for ever.
    assert!(drawn(235_898).matches < 100);
}

#[test]
fn a_sound_store_has_one_owner() {
    for seed in 0..20 {
        let report = run(seed, otherwise_sound(SharedStore::SOUND, seed % 2 == 0));
        assert_eq!(
            (report.stats.tenures, report.stats.fenced),
            (1, 0),
            "seed {seed}"
        );
    }
}

#[test]
fn a_commit_of_unknown_outcome_stores_everything_once() {
    let store = SharedStore {
        unknown_percent: 50,
        ..SharedStore::SOUND
    };
    for seed in 0..20 {
        let report = run(seed, otherwise_sound(store.clone(), seed % 2 == 0));
        assert!(report.stats.unknown_commits > 5, "seed {seed}");
        assert_eq!(
            (report.stats.tenures, report.stats.technical_losses),
            (1, 0),
            "seed {seed}"
        );
    }
}
