//! A season: leagues over the same players, one after the other. A fold over events of the service, and what to do next. Pure.

use super::schedule::Schedule;
use crate::league::LeaguePlan;
use matchday_core::protocol::{LeagueId, Timestamp};
use matchday_stats::Results;
use matchday_stats::season::{KnownBy, SeasonRow, season_table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// What a season is created with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SeasonPlan {
    /// Five cron fields, or local times; `None` if leagues are started on demand alone.
    #[serde(default)]
    pub(super) schedule: Option<String>,
    pub(super) time_zone: String,
    /// Every league of the season is made from it, with an id of its own.
    pub(super) league: LeaguePlan,
}

impl SeasonPlan {
    /// When the first league after this time starts, if there is a schedule.
    pub(super) fn next_run(&self, after: Timestamp) -> Result<Option<Timestamp>, String> {
        let Some(line) = &self.schedule else {
            return Ok(None);
        };
        Ok(Schedule::parse(line, &self.time_zone)?.next_run(after))
    }

    /// Whether it has times, and all of them have passed.
    pub(super) fn is_over(&self, now: Timestamp) -> Result<bool, String> {
        Ok(self.schedule.is_some() && self.next_run(now)?.is_none())
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum SeasonEvent {
    Created {
        plan: Box<SeasonPlan>,
    },
    /// Its next league exists, and takes registrations until it starts.
    LeagueCreated {
        number: u32,
        league_id: LeagueId,
        /// `None`: on demand.
        starts_at: Option<Timestamp>,
    },
    LeagueStarted,
    /// The league could not be started at its time, and is due at another.
    StartSkipped {
        why: String,
        starts_at: Option<Timestamp>,
    },
    /// With what the table of the season goes by, so that the league itself may be archived.
    LeagueEnded {
        results: Results,
    },
    /// Its next leagues are made from another plan.
    Configured {
        plan: Box<SeasonPlan>,
    },
    Paused,
    Resumed {
        starts_at: Option<Timestamp>,
    },
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeasonState {
    Active,
    /// No league is started by schedule.
    Paused,
    /// No league follows.
    Ended,
}

#[derive(Debug, Clone)]
pub(super) struct SeasonLeague {
    pub(super) league_id: LeagueId,
    pub(super) number: u32,
    /// Once it is over.
    pub(super) results: Option<Arc<Results>>,
}

#[derive(Debug, Clone)]
pub(super) struct Season {
    pub(super) plan: SeasonPlan,
    pub(super) state: SeasonState,
    pub(super) leagues: Vec<SeasonLeague>,
    /// The table of the leagues that are over, once it was asked for.
    table: Arc<OnceLock<Vec<SeasonRow>>>,
    /// When the current league starts, if it has not started and does not wait for an order.
    pub(super) starts_at: Option<Timestamp>,
    pub(super) started: bool,
    /// Why the last start was skipped.
    pub(super) skipped: Option<String>,
}

/// What is to be done for a season now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    CreateLeague,
    Start(LeagueId),
    /// To see whether the current league is over.
    Look(LeagueId),
    Nothing,
}

impl Season {
    pub(super) fn new(plan: SeasonPlan) -> Self {
        let leagues = Vec::new();
        let starts_at = None;
        Self {
            plan,
            state: SeasonState::Active,
            leagues,
            table: Arc::default(),
            starts_at,
            started: false,
            skipped: None,
        }
    }

    pub(super) fn apply(&mut self, event: &SeasonEvent) {
        match event {
            SeasonEvent::Created { .. } => {}
            SeasonEvent::LeagueCreated {
                number,
                league_id,
                starts_at,
            } => {
                self.leagues.push(SeasonLeague {
                    league_id: league_id.clone(),
                    number: *number,
                    results: None,
                });
                (self.starts_at, self.started) = (*starts_at, false);
            }
            SeasonEvent::LeagueStarted => {
                (self.starts_at, self.started, self.skipped) = (None, true, None);
            }
            SeasonEvent::StartSkipped { why, starts_at } => {
                (self.starts_at, self.skipped) = (*starts_at, Some(why.clone()));
            }
            SeasonEvent::LeagueEnded { results } => {
                if let Some(league) = self.leagues.last_mut() {
                    league.results = Some(Arc::new(results.clone()));
                }
                self.table = Arc::default();
            }
            SeasonEvent::Configured { plan } => self.plan = (**plan).clone(),
            SeasonEvent::Paused => self.state = SeasonState::Paused,
            SeasonEvent::Resumed { starts_at } => {
                (self.state, self.starts_at) = (SeasonState::Active, *starts_at);
            }
            SeasonEvent::Ended => (self.state, self.starts_at) = (SeasonState::Ended, None),
        }
    }

    /// The league that takes registrations or is played.
    pub(super) fn current(&self) -> Option<&SeasonLeague> {
        self.leagues
            .last()
            .filter(|league| league.results.is_none())
    }

    /// The league at the season's address: the current one, else the last.
    pub(super) fn address(&self) -> Option<&SeasonLeague> {
        self.leagues.last()
    }

    pub(super) fn next(&self, now: Timestamp) -> Next {
        let Some(current) = self.current() else {
            return if self.state == SeasonState::Ended {
                Next::Nothing
            } else {
                Next::CreateLeague
            };
        };
        let is_due = self.starts_at.is_some_and(|at| at <= now);
        match self.state {
            SeasonState::Active if is_due => Next::Start(current.league_id.clone()),
            _ => Next::Look(current.league_id.clone()),
        }
    }

    /// Points and ratings over the leagues that are over.
    pub(super) fn table(&self) -> &[SeasonRow] {
        self.table
            .get_or_init(|| season_table(&self.ended(), KnownBy::Name))
    }

    /// How many leagues are over.
    pub(super) fn played(&self) -> usize {
        let played = self
            .leagues
            .iter()
            .filter(|league| league.results.is_some());
        played.count()
    }

    /// Each league that is over, with its results.
    pub(super) fn ended(&self) -> Vec<(String, Results)> {
        let ended = self.leagues.iter().filter_map(|league| {
            Some((
                league.league_id.to_string(),
                (**league.results.as_ref()?).clone(),
            ))
        });
        ended.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::league::LeagueSettings;
    use std::time::Duration;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap().0
    }

    fn plan(schedule: Option<&str>) -> SeasonPlan {
        let league = LeaguePlan {
            league: LeagueSettings::default(),
            given: Default::default(),
            start_when: None,
            built_in_codes: Vec::new(),
            seats: None,
            dashboard: true,
            exchanges: false,
            exchanges_bytes_max: 0,
            program: None,
        };
        SeasonPlan {
            schedule: schedule.map(str::to_owned),
            time_zone: "Europe/Berlin".to_owned(),
            league,
        }
    }

    fn created(number: u32, starts_at: Option<Timestamp>) -> SeasonEvent {
        SeasonEvent::LeagueCreated {
            number,
            league_id: LeagueId::new(format!("nightly_{number}")),
            starts_at,
        }
    }

    #[test]
    fn a_nightly_season_starts_each_league_at_its_time_and_opens_the_next_when_it_is_over() {
        let plan = plan(Some("0 22 * * *"));
        let mut season = Season::new(plan.clone());
        let mut now = at("2026-11-17T12:00:00Z");
        for number in 1..=3_u32 {
            assert_eq!(season.next(now), Next::CreateLeague);
            let starts_at = plan.next_run(now).unwrap();
            season.apply(&created(number, starts_at));
            let id = LeagueId::new(format!("nightly_{number}"));
            let due = starts_at.unwrap();
            assert_eq!(
                due.to_string(),
                format!("2026-11-{}T21:00:00Z", 16 + number)
            );
            assert_eq!(
                season.next(due - Duration::from_secs(1)),
                Next::Look(id.clone())
            );
            assert_eq!(season.next(due), Next::Start(id.clone()));
            season.apply(&SeasonEvent::LeagueStarted);
            assert_eq!(season.next(due), Next::Look(id));
            season.apply(&SeasonEvent::LeagueEnded {
                results: Results::default(),
            });
            now = due + Duration::from_secs(3600);
        }
        season.apply(&SeasonEvent::Ended);
        assert_eq!(season.next(now), Next::Nothing);
    }

    #[test]
    fn a_league_that_takes_longer_than_a_night_lets_a_night_pass() {
        let plan = plan(Some("0 22 * * *"));
        assert_eq!(
            plan.next_run(at("2026-11-18T23:30:00Z")).unwrap(),
            Some(at("2026-11-19T21:00:00Z"))
        );
    }

    #[test]
    fn a_paused_season_and_one_on_demand_start_nothing_by_themselves() {
        let now = at("2026-11-17T12:00:00Z");
        let mut season = Season::new(plan(None));
        season.apply(&created(1, None));
        assert_eq!(
            season.next(now + Duration::from_secs(1 << 30)),
            Next::Look(LeagueId::new("nightly_1"))
        );
        season.apply(&SeasonEvent::Resumed {
            starts_at: Some(now),
        });
        season.apply(&SeasonEvent::Paused);
        assert_eq!(season.next(now), Next::Look(LeagueId::new("nightly_1")));
    }
}
