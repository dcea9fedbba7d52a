//! Whether a store can be reached, and for how long the time of its leagues has stood still because it could not: nothing that is
//! not stored may be sent, so that nobody's deadline may pass meanwhile. Touches the monotonic clock.

use std::time::{Duration, Instant};

/// How long a store may take to answer before the time of its leagues stands still.
const SLOW: Duration = Duration::from_secs(1);
/// How long it may take before it counts as away: requests are then refused instead of being held.
const SILENT_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Outage {
    /// Why the connection is lost, and since when.
    lost: Option<(String, Instant)>,
    /// Since when the writer has been waiting for an answer.
    working_since: Option<Instant>,
    /// How long time stood still before.
    before: Duration,
}

impl Outage {
    pub(super) fn set_lost(&mut self, why: Option<&str>) {
        self.before = self.downtime();
        self.working_since = None;
        self.lost = why.map(|why| (why.to_owned(), Instant::now()));
    }

    pub(super) fn set_working(&mut self, working: bool) {
        self.before = self.downtime();
        self.working_since = working.then(Instant::now);
    }

    /// Why the store counts as away.
    pub(super) fn reason(&self) -> Option<String> {
        let silent = self
            .working_since
            .map(|since| since.elapsed())
            .filter(|silent| *silent >= SILENT_MAX);
        let silent = silent.map(|silent| format!("no answer for {} s", silent.as_secs()));
        self.lost.as_ref().map(|(why, _)| why.clone()).or(silent)
    }

    /// For how long it cannot count as away unless the connection is lost; `None` if it does.
    pub(super) fn available_for(&self) -> Option<Duration> {
        let silent = self
            .working_since
            .map_or(Duration::ZERO, |since| since.elapsed());
        let left = SILENT_MAX
            .checked_sub(silent)
            .filter(|left| !left.is_zero());
        left.filter(|_| self.lost.is_none())
    }

    pub(super) fn downtime(&self) -> Duration {
        let silent = self
            .working_since
            .map_or(Duration::ZERO, |since| since.elapsed().saturating_sub(SLOW));
        self.before
            + self
                .lost
                .as_ref()
                .map_or(silent, |(_, since)| since.elapsed())
    }
}
