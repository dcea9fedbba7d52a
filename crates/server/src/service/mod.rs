//! Many leagues in one process, behind one address and in one store. Each is loaded when it has something to do and unloaded
//! when it has not; what happens to one touches no other.
//!
//! # Layout
//! - `registry`: all leagues, as a fold over the service's log; `quota`
//! - `league_host`: what all leagues share; `hosted_league`: one that is loaded; `slot`: whether it is; `loading`: when it is
//! - `changes`: creating, configuring and removing leagues; `archive`: moving them into files and back
//! - `season`: a series of leagues; `schedule`: when they start; `seasons`: what the service does for them
//! - `cluster`: several services over one store
//! - `database_away`: what callers are told while the store cannot be reached
//! - `projections`: what readers see of leagues, loaded or not
//! - `http`: the routes; `api`: leagues and seasons for programs; `pages`: the same in a browser

mod api;
mod archive;
mod changes;
mod cluster;
#[cfg(test)]
mod crash_checker;
mod database_away;
mod hosted_league;
mod http;
mod league_host;
mod loading;
mod pages;
mod projections;
mod quota;
mod registry;
mod schedule;
mod season;
mod seasons;
mod slot;

pub use api::types as api_types;
pub use api_types::LeagueSpec;
pub use cluster::PeerSettings;
pub use http::serve;
pub use league_host::LeagueHost;
pub use quota::Quota;

use crate::dashboard::Source;
use crate::league::NewLeague;
use anyhow::{Result, bail};
use cluster::Cluster;
use matchday_audit::transfer;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::{LeagueId, Timestamp, Token};
use matchday_store::leagues::NO_LEAGUE;
use matchday_store::{LeagueChoice, Location, Store};
use projections::Projections;
use registry::{Registered, Registry, ServiceEvent};
use slot::Slot;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Makes a plan of what a league's creator asks for.
pub type Planner = Box<dyn Fn(LeagueSpec) -> Result<NewLeague> + Send + Sync>;

/// What a service is started with.
pub struct ServiceSettings {
    pub host: LeagueHost,
    pub quota: Quota,
    pub planner: Planner,
    pub sleep_after: Duration,
    /// Says something in the log of the service.
    pub notice: fn(&str),
}

impl fmt::Debug for ServiceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceSettings").finish_non_exhaustive()
    }
}

pub struct Service {
    store: Store,
    settings: ServiceSettings,
    registry: Mutex<Registry>,
    /// Held while leagues are created or imported, or a changed plan is recorded. Never before the lock of a slot.
    changing: tokio::sync::Mutex<()>,
    /// By number. One that somebody holds stays, so that a league is never loaded twice.
    slots: Mutex<BTreeMap<u32, Arc<Slot>>>,
    /// When leagues that are not loaded have something to do.
    wake_times: Mutex<BTreeMap<u32, Timestamp>>,
    /// The leagues whose logs the counters of this process hold.
    counted: Mutex<BTreeSet<u32>>,
    /// The store of seats, once a league has any: their players keep tokens in clear, which no league's log holds.
    seats_store: Mutex<Option<Store>>,
    season_memory: Mutex<seasons::SeasonMemory>,
    projections: Projections,
    /// How far leagues had come that have slept since.
    progress: Mutex<BTreeMap<u32, api::KnownProgress>>,
    /// The other services, if the store is shared.
    cluster: Option<Arc<Cluster>>,
    /// When the last look at what they recorded began.
    last_registry_look: tokio::sync::Mutex<Option<std::time::Instant>>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("store", self.store.url())
            .finish_non_exhaustive()
    }
}

