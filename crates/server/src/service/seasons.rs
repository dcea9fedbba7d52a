//! Seasons: creates and starts their leagues when it is time, and takes down what came of them.

use super::api::types::{ConfigureSeason, CreateSeason, LeagueSpec};
use super::changes::check_id;
use super::cluster::{Cluster, PeerCall};
use super::quota::Usage;
use super::registry::{Registered, ServiceEvent};
use super::season::{Next, Season, SeasonEvent, SeasonPlan, SeasonState};
use super::slot::SlotState;
use super::{Service, ServiceError, lock};
use crate::league::NewLeague;
use crate::relay::{Inherited, Relay};
use anyhow::{Result, anyhow};
use matchday_audit::league_log::LeagueLog;
use matchday_audit::statistics::of_league;
use matchday_core::league::{CarriedOver, Format};
use matchday_core::protocol::messages::{AgentRole, Phase};
use matchday_core::protocol::{DisplayName, LeagueId, Timestamp};
use matchday_stats::Results;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A league without two players that can be reached would be one of forfeits alone.
const PLAYERS_MIN: usize = 2;
/// How long the service waits after a failure before it tries again.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// What the service remembers of seasons besides its log.
#[derive(Debug, Default)]
pub(super) struct SeasonMemory {
    /// Leagues that were not over when they were last unloaded.
    seen_asleep: BTreeSet<u32>,
    /// When a season whose last step failed is tried again.
    retry_at: BTreeMap<LeagueId, Timestamp>,
}

fn no_season(name: &LeagueId) -> ServiceError {
    ServiceError::NoSeason(name.clone())
}

impl Service {
    pub(super) fn season(&self, name: &LeagueId) -> Option<Season> {
        lock(&self.registry).season(name).cloned()
    }

    /// The league that an address names: that of a season is its current league.
    pub(super) fn league_at(&self, id: &LeagueId) -> LeagueId {
        let registry = lock(&self.registry);
        let league = registry.season(id).and_then(Season::address);
        league.map_or_else(|| id.clone(), |league| league.league_id.clone())
    }

    /// Refuses what would take the current league away from its season.
    pub(super) fn refuse_current(&self, id: &LeagueId) -> Result<(), ServiceError> {
        let registry = lock(&self.registry);
        let holder = registry.seasons().find(|(_, season)| {
            let is_current = season
                .current()
                .is_some_and(|league| league.league_id == *id);
            is_current && season.state != SeasonState::Ended
        });
        match holder {
            None => Ok(()),
            Some((name, _)) => Err(ServiceError::Conflict(format!(
                "{id} is the current league of the season {name}: end that first with `matchday season end {name}`"
            ))),
        }
    }

    /// Creates a season with its first league, which takes registrations at once.
    pub(super) async fn create_season(
        &self,
        spec: CreateSeason,
    ) -> Result<NewLeague, ServiceError> {
        let changing = self.changing.lock().await;
        let CreateSeason {
            name,
            schedule,
            time_zone,
            settings,
            roster,
        } = spec;
        check_id(&name)
            .map_err(|why| ServiceError::Invalid(why.replacen("league_id", "name", 1)))?;
        let season_id = LeagueId::new(&name);
        let taken = {
            let registry = lock(&self.registry);
            registry.season(&season_id).is_some() || registry.get(&season_id).is_some()
        };
        if taken {
            return Err(ServiceError::Conflict(format!(
                "the name {name} is taken by a season or a league: choose another"
            )));
        }
        let mut made = (self.settings.planner)(LeagueSpec {
            league_id: name,
            settings,
            roster,
        })
        .map_err(|error| ServiceError::Invalid(format!("{error:#}")))?;
        check_template(&made)?;
        // Before its program runs for the first time.
        self.check_quota(&season_id, &made.plan)?;
        made.plan
            .describe_program()
            .await
            .map_err(|error| ServiceError::Invalid(format!("{error:#}")))?;
        let time_zone = time_zone.unwrap_or_else(|| "UTC".to_owned());
        let plan = SeasonPlan {
            schedule,
            time_zone,
            league: made.plan.clone(),
        };
        if plan
            .is_over(self.settings.host.now())
            .map_err(ServiceError::Invalid)?
        {
            return Err(ServiceError::Invalid(
                "schedule: all of its times are over".to_owned(),
            ));
        }
        let season = Season::new(plan.clone());
        let created = ServiceEvent::Season {
            name: season_id.clone(),
            change: SeasonEvent::Created {
                plan: Box::new(plan),
            },
        };
        let events = [vec![created], self.next_league(&season_id, &season)?].concat();
        self.record(&events).await?;
        drop(changing);
        Ok(made)
    }

