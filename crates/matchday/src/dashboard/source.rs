//! The snapshot of the league that all requests share. Reads the store at most every [`REFRESH_EVERY`], on a blocking thread.

use super::projection::Snapshot;
use matchday_store::{Location, StoreError};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a snapshot is served before the store is read again.
pub(super) const REFRESH_EVERY: Duration = Duration::from_millis(200);
/// How long a request waits at most for the first event of a league that this process has just created.
const CREATION_MAX: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Source {
    /// The manager's store first, then those of other agents.
    stores: Vec<Location>,
    /// Whether the manager that writes to it is this process. Another may begin to at any time.
    pub(super) live: bool,
    seen: Mutex<(Snapshot, Option<Instant>)>,
    /// Held during a refresh.
    reading: Mutex<()>,
}

impl Source {
    pub(super) fn new(store: Location, others: Vec<PathBuf>, live: bool, first: Snapshot) -> Self {
        let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut stores = vec![store];
        for path in others {
            if !stores.iter().any(|known: &Location| whole(&known.path) == whole(&path)) {
                stores.push(Location::latest(path));
            }
        }
        Self { stores, live, seen: Mutex::new((first, None)), reading: Mutex::new(()) }
    }

    /// All stores, the manager's first.
    pub(super) fn stores(&self) -> &[Location] {
        &self.stores
    }

    /// The file name of the manager's store.
    pub(super) fn name(&self) -> String {
        let file = self.stores.first().and_then(|store| store.path.file_name());
        file.map_or_else(|| "FILE".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The file names of all stores.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.stores.iter().filter_map(|store| store.path.file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// The current snapshot, at most [`REFRESH_EVERY`] old.
    pub(super) async fn snapshot(self: &Arc<Self>) -> Result<Snapshot, StoreError> {
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        let source = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || source.refresh());
        reading.await.unwrap_or_else(|_| Ok(self.latest()))
    }

    /// The current snapshot. A league that this process is just creating is waited for.
    pub(super) async fn created_snapshot(self: &Arc<Self>) -> Result<Snapshot, StoreError> {
        let began = Instant::now();
        loop {
            let snapshot = self.snapshot().await?;
            if !self.live || snapshot.projection.league.created || began.elapsed() > CREATION_MAX {
                return Ok(snapshot);
            }
            tokio::time::sleep(REFRESH_EVERY).await;
        }
    }

    fn latest(&self) -> Snapshot {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn fresh(&self) -> Option<Snapshot> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = seen.1.is_some_and(|at| at.elapsed() < REFRESH_EVERY);
        is_fresh.then(|| seen.0.clone())
    }

    /// Blocks. A caller that comes during a refresh waits for its result.
    fn refresh(&self) -> Result<Snapshot, StoreError> {
        let _alone = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        let next = match self.stores.split_first() {
            Some((first, others)) => self.latest().refresh(first, others)?,
            None => self.latest(),
        };
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = (next.clone(), Some(Instant::now()));
        Ok(next)
    }
}
