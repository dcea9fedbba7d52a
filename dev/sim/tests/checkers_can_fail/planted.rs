//! Whole leagues with a promise that is broken on purpose.

use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_sim::behaviour::{Behaviour, Character};
use matchday_sim::{Checker, Faults, Options, PlantedFault, Scenario};
use std::collections::BTreeSet;
use std::time::Duration;

/// What the checkers notice in 20 leagues of a scenario.
fn noticed(scenario: &Scenario) -> BTreeSet<Checker> {
    let options = Options {
        scenario: Some(scenario.clone()),
        ..Options::default()
    };
    (0..20)
        .filter_map(|seed| matchday_sim::run(seed, &options).failure)
        .map(|failure| failure.fault.checker)
        .collect()
}

/// Players without a key, in a network that delays their registration, so that an outsider can come between.
fn without_keys() -> Scenario {
    let heal_after = Duration::from_secs(20);
    let faults = Faults {
        loss_percent: 50,
        meddling_percent: 90,
        heal_after,
        ..Faults::NONE
    };
    Scenario {
        unkeyed: 4,
        faults,
        ..Scenario::plain(4, 1)
    }
}

#[test]
fn a_registration_that_is_renewed_without_proof_is_noticed() {
    assert_eq!(noticed(&without_keys()), BTreeSet::new());
    let planted = Some(PlantedFault::SharedAddress);
    let found = noticed(&Scenario {
        planted,
        ..without_keys()
    });
    assert_eq!(found, BTreeSet::from([Checker::NobodyTakenOver]));
}

/// A manager with short windows, a referee with the usual ones, and a player that keeps it waiting.
fn with_other_timeouts() -> Scenario {
    let second = Duration::from_secs(1);
    let retry = RetryPolicy {
        retries: 1,
        backoff: Backoff::Fixed { delay: second },
    };
    let timing = Timing {
        join: second,
        choice: second,
        report: second,
        other: second,
        retry,
        ..Timing::default()
    };
    let silent = Behaviour {
        character: Character::Silent,
        percent: 100,
    };
    let players = vec![Behaviour::HONEST, silent];
    Scenario {
        players,
        timing,
        referee_timing: Some(Timing::default()),
        ..Scenario::plain(2, 1)
    }
}

#[test]
fn a_referee_that_is_suspended_for_timeouts_it_was_never_told_is_noticed() {
    assert_eq!(noticed(&with_other_timeouts()), BTreeSet::new());
    let planted = Some(PlantedFault::TimeoutsLost);
    let found = noticed(&Scenario {
        planted,
        ..with_other_timeouts()
    });
    assert_eq!(found, BTreeSet::from([Checker::HealthyRefereesStay]));
}

/// Players that sign, an honest referee that proves, and a liar that does not.
fn with_a_liar() -> Scenario {
    Scenario {
        cheats: vec![2],
        without_proof: vec![2],
        ..Scenario::plain(4, 2)
    }
}

#[test]
fn a_result_that_is_recorded_on_the_word_of_a_liar_is_noticed() {
    assert_eq!(noticed(&with_a_liar()), BTreeSet::new());
    let planted = Some(PlantedFault::ProofOptional);
    let found = noticed(&Scenario {
        planted,
        ..with_a_liar()
    });
    assert_eq!(found, BTreeSet::from([Checker::SignedIsRecorded]));
}