    /// Changes with what the following leagues are created, and when they start. The league that takes registrations now keeps its
    /// settings.
    pub(super) async fn configure_season(
        &self,
        name: &LeagueId,
        change: ConfigureSeason,
    ) -> Result<(), ServiceError> {
        let season = self.season(name).ok_or_else(|| no_season(name))?;
        let before = &season.plan;
        let ConfigureSeason {
            schedule,
            time_zone,
            settings,
            roster,
        } = change;
        let settings = settings.unwrap_or_else(|| before.league.given.clone());
        let keeps_players = roster.is_none();
        let mut made = (self.settings.planner)(LeagueSpec {
            league_id: name.to_string(),
            settings,
            roster,
        })
        .map_err(|error| ServiceError::Invalid(format!("{error:#}")))?;
        check_template(&made)?;
        let league = &mut made.plan;
        league.league.operator_token = before.league.league.operator_token;
        league
            .built_in_codes
            .clone_from(&before.league.built_in_codes);
        if let (Some(seats), Some(had)) = (&mut league.seats, &before.league.seats) {
            seats.authorization.clone_from(&had.authorization);
        }
        // Referees keep the codes that they were given.
        let mut places = before.league.league.roster.clone();
        if !keeps_players {
            places.retain(|invitation| invitation.role == AgentRole::Referee);
            let players = std::mem::take(&mut league.league.roster).into_iter();
            places.extend(players.filter(|invitation| invitation.role == AgentRole::Player));
        }
        league.league.roster = places;
        self.check_quota(name, league)?;
        league
            .describe_program()
            .await
            .map_err(|error| ServiceError::Invalid(format!("{error:#}")))?;
        let plan = SeasonPlan {
            schedule: schedule.or_else(|| before.schedule.clone()),
            time_zone: time_zone.unwrap_or_else(|| before.time_zone.clone()),
            league: made.plan,
        };
        let starts_at = plan
            .next_run(self.settings.host.now())
            .map_err(ServiceError::Invalid)?;
        if plan == *before {
            return Ok(());
        }
        let is_rescheduled =
            (&plan.schedule, &plan.time_zone) != (&before.schedule, &before.time_zone);
        self.note_season(
            name,
            SeasonEvent::Configured {
                plan: Box::new(plan),
            },
        )
        .await?;
        // A season that ended with the last of its times goes on with others.
        let goes_on = match season.state {
            SeasonState::Active => is_rescheduled,
            SeasonState::Ended => is_rescheduled && starts_at.is_some(),
            SeasonState::Paused => false,
        };
        if goes_on {
            let starts_at = starts_at.filter(|_| !season.started);
            self.note_season(name, SeasonEvent::Resumed { starts_at })
                .await?;
        }
        Ok(())
    }

