//! Counters of a service that shares its store with others.

use super::exposition::Exposition;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub struct ClusterMetrics {
    /// Whether the store is shared at all; if not, the figures are not shown.
    pub shared: AtomicBool,
    /// Requests that were sent on to the owner of their league.
    pub forwards: AtomicU64,
    /// Those of them that the owner did not answer.
    pub forwards_failed: AtomicU64,
    /// Requests that had to wait for an owner.
    pub held: AtomicU64,
    /// Leagues that were taken from services whose lease had expired.
    pub takeovers: AtomicU64,
    /// Leagues that others may have taken, because the own lease had expired.
    pub fenced: AtomicU64,
    /// Leagues that this process owns.
    pub leagues: AtomicU64,
    pub lease_left_us: AtomicU64,
    pub clock_offset_us: AtomicI64,
}

impl ClusterMetrics {
    pub(super) fn write(&self, out: &mut Exposition) {
        if !self.shared.load(Ordering::Relaxed) {
            return;
        }
        let counters = [
            (
                "matchday_cluster_forwards_total",
                "Requests that were sent on to the owner of their league.",
                &self.forwards,
            ),
            (
                "matchday_cluster_forwards_failed_total",
                "Forwarded requests that the owner did not answer.",
                &self.forwards_failed,
            ),
            (
                "matchday_cluster_held_total",
                "Requests that had to wait for an owner of their league.",
                &self.held,
            ),
            (
                "matchday_cluster_takeovers_total",
                "Leagues that were taken from services whose lease had expired.",
                &self.takeovers,
            ),
            (
                "matchday_cluster_fenced_total",
                "Leagues that were lost to others, so that what was appended to them was refused.",
                &self.fenced,
            ),
        ];
        for (name, help, counter) in counters {
            out.counter(name, help)
                .value(&[], counter.load(Ordering::Relaxed));
        }
        out.gauge(
            "matchday_cluster_leagues",
            "Leagues that this process owns.",
        )
        .value(&[], self.leagues.load(Ordering::Relaxed));
        #[allow(clippy::cast_precision_loss, reason = "seconds for people")]
        let seconds = |micros: i64| micros as f64 / 1e6;
        let lease_left =
            i64::try_from(self.lease_left_us.load(Ordering::Relaxed)).unwrap_or(i64::MAX);
        out.gauge(
            "matchday_cluster_lease_left_seconds",
            "How much of the own lease is left.",
        )
        .value(&[], seconds(lease_left));
        out.gauge(
            "matchday_cluster_clock_offset_seconds",
            "By how much this machine's clock is ahead of the database's.",
        )
        .value(&[], seconds(self.clock_offset_us.load(Ordering::Relaxed)));
    }
}
