//! Whole leagues whose players dial out, over streams that are cut, slow, doubled and silent.

use matchday_core::entropy::Entropy;
use matchday_sim::{Checker, Faults, Options, PlantedFault, Scenario};
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn players_that_dial_out_keep_every_rule() {
    for seed in 0..300 {
        let scenario = Scenario::drawn_dialling(&mut Entropy::numbered(seed));
        let report = matchday_sim::run(
            seed,
            &Options {
                scenario: Some(scenario),
                ..Options::default()
            },
        );
        assert!(
            report.failure.is_none(),
            "seed {seed}: {}",
            report.failure.unwrap()
        );
    }
}

#[test]
fn over_sound_streams_nobody_loses_for_want_of_an_answer() {
    for seed in 0..20 {
        let scenario = Scenario {
            dialling: 4,
            ..Scenario::plain(4, 2)
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
            "seed {seed}: {}",
            report.failure.unwrap()
        );
        assert_eq!(report.stats.refused, 0, "seed {seed}");
    }
}

/// Streams that are cut while a league is played.
fn disturbed() -> Scenario {
    let faults = Faults {
        loss_percent: 1,
        heal_after: Duration::from_secs(60),
        ..Faults::NONE
    };
    Scenario {
        dialling: 4,
        lead: Duration::from_secs(10),
        faults,
        ..Scenario::plain(4, 1)
    }
}

fn noticed(planted: Option<PlantedFault>) -> BTreeSet<Checker> {
    let options = Options {
        scenario: Some(Scenario {
            planted,
            ..disturbed()
        }),
        ..Options::default()
    };
    (0..30)
        .filter_map(|seed| matchday_sim::run(seed, &options).failure)
        .map(|failure| failure.fault.checker)
        .collect()
}

#[test]
fn a_relay_that_answers_for_an_absent_agent_is_noticed() {
    assert_eq!(noticed(None), BTreeSet::new());
    assert_eq!(
        noticed(Some(PlantedFault::RelayAnswersForAbsent)),
        BTreeSet::from([Checker::AbsentIsNoAnswer])
    );
}

#[test]
fn a_relay_that_takes_a_second_answer_is_noticed() {
    assert_eq!(
        noticed(Some(PlantedFault::RelayTakesAnswersTwice)),
        BTreeSet::from([Checker::RelayedOnce])
    );
}