    /// The events that create the next league of a season.
    fn next_league(
        &self,
        name: &LeagueId,
        season: &Season,
    ) -> Result<Vec<ServiceEvent>, ServiceError> {
        let in_store = self.number_in_store()?;
        let registry = lock(&self.registry);
        let free = |count: &usize| {
            registry
                .get(&LeagueId::new(format!("{name}_{count}")))
                .is_none()
        };
        let count = (season.leagues.len() + 1..)
            .find(free)
            .unwrap_or(usize::MAX);
        let league_id = LeagueId::new(format!("{name}_{count}"));
        let mut plan = season.plan.league.clone();
        plan.league.league_id = league_id.clone();
        let mut usage = Usage::default();
        registry
            .leagues()
            .for_each(|(_, league)| usage.add(&league.plan));
        self.settings
            .quota
            .check(&plan, usage)
            .map_err(ServiceError::Conflict)?;
        let number = registry.next_number(in_store);
        let now = self.settings.host.now();
        let starts_at = match season.state {
            SeasonState::Active => season.plan.next_run(now).map_err(ServiceError::Invalid)?,
            SeasonState::Paused | SeasonState::Ended => None,
        };
        let change = SeasonEvent::LeagueCreated {
            number,
            league_id,
            starts_at,
        };
        Ok(vec![
            ServiceEvent::LeagueCreated {
                number,
                plan: Box::new(plan),
            },
            ServiceEvent::Season {
                name: name.clone(),
                change,
            },
        ])
    }

    async fn note_season(&self, name: &LeagueId, change: SeasonEvent) -> Result<()> {
        self.record(&[ServiceEvent::Season {
            name: name.clone(),
            change,
        }])
        .await
    }

    /// Starts the current league now. One that is over makes way for the next first.
    pub(super) async fn run_season(
        &self,
        name: &LeagueId,
    ) -> Result<(LeagueId, Option<Timestamp>), ServiceError> {
        let now = self.settings.host.now();
        let season = || self.season(name).ok_or_else(|| no_season(name));
        for _ in 0..2 {
            let next = season()?.next(Timestamp::EPOCH);
            self.advance_season(name, next, now).await?;
        }
        let season = season()?;
        let current = season
            .current()
            .filter(|_| season.state != SeasonState::Ended);
        let Some(current) = current.map(|league| league.league_id.clone()) else {
            return Err(ServiceError::Conflict(format!(
                "the season {name} has ended: no league of it can be started"
            )));
        };
        if season.started {
            return Err(ServiceError::Conflict(format!(
                "{current} of the season {name} is being played, or its last messages are on their way: the next league can be \
                 started when it is over"
            )));
        }
        self.start_league(&current)
            .await
            .map_err(ServiceError::Conflict)?;
        self.note_season(name, SeasonEvent::LeagueStarted).await?;
        Ok((current, season.starts_at))
    }

    pub(super) async fn pause_season(
        &self,
        name: &LeagueId,
        pause: bool,
    ) -> Result<(), ServiceError> {
        let season = self.season(name).ok_or_else(|| no_season(name))?;
        let change = match (season.state, pause) {
            (SeasonState::Active, true) => SeasonEvent::Paused,
            (SeasonState::Paused, false) => {
                let now = self.settings.host.now();
                let starts_at = season.plan.next_run(now).map_err(ServiceError::Invalid)?;
                SeasonEvent::Resumed {
                    starts_at: starts_at.filter(|_| !season.started),
                }
            }
            (SeasonState::Ended, _) => {
                return Err(ServiceError::Conflict(format!(
                    "the season {name} has ended"
                )));
            }
            // It is so already.
            _ => return Ok(()),
        };
        Ok(self.note_season(name, change).await?)
    }

    /// Ends a season. A league that has not started is removed; one that is being played is finished.
    pub(super) async fn end_season(&self, name: &LeagueId) -> Result<(), ServiceError> {
        let season = self.season(name).ok_or_else(|| no_season(name))?;
        if season.state == SeasonState::Ended {
            return Ok(());
        }
        self.note_season(name, SeasonEvent::Ended).await?;
        match season.current().filter(|_| !season.started) {
            Some(current) => match self.elsewhere(&current.league_id) {
                None => self.delete(&current.league_id).await,
                Some((cluster, number)) => {
                    let call = PeerCall::DeleteLeague {
                        league_id: current.league_id.clone(),
                    };
                    Ok(cluster.call(number, &call).await.map(drop)?)
                }
            },
            None => Ok(()),
        }
    }

    /// The seasons for which something is to be done now.
    pub(super) fn seasons_due(&self, now: Timestamp) -> Vec<(LeagueId, Next)> {
        let registry = lock(&self.registry);
        let memory = lock(&self.season_memory);
        let rests = |name: &LeagueId| memory.retry_at.get(name).is_some_and(|at| *at > now);
        let seasons = registry.seasons().filter(|(name, _)| !rests(name));
        let due = seasons.map(|(name, season)| (name.clone(), season.next(now)));
        due.filter(|(_, next)| *next != Next::Nothing).collect()
    }

