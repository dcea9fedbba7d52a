//! Counters of the relays of a process.

use super::exposition::Exposition;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

#[derive(Debug, Default)]
pub struct RelayMetrics {
    /// Whether there is a relay at all; without one the figures are not shown.
    pub mounted: AtomicBool,
    /// Streams and polls that are open.
    pub streams: AtomicUsize,
    /// Streams of an agent that had one before.
    pub reconnects: AtomicU64,
    pub calls: AtomicU64,
    /// Calls that ended without an answer.
    pub undelivered: AtomicU64,
}

impl RelayMetrics {
    pub(super) fn write(&self, out: &mut Exposition) {
        if !self.mounted.load(Ordering::Relaxed) {
            return;
        }
        out.gauge(
            "matchday_relay_streams",
            "Agents that dial out and are connected.",
        )
        .value(&[], self.streams.load(Ordering::Relaxed));
        out.counter(
            "matchday_relay_reconnects_total",
            "Streams of agents that had one before.",
        )
        .value(&[], self.reconnects.load(Ordering::Relaxed));
        out.counter(
            "matchday_relay_calls_total",
            "Calls to agents that dial out.",
        )
        .value(&[], self.calls.load(Ordering::Relaxed));
        out.counter(
            "matchday_relay_undelivered_total",
            "Calls to agents that dial out that ended without an answer.",
        )
        .value(&[], self.undelivered.load(Ordering::Relaxed));
    }
}
