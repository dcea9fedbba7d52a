//! The snapshot of the league that all requests share. Reads the store at most every [`REFRESH_EVERY`], on a blocking thread.

use super::access::Access;
use super::projection::Snapshot;
use super::readers::{LeagueReaders, Readers};
use super::shared_computation::{Cost, NotComputed, SharedComputation};
use hyper::StatusCode;
use matchday_store::{Location, StoreError, StoreUrl};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a snapshot is served before the store is read again.
pub(super) const REFRESH_EVERY: Duration = Duration::from_millis(200);
/// After so long there may be many events to read, which is expensive.
const FEW_EVENTS: Duration = Duration::from_secs(10);
/// How long a request waits at most for the first event of a league that this process has just created.
const CREATION_MAX: Duration = Duration::from_secs(5);

/// How many different errors of a league are logged until it can be read again.
const LOGGED_MAX: usize = 16;
/// What a viewer is told of an error that may name the store.
const SEE_LOG: &str = "its operator finds why in the log";

/// Why a league cannot be read.
#[derive(Debug, Clone)]
pub enum ReadError {
    /// Too much else is being computed.
    Busy,
    /// What reads it has panicked.
    Broken,
    Store(Arc<StoreError>),
}

impl From<NotComputed> for ReadError {
    fn from(why: NotComputed) -> Self {
        match why {
            NotComputed::Busy => Self::Busy,
            NotComputed::Broken => Self::Broken,
        }
    }
}

impl ReadError {
    /// The status of a response, and why. Where the store is, only its operator is told.
    pub fn describe(&self, access: Access) -> (StatusCode, String) {
        match self {
            Self::Busy => {
                let why = "too much is being read here at the moment: try again soon";
                (StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
            }
            Self::Broken => (
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("the league cannot be read: {SEE_LOG}"),
            ),
            Self::Store(error) => {
                let is_away = matches!(**error, StoreError::Unreachable { .. });
                let status = if is_away {
                    StatusCode::SERVICE_UNAVAILABLE
                } else {
                    StatusCode::INTERNAL_SERVER_ERROR
                };
                let why = match access.knows_stores() {
                    true => format!("the league cannot be read: {error}"),
                    false if is_away => {
                        "the league cannot be read at the moment: try again soon".to_owned()
                    }
                    false => format!("the league cannot be read: {SEE_LOG}"),
                };
                (status, why)
            }
        }
    }
}

#[derive(Debug)]
pub struct Source {
    /// The manager's store first, then those of other agents.
    stores: Vec<Location>,
    /// Whether the manager that writes to it is this process. Another may begin to at any time.
    pub(super) live: bool,
    seen: Mutex<(Snapshot, Option<Instant>)>,
    reading: Arc<SharedComputation<(), Result<Snapshot, ReadError>>>,
    readers: Arc<LeagueReaders>,
    faults: Mutex<Faults>,
}

/// What was wrong with the stores.
#[derive(Debug, Default)]
struct Faults {
    /// Each is logged once until the league can be read again.
    logged: Vec<String>,
    /// Whether the last refresh failed.
    is_unreadable: bool,
}

impl Source {
    /// Of a league whose manager runs in this process, or begins to when it is asked.
    pub fn live(store: Location, others: Vec<StoreUrl>, readers: Arc<LeagueReaders>) -> Arc<Self> {
        Self::new(store, others, true, Snapshot::default(), readers)
    }

    /// Of a league that has its process to itself.
    pub fn alone(store: Location, others: Vec<StoreUrl>) -> Arc<Self> {
        Self::live(
            store,
            others,
            Readers::of_this_machine(Arc::default()).of_league(),
        )
    }

    /// Of a league that is stored; `first`: what was read of it.
    pub(super) fn stored(
        store: Location,
        others: Vec<StoreUrl>,
        first: Snapshot,
        readers: Arc<LeagueReaders>,
    ) -> Arc<Self> {
        Self::new(store, others, false, first, readers)
    }

    fn new(
        store: Location,
        others: Vec<StoreUrl>,
        live: bool,
        first: Snapshot,
        readers: Arc<LeagueReaders>,
    ) -> Arc<Self> {
        let mut stores = vec![store];
        for url in others {
            if !stores
                .iter()
                .any(|known: &Location| known.store.canonical() == url.canonical())
            {
                stores.push(Location::latest(url));
            }
        }
        Arc::new(Self {
            stores,
            live,
            seen: Mutex::new((first, None)),
            reading: SharedComputation::new(Arc::clone(&readers)),
            readers,
            faults: Mutex::default(),
        })
    }

