//! Counters of what a service computes for readers.

use super::exposition::Exposition;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub struct ComputationMetrics {
    /// Whether this process is a service; of others the figures are not shown.
    pub shown: AtomicBool,
    /// Expensive computations that were begun: a league's log replayed, a page rendered, a report made.
    pub begun: AtomicU64,
    /// Those that were not begun, because all who had asked were gone.
    pub abandoned: AtomicU64,
    /// Requests that were answered 503 because too much was being computed already.
    pub refused: AtomicU64,
}

impl ComputationMetrics {
    pub(super) fn write(&self, out: &mut Exposition) {
        if !self.shown.load(Ordering::Relaxed) {
            return;
        }
        let counters = [
            (
                "matchday_computations_total",
                "Logs replayed, pages rendered and reports made for readers.",
                &self.begun,
            ),
            (
                "matchday_computations_abandoned_total",
                "Computations that were not begun, because all who had asked were gone.",
                &self.abandoned,
            ),
            (
                "matchday_computations_refused_total",
                "Requests of readers that were refused because too much was being computed already.",
                &self.refused,
            ),
        ];
        for (name, help, counter) in counters {
            out.counter(name, help)
                .value(&[], counter.load(Ordering::Relaxed));
        }
    }
}
