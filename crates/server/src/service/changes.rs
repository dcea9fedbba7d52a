//! Creates leagues, changes their settings, and removes them. A change is one event of the service's log.

use super::api::types::LeagueSpec;
use super::cluster::PeerCall;
use super::quota::Usage;
use super::registry::{self, Registered, ServiceEvent};
use super::slot::SlotState;
use super::{Service, ServiceError, lock};
use crate::league::{LeaguePlan, NewLeague};
use anyhow::Result;
use matchday_core::protocol::token::TokenHash;
use matchday_core::protocol::{LeagueId, Timestamp};
use matchday_store::leagues::NO_LEAGUE;
use std::collections::{BTreeMap, BTreeSet};
use tokio::sync::OwnedMutexGuard;

/// Settings from which codes and tokens were handed out.
const FIXED: [&str; 4] = ["operator-token", "referee-code", "referees", "roster"];

fn invalid(error: anyhow::Error) -> ServiceError {
    ServiceError::Invalid(format!("{error:#}"))
}

impl Service {
    /// Creates leagues, all of them or none.
    pub(super) async fn create(
        &self,
        specs: Vec<LeagueSpec>,
    ) -> Result<Vec<NewLeague>, ServiceError> {
        let mut made = Vec::new();
        for spec in specs {
            check_id(&spec.league_id).map_err(ServiceError::Invalid)?;
            made.push(self.plan(spec)?);
        }
        self.check_new(&made)?;
        // A program takes its time, and must not hold up the creation of other leagues.
        for NewLeague { plan, .. } in &mut made {
            plan.describe_program().await.map_err(invalid)?;
        }
        let _alone = self.changing.lock().await;
        let first = self.check_new(&made)?;
        let created = |(number, league): (u32, &NewLeague)| ServiceEvent::LeagueCreated {
            number,
            plan: Box::new(league.plan.clone()),
        };
        let events: Vec<ServiceEvent> = (first..).zip(&made).map(created).collect();
        self.record(&events).await?;
        Ok(made)
    }

    fn plan(&self, spec: LeagueSpec) -> Result<NewLeague, ServiceError> {
        (self.settings.planner)(spec).map_err(invalid)
    }

    /// Whether these leagues may be, and the number of the first.
    fn check_new(&self, made: &[NewLeague]) -> Result<u32, ServiceError> {
        let registry = lock(&self.registry);
        let mut usage = Usage::default();
        registry
            .leagues()
            .for_each(|(_, league)| usage.add(&league.plan));
        let mut ids: BTreeSet<&LeagueId> = registry.leagues().map(|(id, _)| id).collect();
        for NewLeague { plan, .. } in made {
            let id = &plan.league.league_id;
            if registry.season(id).is_some() {
                return Err(ServiceError::Conflict(format!(
                    "{id} is the name of a season: choose another id"
                )));
            }
            if !ids.insert(id) {
                return Err(ServiceError::Conflict(format!(
                    "the league id {id} is taken: choose another"
                )));
            }
            self.settings
                .quota
                .check(plan, usage)
                .map_err(ServiceError::Conflict)?;
            usage.add(plan);
        }
        Ok(registry.next_number(self.number_in_store()?))
    }

    pub(super) fn number_in_store(&self) -> Result<u32> {
        Ok(self
            .store
            .league_states()?
            .last()
            .map_or(0, |state| state.number))
    }

    /// Stores events of the service, where its log is owned.
    pub(super) async fn record(&self, events: &[ServiceEvent]) -> Result<()> {
        if let Some(cluster) = self
            .cluster
            .as_ref()
            .filter(|cluster| !cluster.owns(NO_LEAGUE))
        {
            for event in events {
                cluster
                    .call(NO_LEAGUE, &PeerCall::to_record(event)?)
                    .await?;
            }
            return self.follow_registry().await;
        }
        let now = self.settings.host.now();
        registry::append(&self.store, now, events).await?;
        {
            let mut registry = lock(&self.registry);
            events.iter().for_each(|event| registry.apply(now, event));
        }
        let creates = |event: &ServiceEvent| matches!(event, ServiceEvent::LeagueCreated { .. });
        match &self.cluster {
            Some(cluster) if events.iter().any(creates) => self.make_rows(cluster).await,
            _ => Ok(()),
        }
    }