    pub(super) async fn look_at_season(&self, name: LeagueId, next: Next, now: Timestamp) {
        if let Err(error) = self.advance_season(&name, next, now).await {
            (self.settings.notice)(&format!("season {name}: {error} - tried again in a minute"));
            lock(&self.season_memory)
                .retry_at
                .insert(name, now + RETRY_AFTER);
        }
    }

    async fn advance_season(
        &self,
        name: &LeagueId,
        next: Next,
        now: Timestamp,
    ) -> Result<(), ServiceError> {
        match next {
            Next::Nothing => {}
            Next::CreateLeague => {
                let _alone = self.changing.lock().await;
                let season = self.season(name).ok_or_else(|| no_season(name))?;
                if season.next(now) == Next::CreateLeague {
                    let events = match season.plan.is_over(now).map_err(ServiceError::Invalid)? {
                        true => vec![ServiceEvent::Season {
                            name: name.clone(),
                            change: SeasonEvent::Ended,
                        }],
                        false => self.next_league(name, &season)?,
                    };
                    self.record(&events).await?;
                }
            }
            Next::Start(id) => {
                let started = self.start_league(&id).await;
                let season = self.season(name).ok_or_else(|| no_season(name))?;
                let change = match started {
                    Ok(()) => SeasonEvent::LeagueStarted,
                    Err(why) => {
                        (self.settings.notice)(&format!(
                            "season {name}: {id} could not be started: {why}"
                        ));
                        let telemetry = &self.settings.host.options.telemetry;
                        let skipped = &telemetry.metrics.service.starts_skipped;
                        skipped.fetch_add(1, Ordering::Relaxed);
                        let starts_at = season.plan.next_run(now).map_err(ServiceError::Invalid)?;
                        SeasonEvent::StartSkipped { why, starts_at }
                    }
                };
                self.note_season(name, change).await?;
            }
            Next::Look(id) => {
                if let Some(results) = self.results_if_over(&id).await? {
                    self.note_season(name, SeasonEvent::LeagueEnded { results })
                        .await?;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn start_league(&self, id: &LeagueId) -> Result<(), String> {
        if let Some((cluster, number)) = self.elsewhere(id) {
            let started = cluster
                .call(
                    number,
                    &PeerCall::StartLeague {
                        league_id: id.clone(),
                    },
                )
                .await;
            return started.map(drop).map_err(|error| error.to_string());
        }
        let (hosted, _guard) = self
            .league(id)
            .await
            .map_err(|_| format!("league {id} cannot be loaded"))?;
        hosted.running.referees_are_registered().await;
        hosted.running.players_answer(PLAYERS_MIN).await?;
        hosted.running.starter().start().await
    }

    /// The results of a league that is over and has told everyone so. One that has not begun yet is loaded, so that its players
    /// hear of it.
    async fn results_if_over(&self, id: &LeagueId) -> Result<Option<Results>> {
        if let Some((cluster, number)) = self.elsewhere(id) {
            let over = cluster
                .call(
                    number,
                    &PeerCall::IsOver {
                        league_id: id.clone(),
                    },
                )
                .await?;
            return if over == Value::Bool(true) {
                self.results(number).await
            } else {
                Ok(None)
            };
        }
        let Some(registered) = self.registered(id) else {
            return Ok(None);
        };
        let number = registered.number;
        if !self.is_over_here(id, number).await? {
            return Ok(None);
        }
        self.results(number).await
    }

    /// The league, if another service has it.
    fn elsewhere(&self, id: &LeagueId) -> Option<(&Cluster, u32)> {
        let cluster = self.cluster.as_deref()?;
        let number = self.registered(id)?.number;
        (!cluster.owns(number)).then_some((cluster, number))
    }

    /// Whether a league of this service may be over, for the one that has its season.
    pub(super) async fn is_over(&self, id: &LeagueId) -> Result<bool, ServiceError> {
        let number = self
            .registered(id)
            .ok_or_else(|| ServiceError::NotFound(id.clone()))?
            .number;
        Ok(self.is_over_here(id, number).await?)
    }

    /// Whether a league may be over: its log says so for certain.
    async fn is_over_here(&self, id: &LeagueId, number: u32) -> Result<bool> {
        let slot = self.slot(number);
        let running = match slot.try_lock().as_deref() {
            Ok(SlotState::Awake(running)) => Some(running.clone()),
            Ok(SlotState::Asleep) => None,
            _ => return Ok(false),
        };
        match running {
            Some(running) => {
                lock(&self.season_memory).seen_asleep.remove(&number);
                if !running.running.is_over_and_told().await {
                    return Ok(false);
                }
            }
            None if !lock(&self.season_memory).seen_asleep.insert(number) => return Ok(false),
            None if !self.has_begun(number)? => {
                // What is wrong has been said, and is shown to those who ask.
                let _ = self.league(id).await;
                return Ok(false);
            }
            None => {}
        }
        Ok(true)
    }

    async fn results(&self, number: u32) -> Result<Option<Results>> {
        let log = self.read_log(number).await?;
        Ok((log.league.phase == Phase::Completed).then(|| of_league(&log.league)))
    }

    async fn read_log(&self, number: u32) -> Result<LeagueLog> {
        let location = self.location(number);
        let read = tokio::task::spawn_blocking(move || LeagueLog::load(&location.open()?));
        Ok(read.await.map_err(|error| anyhow!(error))??)
    }

    /// The season of a league, and the number of the league before it there, if both are still held here.
    pub(super) fn season_of(&self, number: u32) -> (Option<LeagueId>, Option<u32>) {
        let registry = lock(&self.registry);
        let found = registry.seasons().find_map(|(name, season)| {
            let place = season
                .leagues
                .iter()
                .position(|league| league.number == number)?;
            let before = place
                .checked_sub(1)
                .and_then(|before| season.leagues.get(before));
            Some((name.clone(), before.map(|league| league.number)))
        });
        let (name, before) = found.unzip();
        let held = |number: &u32| registry.by_number(*number).is_some();
        (name, before.flatten().filter(held))
    }

    /// The leagues after which there is another in their season.
    pub(super) fn followed(&self) -> BTreeSet<u32> {
        let registry = lock(&self.registry);
        let seasons = registry.seasons();
        seasons
            .flat_map(|(_, season)| season.leagues.iter().rev().skip(1))
            .map(|league| league.number)
            .collect()
    }

    /// What a league that has not begun takes over from the one before it: the players that its roster has, if it has one, and the
    /// mailboxes.
    pub(super) async fn taken_over(
        &self,
        league: &Registered,
        before: u32,
    ) -> Result<(Vec<CarriedOver>, Inherited)> {
        if self.has_begun(league.number)? {
            return Ok(Default::default());
        }
        let roster = &league.plan.league.roster;
        let names: BTreeSet<&DisplayName> = roster
            .iter()
            .filter(|invitation| invitation.role == AgentRole::Player)
            .filter_map(|invitation| invitation.name.as_ref())
            .collect();
        let mut players = self.read_log(before).await?.league.to_carry_over();
        players.retain(|player| names.is_empty() || names.contains(player.display_name()));
        let store = self.store.in_league(before);
        let mailboxes = Relay::mailboxes_of(store, self.settings.host.clock())?;
        Ok((players, mailboxes))
    }
}

fn check_template(made: &NewLeague) -> Result<(), ServiceError> {
    let invalid = |why: &str| Err(ServiceError::Invalid(why.to_owned()));
    if made.plan.start_when.is_some() {
        return invalid(
            "start-when: the leagues of a season start by its schedule, or by `matchday season run`: leave it out",
        );
    }
    if made.plan.league.competition.format == Format::Ladder {
        return invalid(
            "format: a ladder has no end, so that no league could follow it: create it with `matchday league create`",
        );
    }
    Ok(())
}
