//! Counters and histograms of a store. Values only.

use crate::histogram::Histogram;
use std::time::Duration;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreStats {
    pub commits: u64,
    /// How often the write-ahead log was fsynced.
    pub syncs: u64,
    pub events: u64,
    pub exchanges: u64,
    /// Batches whose completion has run.
    pub batches: u64,
    /// Batches whose completion has not run yet.
    pub queue_depth: u64,
    /// How often the store was lost sight of.
    pub outages: u64,
}

/// What is measured of each commit.
#[derive(Debug)]
pub struct CommitMetrics {
    /// How long it took until a commit that somebody waited for was on disk, in microseconds.
    pub micros: Histogram,
    /// How many events it carried.
    pub events: Histogram,
}

impl Default for CommitMetrics {
    fn default() -> Self {
        const MICROS: &[u64] = &[
            500, 1_000, 2_500, 5_000, 10_000, 20_000, 25_000, 50_000, 100_000, 250_000, 500_000,
            1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
        ];
        const EVENTS: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];
        Self {
            micros: Histogram::new(MICROS, 1e6),
            events: Histogram::new(EVENTS, 1.0),
        }
    }
}

impl CommitMetrics {
    pub(super) fn observe_fsync(&self, took: Duration) {
        self.micros
            .observe(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }
}