    pub(super) fn readers(&self) -> &Arc<LeagueReaders> {
        &self.readers
    }

    /// How many events the snapshot was made from, which is about how much memory it takes.
    pub fn events(&self) -> u64 {
        self.latest().projection.seq()
    }

    /// All stores, the manager's first.
    pub(super) fn stores(&self) -> &[Location] {
        &self.stores
    }

    /// The file name of the manager's store.
    pub(super) fn name(&self) -> String {
        self.stores
            .first()
            .map_or_else(|| "FILE".to_owned(), |store| store.store.short_name())
    }

    /// The file names of all stores.
    pub(super) fn names(&self) -> Vec<String> {
        self.stores
            .iter()
            .map(|store| store.store.short_name())
            .collect()
    }

    /// The current snapshot, at most [`REFRESH_EVERY`] old.
    pub async fn snapshot(self: &Arc<Self>) -> Result<Snapshot, ReadError> {
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        let source = Arc::clone(self);
        let kept = Arc::clone(self);
        let kept = move || kept.fresh().map(Ok);
        self.reading
            .get((), self.cost(), kept, move || source.refresh())
            .await?
    }

    /// The current snapshot. A league that this process is just creating is waited for.
    pub(super) async fn created_snapshot(self: &Arc<Self>) -> Result<Snapshot, ReadError> {
        let began = Instant::now();
        loop {
            let snapshot = self.snapshot().await?;
            if !self.live || snapshot.projection.league.created || began.elapsed() > CREATION_MAX {
                return Ok(snapshot);
            }
            tokio::time::sleep(REFRESH_EVERY).await;
        }
    }

    /// The snapshot that was read last, however old it is.
    pub(super) fn latest(&self) -> Snapshot {
        self.seen().0.clone()
    }

    fn fresh(&self) -> Option<Snapshot> {
        let seen = self.seen();
        let is_fresh = seen.1.is_some_and(|at| at.elapsed() < REFRESH_EVERY);
        is_fresh.then(|| seen.0.clone())
    }

    fn cost(&self) -> Cost {
        if self.seen().1.is_some_and(|at| at.elapsed() < FEW_EVENTS) {
            Cost::Cheap
        } else {
            Cost::Expensive
        }
    }

    /// Blocks.
    fn refresh(&self) -> Result<Snapshot, ReadError> {
        let next = match self.stores.split_first() {
            Some((first, others)) => self.latest().refresh(first, others).map_err(|error| {
                self.faults().is_unreadable = true;
                self.failed(error)
            })?,
            None => self.latest(),
        };
        *self.seen() = (next.clone(), Some(Instant::now()));
        let mut faults = self.faults();
        if faults.is_unreadable {
            *faults = Faults::default();
        }
        Ok(next)
    }

    /// An error of the manager's store, which is logged.
    pub(super) fn failed(&self, error: StoreError) -> ReadError {
        self.log(&error);
        ReadError::Store(Arc::new(error))
    }

    /// What a viewer is told of another agent's store that cannot be read.
    pub(super) fn describe_other(&self, error: &StoreError, access: Access) -> String {
        self.log(error);
        if access.knows_stores() {
            format!("A store could not be read: {error}.")
        } else {
            format!("A store could not be read: {SEE_LOG}.")
        }
    }

    fn log(&self, error: &StoreError) {
        let text = error.to_string();
        let mut faults = self.faults();
        if faults.logged.len() < LOGGED_MAX && !faults.logged.contains(&text) {
            tracing::warn!(target: "matchday::store", "the league cannot be read: {text}");
            faults.logged.push(text);
        }
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, (Snapshot, Option<Instant>)> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_operator_is_told_where_a_store_is() {
        let away = StoreError::Unreachable {
            store: "postgres://ann@db.example/league".into(),
            why: "refused by db.example".to_owned(),
        };
        let damaged = StoreError::Damaged {
            store: "/home/ann/league.db".into(),
            what: "page 3 of /home/ann".to_owned(),
        };
        for (error, status) in [
            (away, StatusCode::SERVICE_UNAVAILABLE),
            (damaged, StatusCode::INTERNAL_SERVER_ERROR),
        ] {
            let whole = error.to_string();
            let error = ReadError::Store(Arc::new(error));
            let (of_stranger, told) = error.describe(Access::PUBLIC);
            assert!(
                !["ann@", "/home", "db.example"]
                    .iter()
                    .any(|place| told.contains(place)),
                "{told}"
            );
            let (of_operator, in_full) = error.describe(Access::OPERATOR);
            assert!(in_full.ends_with(&whole), "{in_full}");
            assert_eq!((of_stranger, of_operator), (status, status));
        }
    }
}
