//! What a league of a service may use: the one place that decides it. Pure.

use crate::league::LeaguePlan;

/// The ceilings that the operator of the service sets for every league.
#[derive(Debug, Clone, Copy)]
pub struct Quota {
    pub leagues: u32,
    pub players: u32,
    /// Matches that a built-in referee runs at once.
    pub matches: u32,
    /// Requests that a league takes in a second; 0 for any number.
    pub requests_per_s: u32,
    /// Of messages and answers.
    pub bytes: u64,
    /// Leagues with a program that runs on this machine.
    pub programs: u32,
}

/// How much the other leagues use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    pub(super) leagues: u32,
    pub(super) programs: u32,
}

impl Usage {
    pub(super) fn add(&mut self, plan: &LeaguePlan) {
        self.leagues += 1;
        self.programs += u32::from(plan.program.is_some());
    }
}

fn beyond(what: &str, asked: u64, quota: u64, flag: &str) -> String {
    format!(
        "{what}: {asked} is beyond the quota of {quota}: ask for less, or start the service with a larger {flag}"
    )
}

impl Quota {
    /// Why a league may not be, or not be like this.
    pub(super) fn check(&self, plan: &LeaguePlan, others: Usage) -> Result<(), String> {
        if others.leagues >= self.leagues {
            let quota = self.leagues;
            return Err(format!(
                "the service has {quota} leagues, which is its quota: archive one, or start it with a larger --quota-leagues"
            ));
        }
        let players = plan.league.players_max;
        let bytes = plan.exchanges_bytes_max;
        if players > self.players {
            return Err(beyond(
                "players-max",
                players.into(),
                self.players.into(),
                "--quota-players",
            ));
        }
        if plan.exchanges && bytes > self.bytes {
            return Err(beyond(
                "exchanges-bytes-max",
                bytes,
                self.bytes,
                "--exchanges-bytes-max",
            ));
        }
        self.check_program(plan, others)
    }

    /// Why the program of a league may not run. Asked before each run of it: others than this service may have written the log
    /// that its league stands in.
    pub(super) fn check_program(&self, plan: &LeaguePlan, others: Usage) -> Result<(), String> {
        if plan.program.is_some() && others.programs >= self.programs {
            let asked = u64::from(others.programs) + 1;
            return Err(beyond(
                "game-command",
                asked,
                self.programs.into(),
                "--quota-programs",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::league::ProgramPlan;
    use matchday_core::league::LeagueSettings;
    use std::collections::BTreeMap;
    use std::time::Duration;

    const QUOTA: Quota = Quota {
        leagues: 2,
        players: 10,
        matches: 5,
        requests_per_s: 0,
        bytes: 100,
        programs: 0,
    };

    fn plan() -> LeaguePlan {
        LeaguePlan {
            league: LeagueSettings {
                players_max: 10,
                ..LeagueSettings::default()
            },
            given: BTreeMap::new(),
            start_when: None,
            built_in_codes: Vec::new(),
            seats: None,
            dashboard: true,
            exchanges: true,
            exchanges_bytes_max: 100,
            program: None,
        }
    }

    #[test]
    fn what_is_within_is_allowed_and_what_is_beyond_is_named_with_its_flag() {
        assert_eq!(
            QUOTA.check(
                &plan(),
                Usage {
                    leagues: 1,
                    programs: 0
                }
            ),
            Ok(())
        );
        let program = ProgramPlan {
            command: "rules".to_owned(),
            time: Duration::from_secs(1),
            memory_bytes: 1,
        };
        for (plan, leagues, flag) in [
            (plan(), 2, "--quota-leagues"),
            (
                LeaguePlan {
                    league: LeagueSettings {
                        players_max: 11,
                        ..LeagueSettings::default()
                    },
                    ..plan()
                },
                0,
                "--quota-players",
            ),
            (
                LeaguePlan {
                    exchanges_bytes_max: 101,
                    ..plan()
                },
                0,
                "--exchanges-bytes-max",
            ),
            (
                LeaguePlan {
                    program: Some(program),
                    ..plan()
                },
                0,
                "--quota-programs",
            ),
        ] {
            let refused = QUOTA
                .check(
                    &plan,
                    Usage {
                        leagues,
                        programs: 0,
                    },
                )
                .unwrap_err();
            assert!(refused.contains(flag), "{refused}");
        }
        let keeps_nothing = LeaguePlan {
            exchanges: false,
            exchanges_bytes_max: 101,
            ..plan()
        };
        assert_eq!(QUOTA.check(&keeps_nothing, Usage::default()), Ok(()));
    }
}