    /// Changes settings of a league. Those that its log began with stay as they are from its first event on. Returns the code
    /// of seats, if one was made.
    pub(super) async fn configure(
        &self,
        id: &LeagueId,
        settings: BTreeMap<String, String>,
    ) -> Result<Option<String>, ServiceError> {
        let (registered, mut state) = self.held(id).await?;
        let settings: BTreeMap<String, String> = settings
            .into_iter()
            .map(|(key, text)| (key.replace('_', "-"), text))
            .collect();
        if let Some(key) = settings.keys().find(|key| FIXED.contains(&key.as_str())) {
            return Err(ServiceError::Invalid(format!(
                "{key} is set when the league is created: `matchday admin` and `matchday roster` change tokens and codes"
            )));
        }
        let names_seat_code = settings.contains_key("seat-code");
        let mut given = registered.plan.given.clone();
        let NewLeague { plan: before, .. } = self.plan_again(&registered, given.clone())?;
        let program_before = before.program;
        given.extend(settings);
        let NewLeague {
            mut plan,
            mut seat_code,
            ..
        } = self.plan_again(&registered, given)?;
        let before = before.league.with_admission_of(&plan.league);
        if let (Some(seats), Some(had), false) =
            (&mut plan.seats, &registered.plan.seats, names_seat_code)
        {
            seats.authorization.clone_from(&had.authorization);
            seat_code = None;
        }
        self.check_quota(id, &plan)?;
        if !self.has_begun(registered.number)? {
            plan.describe_program().await.map_err(invalid)?;
        } else if plan.league != before || plan.program != program_before {
            return Err(ServiceError::Conflict(format!(
                "{id} has begun, and keeps the settings of the game, the course and the timeouts that it began with: only \
                 registration, agents-per-address, start-when, seats, dashboard and exchanges can change"
            )));
        } else {
            plan.league = registered.plan.league.with_admission_of(&plan.league);
        }
        let _alone = self.changing.lock().await;
        self.check_quota(id, &plan)?;
        self.record(&[ServiceEvent::LeagueConfigured {
            number: registered.number,
            plan: Box::new(plan),
        }])
        .await?;
        if state.unload().await {
            lock(&self.wake_times).insert(registered.number, Timestamp::EPOCH);
        }
        Ok(seat_code)
    }

    /// Records the token that a league's operator has rotated, by which lists judge who may see it.
    pub(super) async fn note_operator_token(&self, number: u32, token: TokenHash) {
        let Some(mut plan) = lock(&self.registry)
            .by_number(number)
            .map(|league| league.plan.clone())
        else {
            return;
        };
        if plan.league.operator_token.replace(token) == Some(token) {
            return;
        }
        let _alone = self.changing.lock().await;
        let event = ServiceEvent::LeagueConfigured {
            number,
            plan: Box::new(plan),
        };
        if let Err(error) = self.record(&[event]).await {
            (self.settings.notice)(&format!(
                "the new operator token of league {number} could not be recorded: {error:#}"
            ));
        }
    }

    /// Whether a league may be changed like this, beside the others.
    pub(super) fn check_quota(&self, id: &LeagueId, plan: &LeaguePlan) -> Result<(), ServiceError> {
        let mut usage = Usage::default();
        let registry = lock(&self.registry);
        let others = registry.leagues().filter(|(other, _)| *other != id);
        others.for_each(|(_, league)| usage.add(&league.plan));
        self.settings
            .quota
            .check(plan, usage)
            .map_err(ServiceError::Conflict)
    }

    /// A league that nobody else loads, unloads, changes or removes meanwhile.
    pub(super) async fn held(
        &self,
        id: &LeagueId,
    ) -> Result<(Registered, OwnedMutexGuard<SlotState>), ServiceError> {
        let not_found = || ServiceError::NotFound(id.clone());
        let number = self.registered(id).ok_or_else(not_found)?.number;
        let state = self.slot(number).lock_owned().await;
        // It may have changed, or gone, before the lock was ours.
        let registered = self
            .registered(id)
            .filter(|registered| registered.number == number);
        Ok((registered.ok_or_else(not_found)?, state))
    }

    /// The plan of a league with other settings. Codes and tokens are those that were handed out.
    fn plan_again(
        &self,
        registered: &Registered,
        settings: BTreeMap<String, String>,
    ) -> Result<NewLeague, ServiceError> {
        let league_id = registered.plan.league.league_id.to_string();
        let mut planned = self.plan(LeagueSpec {
            league_id,
            settings,
            roster: None,
        })?;
        planned
            .plan
            .league
            .roster
            .clone_from(&registered.plan.league.roster);
        planned.plan.league.operator_token = registered.plan.league.operator_token;
        planned
            .plan
            .built_in_codes
            .clone_from(&registered.plan.built_in_codes);
        Ok(planned)
    }

    /// Whether the league has events of its own.
    pub(super) fn has_begun(&self, number: u32) -> Result<bool> {
        let store = self.store.in_league(number);
        Ok(!store.load(&store.manager_stream()?)?.is_empty())
    }

    /// Removes a league for good.
    pub(super) async fn delete(&self, id: &LeagueId) -> Result<(), ServiceError> {
        let (registered, mut state) = self.held(id).await?;
        self.refuse_current(id)?;
        let number = registered.number;
        self.record(&[ServiceEvent::LeagueDeleted { number }])
            .await?;
        state.unload().await;
        *state = SlotState::Removed;
        Ok(self
            .remove_rows(number, registered.plan.seats.is_some())
            .await?)
    }

    pub(super) async fn remove_rows(&self, number: u32, has_seats: bool) -> Result<()> {
        lock(&self.wake_times).remove(&number);
        self.projections.forget(number);
        self.store.in_league(number).remove_league().await?;
        if let Some(cluster) = &self.cluster {
            cluster.mark_removed(number);
        }
        // In a shared store seats are kept in their league's own rows.
        if has_seats && self.cluster.is_none() {
            self.seats_store()?
                .in_league(number)
                .remove_league()
                .await?;
        }
        Ok(())
    }
}

/// The id of a league stands in its address.
pub(super) fn check_id(id: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match (1..=64).contains(&id.len()) && id.chars().all(is_plain) && !id.starts_with('.') {
        true => Ok(()),
        false => Err(format!(
            "league_id: expected 1 to 64 letters, digits, _, - or ., since it stands in the league's address, got {id:?}"
        )),
    }
}
