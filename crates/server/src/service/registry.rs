//! The leagues of a service, as a fold over the service's own log: one event creates a league, one removes it, so that a crash
//! leaves no league half-created. Reads and appends that log.

use super::season::{Season, SeasonEvent};
use crate::league::LeaguePlan;
use anyhow::{Context, Result};
use matchday_core::event_codec;
use matchday_core::protocol::token::TokenHash;
use matchday_core::protocol::{LeagueId, Timestamp};
use matchday_store::leagues::NO_LEAGUE;
use matchday_store::{Batch, Durability, Store, StoreFailed, Stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tokio::sync::oneshot;

/// What a service must not forget.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ServiceEvent {
    /// Who may create and remove leagues.
    ServiceTokenSet {
        token: TokenHash,
    },
    /// Where the leagues of services that share a store are reached: agents keep these addresses, whichever service has their league.
    PublicUrlSet {
        url: String,
    },
    /// A league exists under this number, which no other ever has.
    LeagueCreated {
        number: u32,
        plan: Box<LeaguePlan>,
    },
    LeagueConfigured {
        number: u32,
        plan: Box<LeaguePlan>,
    },
    /// It was written to a file, and its rows are to be removed.
    LeagueArchived {
        number: u32,
        file: String,
    },
    /// Its rows are to be removed.
    LeagueDeleted {
        number: u32,
    },
    Season {
        name: LeagueId,
        change: SeasonEvent,
    },
}

#[derive(Debug, Clone)]
pub(super) struct Registered {
    pub(super) number: u32,
    pub(super) plan: LeaguePlan,
    pub(super) created_at: Timestamp,
}

#[derive(Debug, Default)]
pub(super) struct Registry {
    pub(super) service_token: Option<TokenHash>,
    pub(super) public_url: Option<String>,
    leagues: BTreeMap<LeagueId, Registered>,
    ids: BTreeMap<u32, LeagueId>,
    seasons: BTreeMap<LeagueId, Season>,
    /// The highest number that a league ever had.
    number_max: u32,
    /// How many events of the log it holds.
    pub(super) applied: u64,
}

impl Registry {
    /// Whether the events are there that the owner of a shared store records first.
    pub(super) fn is_begun(&self) -> bool {
        self.service_token.is_some() && self.public_url.is_some()
    }

    /// What the log of a store says.
    pub(super) fn read(store: &Store) -> Result<Self> {
        let mut registry = Self::default();
        for stored in store.in_league(NO_LEAGUE).load(&Stream::service())? {
            let (at, event) = event_codec::decode(&stored.line).with_context(|| {
                format!("event {} of the service cannot be understood", stored.seq)
            })?;
            registry.apply(at, &event);
        }
        Ok(registry)
    }

    /// Stores an event and applies it.
    pub(super) async fn record(
        &mut self,
        store: &Store,
        at: Timestamp,
        event: &ServiceEvent,
    ) -> Result<()> {
        append(store, at, std::slice::from_ref(event)).await?;
        self.apply(at, event);
        Ok(())
    }

    pub(super) fn apply(&mut self, at: Timestamp, event: &ServiceEvent) {
        self.applied += 1;
        match event {
            ServiceEvent::ServiceTokenSet { token } => self.service_token = Some(*token),
            ServiceEvent::PublicUrlSet { url } => self.public_url = Some(url.clone()),
            ServiceEvent::LeagueCreated { number, plan } => {
                let registered = Registered {
                    number: *number,
                    plan: (**plan).clone(),
                    created_at: at,
                };
                self.ids.insert(*number, plan.league.league_id.clone());
                self.leagues
                    .insert(plan.league.league_id.clone(), registered);
                self.number_max = self.number_max.max(*number);
            }
            ServiceEvent::LeagueConfigured { number, plan } => {
                let id = self.ids.get(number);
                if let Some(league) = id.and_then(|id| self.leagues.get_mut(id)) {
                    league.plan = (**plan).clone();
                }
            }
            ServiceEvent::LeagueArchived { number, .. }
            | ServiceEvent::LeagueDeleted { number } => {
                if let Some(id) = self.ids.remove(number) {
                    self.leagues.remove(&id);
                }
            }
            ServiceEvent::Season {
                name,
                change: SeasonEvent::Created { plan },
            } => {
                self.seasons
                    .insert(name.clone(), Season::new((**plan).clone()));
            }
            ServiceEvent::Season { name, change } => {
                if let Some(season) = self.seasons.get_mut(name) {
                    season.apply(change);
                }
            }
        }
    }

    pub(super) fn get(&self, id: &LeagueId) -> Option<&Registered> {
        self.leagues.get(id)
    }

    pub(super) fn by_number(&self, number: u32) -> Option<&Registered> {
        self.leagues.get(self.ids.get(&number)?)
    }

    pub(super) fn season(&self, name: &LeagueId) -> Option<&Season> {
        self.seasons.get(name)
    }

    /// In the order of their names.
    pub(super) fn seasons(&self) -> impl Iterator<Item = (&LeagueId, &Season)> {
        self.seasons.iter()
    }

    /// In the order of their names.
    pub(super) fn leagues(&self) -> impl ExactSizeIterator<Item = (&LeagueId, &Registered)> {
        self.leagues.iter()
    }

    /// The number of the next league; `in_store` is the highest that the store knows.
    pub(super) fn next_number(&self, in_store: u32) -> u32 {
        self.number_max.max(in_store).saturating_add(1)
    }
}

/// Stores events of the service, all or none.
pub(super) async fn append(store: &Store, at: Timestamp, events: &[ServiceEvent]) -> Result<()> {
    let lines = events
        .iter()
        .map(|event| event_codec::encode(at, event))
        .collect::<Result<_, _>>()?;
    let (tell, told) = oneshot::channel();
    store.in_league(NO_LEAGUE).append(Batch {
        at,
        stream: Stream::service(),
        lines,
        durability: Durability::Fsynced,
        awaited: true,
        then: Box::new(move |outcome: Result<(), StoreFailed>| {
            let _ = tell.send(outcome);
        }),
    });
    told.await.context("the store was closed")??;
    Ok(())
}
