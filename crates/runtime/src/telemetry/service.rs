//! Figures of a service that runs many leagues, loaded or not.

use super::exposition::Exposition;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub struct ServiceMetrics {
    /// Whether this process is a service; of others the figures are not shown.
    pub shown: AtomicBool,
    /// Leagues that are loaded.
    pub awake: AtomicU64,
    /// Leagues that have nothing to do just now.
    pub asleep: AtomicU64,
    /// Leagues that cannot be loaded, or have failed.
    pub quarantined: AtomicU64,
    /// Leagues of seasons that could not be started at their time.
    pub starts_skipped: AtomicU64,
}

impl ServiceMetrics {
    pub(super) fn write(&self, out: &mut Exposition) {
        if !self.shown.load(Ordering::Relaxed) {
            return;
        }
        let mut family = out.gauge(
            "matchday_service_leagues",
            "Leagues of this service, by whether they are loaded.",
        );
        for (state, count) in [
            ("awake", &self.awake),
            ("asleep", &self.asleep),
            ("quarantined", &self.quarantined),
        ] {
            family.value(&[("state", state)], count.load(Ordering::Relaxed));
        }
        out.counter(
            "matchday_season_starts_skipped_total",
            "Leagues of seasons that could not be started at their time.",
        )
        .value(&[], self.starts_skipped.load(Ordering::Relaxed));
    }
}
