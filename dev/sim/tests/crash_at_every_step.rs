//! A small league, once for every step of its agents: the agent crashes there, before or after the step reaches its
//! disk or once all of it has gone out, and starts again from what its disk holds.

use matchday_core::league::format::{Competition, Format};
use matchday_sim::external_deciders::Decider;
use matchday_sim::{AgentId, CrashPoint, Moment, Options, Scenario};
use std::time::Duration;

fn crash_everywhere(who: AgentId) {
    crash_everywhere_in(Scenario::plain(4, 2), who);
}

fn crash_everywhere_in(scenario: Scenario, who: AgentId) {
    // How many matches a knockout takes is a matter of its results, and a crash may change what chance brings.
    let matches_vary = scenario.competition.format == Format::Knockout;
    let options = Options {
        scenario: Some(scenario),
        ..Options::default()
    };
    let undisturbed = matchday_sim::run(1, &options);
    assert_eq!(undisturbed.failure, None);
    let steps = undisturbed.stats.steps.get(&who).copied().unwrap_or(0);
    assert!(steps > 20, "{who} has only {steps} steps");
    let mut broken = Vec::new();
    for step in 1..=steps {
        for moment in [Moment::BeforeStored, Moment::StoredUnsent, Moment::Sent] {
            for down in [
                Duration::ZERO,
                Duration::from_millis(300),
                Duration::from_secs(20),
            ] {
                let crash = Some(CrashPoint {
                    who,
                    step,
                    moment,
                    down,
                });
                let report = matchday_sim::run(
                    1,
                    &Options {
                        crash,
                        ..options.clone()
                    },
                );
                assert_eq!(report.stats.crashes, 1, "{who} at {step}, {moment:?}");
                assert!(
                    matches_vary || report.stats.matches == undisturbed.stats.matches,
                    "{who} at {step}"
                );
                if let Some(failure) = report.failure {
                    broken.push(format!(
                        "{who} at step {step}, {moment:?}, down {down:?}: {failure}"
                    ));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "{} of them:\n{}",
        broken.len(),
        broken.join("\n")
    );
}

#[test]
fn the_manager_may_crash_at_every_step() {
    crash_everywhere(AgentId::Manager);
}

#[test]
fn the_manager_of_a_swiss_league_may_crash_at_every_step() {
    let competition = Competition {
        matches_per_pairing: 2,
        ..Competition::of(Format::Swiss)
    };
    crash_everywhere_in(
        Scenario {
            competition,
            ..Scenario::plain(3, 1)
        },
        AgentId::Manager,
    );
}

#[test]
fn the_manager_of_a_knockout_may_crash_at_every_step() {
    let competition = Competition::of(Format::Knockout);
    crash_everywhere_in(
        Scenario {
            competition,
            ..Scenario::plain(3, 1)
        },
        AgentId::Manager,
    );
}

#[test]
fn a_referee_may_crash_at_every_step() {
    crash_everywhere(AgentId::Referee(1));
}

#[test]
fn a_player_may_crash_at_every_step() {
    crash_everywhere(AgentId::Player(1));
}

#[test]
fn a_player_whose_mind_is_outside_may_crash_at_every_step() {
    let deciders = vec![Decider::External { sound_percent: 50 }; 4];
    crash_everywhere_in(
        Scenario {
            deciders,
            ..Scenario::plain(4, 2)
        },
        AgentId::Player(1),
    );
}

/// Two of the players are guests: what they have heard, they remember.
fn with_guests() -> Scenario {
    Scenario {
        colocated_players: Some(2),
        ..Scenario::plain(4, 2)
    }
}

#[test]
fn a_process_of_several_agents_may_crash_at_every_step_of_its_manager() {
    crash_everywhere_in(with_guests(), AgentId::Manager);
}

#[test]
fn a_process_of_several_agents_may_crash_at_every_step_of_a_referee() {
    crash_everywhere_in(with_guests(), AgentId::Referee(1));
}

#[test]
fn a_process_of_several_agents_may_crash_at_every_step_of_a_player() {
    crash_everywhere_in(with_guests(), AgentId::Player(1));
}

#[test]
fn a_process_of_several_agents_may_crash_at_every_step_of_a_player_whose_mind_is_outside() {
    let deciders = vec![Decider::External { sound_percent: 50 }; 4];
    crash_everywhere_in(
        Scenario {
            deciders,
            ..with_guests()
        },
        AgentId::Player(1),
    );
}

#[test]
fn a_guest_of_a_process_may_crash_at_every_step() {
    crash_everywhere_in(with_guests(), AgentId::Player(4));
}

/// The counterpart: what no agent can stand, the checkers notice.
#[test]
fn a_disk_that_forgets_what_was_sent_is_noticed() {
    // Two matches a round, so that some step has nothing but a result in it.
    notices_what_is_forgotten(Scenario::plain(4, 2));
}

#[test]
fn a_disk_of_several_agents_that_forgets_what_was_sent_is_noticed() {
    notices_what_is_forgotten(with_guests());
}

fn notices_what_is_forgotten(scenario: Scenario) {
    let options = Options {
        scenario: Some(scenario),
        ..Options::default()
    };
    let steps = matchday_sim::run(1, &options)
        .stats
        .steps
        .get(&AgentId::Manager)
        .copied()
        .unwrap_or(0);
    let mut noticed = std::collections::BTreeMap::new();
    for step in 1..=steps {
        let crash = CrashPoint {
            who: AgentId::Manager,
            step,
            moment: Moment::SentThenLost,
            down: Duration::from_millis(10),
        };
        let report = matchday_sim::run(
            1,
            &Options {
                crash: Some(crash),
                ..options.clone()
            },
        );
        if let Some(failure) = report.failure {
            *noticed.entry(failure.fault.checker).or_insert(0) += 1;
        }
    }
    assert!(
        noticed.contains_key(&matchday_sim::Checker::ResultsNeverChange),
        "{noticed:?}"
    );
}
