//! What a store has done so far, in numbers. Touches nothing.

use crate::observe::Histogram;
use serde::Serialize;
use std::time::Duration;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StoreStats {
    /// How often something was written.
    pub commits: u64,
    /// How often what had been written was brought to disk.
    pub syncs: u64,
    pub events: u64,
    pub exchanges: u64,
    /// Batches that have been acknowledged.
    pub batches: u64,
    /// The most batches that one commit has carried.
    pub batches_in_commit_max: u64,
    /// Batches that are waiting now, those being committed included.
    pub queue_depth: u64,
    pub commit_last: Duration,
    pub commit_max: Duration,
    pub commit_total: Duration,
}

impl StoreStats {
    /// How many batches share a commit on average.
    pub fn batches_per_commit(&self) -> f64 {
        self.batches as f64 / self.commits.max(1) as f64
    }

    /// How long a commit takes on average.
    pub fn commit_mean(&self) -> Duration {
        self.commit_total.checked_div(u32::try_from(self.commits).unwrap_or(u32::MAX)).unwrap_or_default()
    }

    pub(super) fn committed(&mut self, batches: u64, events: u64, exchanges: u64, took: Duration) {
        self.commits += 1;
        self.events += events;
        self.exchanges += exchanges;
        self.batches_in_commit_max = self.batches_in_commit_max.max(batches);
        self.commit_last = took;
        self.commit_max = self.commit_max.max(took);
        self.commit_total += took;
    }
}

/// How long someone waited until commits were on disk, and how many events each carried.
#[derive(Debug)]
pub(crate) struct CommitFigures {
    pub(crate) seconds: Histogram,
    pub(crate) events: Histogram,
}

impl Default for CommitFigures {
    fn default() -> Self {
        Self { seconds: Histogram::of_seconds(), events: Histogram::of_counts() }
    }
}
