//! What the readers of all leagues of a process share: how much is computed for them at once, and how much of it is kept. Touches
//! no store.

use super::cache::{ResponseCache, Version};
use matchday_runtime::telemetry::ComputationMetrics;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::available_parallelism;
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// One for a process.
#[derive(Debug)]
pub struct Readers {
    at_once: usize,
    turns: Arc<Semaphore>,
    /// For statistics, which nobody waits for: one at a time.
    background: Arc<Semaphore>,
    pub(super) cache: ResponseCache,
    pub(super) metrics: Arc<ComputationMetrics>,
    leagues: AtomicU64,
}

impl Readers {
    /// As many computations at once as this machine has processors, less one for the leagues that are being played.
    pub fn of_this_machine(metrics: Arc<ComputationMetrics>) -> Arc<Self> {
        let processors = available_parallelism().map_or(1, NonZero::get);
        Self::new(processors.saturating_sub(1), metrics)
    }

    pub fn new(at_once: usize, metrics: Arc<ComputationMetrics>) -> Arc<Self> {
        let at_once = at_once.max(1);
        Arc::new(Self {
            at_once,
            turns: Arc::new(Semaphore::new(at_once)),
            background: Arc::new(Semaphore::new(1)),
            cache: ResponseCache::default(),
            metrics,
            leagues: AtomicU64::new(0),
        })
    }

    /// Those of one league.
    pub fn of_league(self: &Arc<Self>) -> Arc<LeagueReaders> {
        Arc::new(LeagueReaders {
            league: self.leagues.fetch_add(1, Ordering::Relaxed),
            turns: Arc::new(Semaphore::new(self.at_once)),
            process: Arc::clone(self),
            report: Mutex::default(),
        })
    }
}

/// What the report that was last made was made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastReport {
    pub(super) of_log: u64,
    pub(super) at: Instant,
    pub(super) version: Version,
}

/// The part of one league.
#[derive(Debug)]
pub struct LeagueReaders {
    /// Tells it apart from the other leagues of the process.
    pub(super) league: u64,
    turns: Arc<Semaphore>,
    pub(super) process: Arc<Readers>,
    /// The report that was last made.
    pub(super) report: Mutex<Option<LastReport>>,
}

/// Held while something is computed.
pub(super) type Turn = (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>);

impl LeagueReaders {
    /// Waits until the process may compute one more thing. A league that is asked much waits in a queue of its own, so that others
    /// are not behind all of its requests.
    pub(super) async fn turn(&self) -> Turn {
        let of_league = Arc::clone(&self.turns).acquire_owned().await.ok();
        let of_process = Arc::clone(&self.process.turns).acquire_owned().await.ok();
        self.process.metrics.begun.fetch_add(1, Ordering::Relaxed);
        (of_league, of_process)
    }

    /// Waits until statistics may be computed.
    pub(super) async fn background_turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.process.background)
            .acquire_owned()
            .await
            .ok()
    }
}

impl Drop for LeagueReaders {
    fn drop(&mut self) {
        self.process.cache.forget(self.league);
    }
}
