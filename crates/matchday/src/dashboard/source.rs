//! Where the dashboard has its league from: a store that is being written to, or one that is not. However many look, the
//! file is read at most a few times a second, on a thread that may wait.

use super::annals::Snapshot;
use crate::store::StoreError;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For so long one look serves all who ask.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Source {
    /// The manager's store first, then those of others.
    stores: Vec<PathBuf>,
    /// Whether the manager that writes to it is this process. Another may begin to at any time.
    pub(super) live: bool,
    seen: Mutex<(Snapshot, Option<Instant>)>,
    /// Held by whoever reads on.
    reading: Mutex<()>,
}

impl Source {
    pub(super) fn new(store: PathBuf, others: Vec<PathBuf>, live: bool, first: Snapshot) -> Self {
        let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut stores = vec![store];
        for path in others {
            if !stores.iter().any(|known| whole(known) == whole(&path)) {
                stores.push(path);
            }
        }
        Self { stores, live, seen: Mutex::new((first, None)), reading: Mutex::new(()) }
    }

    /// All stores, the manager's first.
    pub(super) fn stores(&self) -> &[PathBuf] {
        &self.stores
    }

    /// What the manager's store is called, without where it is.
    pub(super) fn name(&self) -> String {
        let file = self.stores.first().and_then(|path| path.file_name());
        file.map_or_else(|| "FILE".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The league as it stands, or stood a moment ago.
    pub(super) async fn look(self: &Arc<Self>) -> Result<Snapshot, StoreError> {
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        let source = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || source.read_on());
        reading.await.unwrap_or_else(|_| Ok(self.latest()))
    }

    fn latest(&self) -> Snapshot {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn fresh(&self) -> Option<Snapshot> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = seen.1.is_some_and(|at| at.elapsed() < LOOK_EVERY);
        is_fresh.then(|| seen.0.clone())
    }

    /// Blocks. Whoever comes while another reads waits for what that one finds.
    fn read_on(&self) -> Result<Snapshot, StoreError> {
        let _alone = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        let (first, others) = self
            .stores
            .split_first()
            .map_or((Path::new(""), &[][..]), |(first, others)| (first.as_path(), others));
        let next = self.latest().read_on(first, others)?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = (next.clone(), Some(Instant::now()));
        Ok(next)
    }
}
