//! Computes something once for all who ask for it at the same time, when it is its turn; not at all if they are gone by then.

use super::readers::{LeagueReaders, Turn};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// How long a caller waits for its computation to begin. Once it has, its end is waited for.
const QUEUED_MAX: Duration = Duration::from_secs(10);

/// Whether a computation waits for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cost {
    /// It takes no longer than to ask for it.
    Cheap,
    Expensive,
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotComputed {
    /// Its turn has not come in time.
    Busy,
    /// The computation has panicked.
    Broken,
}

#[derive(Debug)]
enum Progress<V> {
    Queued,
    Begun,
    Done(V),
}

/// Computations of one kind, each under way at most once for each key.
pub(super) struct SharedComputation<K, V> {
    readers: Arc<LeagueReaders>,
    under_way: Mutex<BTreeMap<K, watch::Sender<Progress<V>>>>,
}

impl<K, V> fmt::Debug for SharedComputation<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedComputation").finish_non_exhaustive()
    }
}

impl<K: Ord + Clone + Send + Sync + 'static, V: Clone + Send + Sync + 'static> SharedComputation<K, V> {
    pub(super) fn new(readers: Arc<LeagueReaders>) -> Arc<Self> {
        Arc::new(Self { readers, under_way: Mutex::default() })
    }

    /// The value of `key`: the one that is kept, or that is being computed, or else what `compute` returns. `compute` blocks, and
    /// keeps its value before it returns, so that nobody computes it again in between.
    pub(super) async fn get(
        self: &Arc<Self>,
        key: K,
        cost: Cost,
        kept: impl FnOnce() -> Option<V>,
        compute: impl FnOnce() -> V + Send + 'static,
    ) -> Result<V, NotComputed> {
        let mut progress = {
            let mut under_way = self.lock();
            match under_way.get(&key) {
                Some(sender) => sender.subscribe(),
                None => {
                    if let Some(value) = kept() {
                        return Ok(value);
                    }
                    let (sender, receiver) = watch::channel(Progress::Queued);
                    under_way.insert(key.clone(), sender.clone());
                    tokio::spawn(Arc::clone(self).run(key, cost, sender, compute));
                    receiver
                }
            }
        };
        let begun = progress.wait_for(|progress| !matches!(progress, Progress::Queued));
        match timeout(QUEUED_MAX, begun).await.map(|begun| begun.is_ok()) {
            Ok(true) => {}
            Ok(false) => return Err(NotComputed::Broken),
            Err(_) => {
                self.readers.process.metrics.refused.fetch_add(1, Ordering::Relaxed);
                return Err(NotComputed::Busy);
            }
        }
        match progress.wait_for(|progress| matches!(progress, Progress::Done(_))).await.as_deref() {
            Ok(Progress::Done(value)) => Ok(value.clone()),
            _ => Err(NotComputed::Broken),
        }
    }

    async fn run(
        self: Arc<Self>,
        key: K,
        cost: Cost,
        progress: watch::Sender<Progress<V>>,
        compute: impl FnOnce() -> V + Send + 'static,
    ) {
        let turn = match cost {
            Cost::Cheap => None,
            Cost::Expensive => match self.turn_if_wanted(&key, &progress).await {
                Some(turn) => Some(turn),
                None => return,
            },
        };
        progress.send_replace(Progress::Begun);
        let computed = spawn_blocking(move || {
            let _turn = turn;
            compute()
        });
        let computed = computed.await;
        self.lock().remove(&key);
        if let Ok(value) = computed {
            progress.send_replace(Progress::Done(value));
        }
    }

    /// The turn of a computation; `None` if nobody waits for it any more.
    async fn turn_if_wanted(&self, key: &K, progress: &watch::Sender<Progress<V>>) -> Option<Turn> {
        let mut turn = pin!(self.readers.turn());
        loop {
            tokio::select! {
                biased;
                () = progress.closed() => {
                    let mut under_way = self.lock();
                    // Another caller may have come in between.
                    if progress.receiver_count() == 0 {
                        under_way.remove(key);
                        self.readers.process.metrics.abandoned.fetch_add(1, Ordering::Relaxed);
                        return None;
                    }
                }
                turn = &mut turn => return Some(turn),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<K, watch::Sender<Progress<V>>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