/// Why a request of the API fails.
#[derive(Debug, thiserror::Error)]
enum ServiceError {
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Conflict(String),
    #[error(
        "there is no league {0} that you may see: `matchday league list` shows those that there are"
    )]
    NotFound(LeagueId),
    #[error(
        "there is no season {0} that you may see: `matchday season list` shows those that there are"
    )]
    NoSeason(LeagueId),
    #[error("nobody is called {0} in a league of this season that is over")]
    NoPlayer(String),
    #[error("{0:#}")]
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for ServiceError {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Why a league does not answer.
#[derive(Debug)]
enum Unavailable {
    NotFound,
    /// Its log is damaged, or it cannot be loaded.
    Quarantined,
    /// Another service owns it, or nobody does just now.
    Elsewhere,
    /// The database that it is in does not answer.
    Unreachable,
}

/// How long a service waits for the first events of another that starts at the same moment and owns the services' log.
const FIRST_EVENTS_MAX: Duration = Duration::from_secs(10);
const FIRST_EVENTS_LOOK_EVERY: Duration = Duration::from_millis(50);
const FAILURE_LOOK_EVERY: Duration = Duration::from_millis(500);
/// Anyone may ask, and why it is away may say where it is.
const STORE_AWAY: &str = "its store is unavailable: its log says why";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    /// Opens the service of a store. `token`: the service token, if one is given. The second value is one that was made, to be
    /// shown once.
    pub async fn open(
        store: Store,
        token: Option<Token>,
        entropy: &mut Entropy,
        settings: ServiceSettings,
        peers: Option<PeerSettings>,
    ) -> Result<(Arc<Self>, Option<Token>)> {
        let metrics = &settings.host.options.telemetry.metrics.cluster;
        let cluster = peers
            .map(|peers| Cluster::new(peers, Arc::clone(metrics)))
            .transpose()?;
        let mut taken = Vec::new();
        let mut records = true;
        if let Some(cluster) = &cluster {
            (records, taken) = cluster.find_registry_owner().await?;
        }
        let mut registry = Registry::read(&store)?;
        let deadline = Instant::now() + FIRST_EVENTS_MAX;
        while !records && !registry.is_begun() && Instant::now() < deadline {
            sleep(FIRST_EVENTS_LOOK_EVERY).await;
            registry = Registry::read(&store)?;
        }
        if registry.service_token.is_none() && !store.leagues()?.is_empty() {
            bail!(
                "{0} is the store of a manager: start the service with a new file, and move this league in with \
                 `matchday league import {0}`",
                store.name()
            );
        }
        let made = match (&token, registry.service_token) {
            (None, None) if records => Some(Token::issue("service", entropy)),
            _ => None,
        };
        if let Some(token) = token.as_ref().or(made.as_ref())
            && registry.service_token != Some(token.hash())
        {
            if !records {
                bail!(
                    "the services that share this store have another service token: start this one with the same, or without any"
                );
            }
            let event = ServiceEvent::ServiceTokenSet {
                token: token.hash(),
            };
            registry.record(&store, settings.host.now(), &event).await?;
        }
        let public_url = &settings.host.public_url;
        if cluster.is_some() && registry.public_url.as_ref() != Some(public_url) {
            if !records {
                let other = registry
                    .public_url
                    .as_deref()
                    .unwrap_or("an address that is not known");
                bail!(
                    "the leagues of this store are reached at {other}, and this service would tell agents {public_url}: start every \
                     service with the same --public-url, that of the load balancer before them"
                );
            }
            let event = ServiceEvent::PublicUrlSet {
                url: public_url.clone(),
            };
            registry.record(&store, settings.host.now(), &event).await?;
        }
        let projections = Projections::new(&settings.host.options.telemetry.metrics.computations);
        let service = Arc::new(Self {
            projections,
            progress: Mutex::default(),
            store,
            settings,
            registry: Mutex::new(registry),
            changing: tokio::sync::Mutex::default(),
            slots: Mutex::default(),
            wake_times: Mutex::default(),
            counted: Mutex::default(),
            seats_store: Mutex::default(),
            season_memory: Mutex::default(),
            cluster: cluster.map(Arc::new),
            last_registry_look: tokio::sync::Mutex::default(),
        });
        let metrics = &service.settings.host.options.telemetry.metrics;
        metrics.service.shown.store(true, Ordering::Relaxed);
        metrics.show_store(&service.store.in_league(service.own_log()));
        match &service.cluster {
            None => service.recover().await?,
            Some(cluster) => service.note_taken(cluster, &taken).await?,
        }
        Ok((service, made))
    }

    /// Removes what a crash left of leagues that were removed, archived or not wholly imported, and notes which have something
    /// to do.
    async fn recover(&self) -> Result<()> {
        let known: BTreeSet<u32> = lock(&self.registry)
            .leagues()
            .map(|(_, league)| league.number)
            .collect();
        for state in self
            .store
            .league_states()?
            .into_iter()
            .filter(|state| !state.removed)
        {
            match (known.contains(&state.number), state.wake_at) {
                (false, _) => self.store.in_league(state.number).remove_league().await?,
                (true, Some(at)) => {
                    lock(&self.wake_times).insert(state.number, at);
                }
                (true, None) => {}
            }
        }
        if self.seats_url().file().is_some_and(Path::exists) {
            let seats = self.seats_store()?;
            let states = seats.league_states()?.into_iter();
            for state in states.filter(|state| !state.removed && !known.contains(&state.number)) {
                seats.in_league(state.number).remove_league().await?;
            }
        }
        Ok(transfer::remove_drafts(&self.archive_folder())?)
    }

    /// Whether this process may load a league and answer for it.
    fn owns(&self, number: u32) -> bool {
        self.cluster
            .as_ref()
            .is_none_or(|cluster| cluster.owns(number))
    }

    fn id_of(&self, number: u32) -> Option<LeagueId> {
        lock(&self.registry)
            .by_number(number)
            .map(|league| league.plan.league.league_id.clone())
    }

    /// The limits of messages to a league.
    fn limits_of(&self, number: u32) -> Limits {
        let known = lock(&self.registry)
            .by_number(number)
            .map(|league| league.plan.league.message_bytes_max);
        let message_bytes_max = known.unwrap_or(Limits::MANAGER.message_bytes_max);
        Limits {
            message_bytes_max,
            ..Limits::MANAGER
        }
    }

    fn registered(&self, id: &LeagueId) -> Option<Registered> {
        lock(&self.registry).get(id).cloned()
    }

    /// Where readers see the league with this number.
    fn source(&self, number: u32) -> Arc<Source> {
        self.projections.of_league(number, || self.location(number))
    }

    fn location(&self, number: u32) -> Location {
        Location {
            store: self.store.url().clone(),
            league: LeagueChoice::Number(number),
        }
    }

    /// The only league, if there is but one.
    fn only_league(&self) -> Option<LeagueId> {
        let registry = lock(&self.registry);
        let mut leagues = registry.leagues();
        leagues
            .next()
            .filter(|_| leagues.len() == 0)
            .map(|(id, _)| id.clone())
    }

    /// Stores everything, and closes the stores.
    pub fn close(&self) -> Result<()> {
        if let Some(seats) = lock(&self.seats_store).take() {
            seats.close()?;
        }
        Ok(self.store.in_league(self.own_log()).close()?)
    }

    /// Why leagues cannot be created or played, for people.
    fn not_ready(&self) -> Option<String> {
        let failure = self.store.in_league(self.own_log()).failure_for_anyone();
        let away = || self.is_store_away().then(|| STORE_AWAY.to_owned());
        failure.or_else(away)
    }

    /// Whether nothing can be read or stored just now, so that no request is worth waiting for.
    fn is_store_away(&self) -> bool {
        self.store.unavailable().is_some()
    }

    /// Returns when nothing can be stored any more, of whichever league: its process is of no use then.
    pub async fn store_failed(&self) {
        while !self.has_failed() {
            sleep(FAILURE_LOOK_EVERY).await;
        }
    }

    fn has_failed(&self) -> bool {
        self.store.in_league(self.own_log()).has_failed()
    }

    /// The number under which a failure is that of the whole service: of a log that was handed over nothing can be stored any more,
    /// which is none.
    fn own_log(&self) -> u32 {
        if self.cluster.is_some() {
            u32::MAX
        } else {
            NO_LEAGUE
        }
    }
}
