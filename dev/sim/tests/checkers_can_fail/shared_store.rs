//! Whole leagues on a shared store, with one precaution against two owners left out.

use matchday_sim::{Checker, Faults, Options, PlantedFault, Scenario, SharedStore};
use std::collections::BTreeSet;
use std::time::Duration;

/// Owners that are stopped, cut off and replaced while they write and while others ask.
fn disturbed(planted: Option<PlantedFault>) -> Scenario {
    let heal_after = Duration::from_secs(120);
    let faults = Faults {
        meddling_percent: 90,
        heal_after,
        ..Faults::NONE
    };
    let shared_store = SharedStore {
        machines: 3,
        commit_us_max: 300_000,
        unknown_percent: 5,
        pauses: 6,
        cuts: 3,
        handovers: 2,
        faults_per_10k_transactions: 800,
        outage_us_max: 10_000_000,
    };
    let lead = Duration::from_secs(5);
    Scenario {
        shared_store: Some(shared_store),
        faults,
        lead,
        planted,
        ..Scenario::plain(4, 2)
    }
}

fn noticed(planted: Option<PlantedFault>) -> BTreeSet<Checker> {
    let options = Options {
        scenario: Some(disturbed(planted)),
        ..Options::default()
    };
    (0..40)
        .filter_map(|seed| matchday_sim::run(seed, &options).failure)
        .map(|failure| failure.fault.checker)
        .collect()
}

#[test]
fn with_every_precaution_nothing_is_noticed() {
    assert_eq!(noticed(None), BTreeSet::new());
}

#[test]
fn an_append_that_does_not_name_its_epoch_is_noticed() {
    let found = noticed(Some(PlantedFault::NoEpochInAppend));
    assert_eq!(found, BTreeSet::from([Checker::OneWriterPerEpoch]));
}

#[test]
fn a_transaction_that_does_not_exclude_the_taker_is_noticed() {
    let found = noticed(Some(PlantedFault::TakerNotExcluded));
    assert_eq!(found, BTreeSet::from([Checker::OneWriterPerEpoch]));
}

#[test]
fn an_answer_without_a_lease_is_noticed() {
    let found = noticed(Some(PlantedFault::AnswersWithoutLease));
    assert_eq!(found, BTreeSet::from([Checker::NothingSeenFromFenced]));
}

#[test]
fn an_owner_that_goes_by_the_clock_of_its_machine_is_noticed() {
    let found = noticed(Some(PlantedFault::ClockOfTheMachine));
    assert!(found.contains(&Checker::TimeNeverBackwards), "{found:?}");
}
