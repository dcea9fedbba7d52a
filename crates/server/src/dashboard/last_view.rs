//! The end of a league on the pages that are open: a server that is about to stop first lets them have it.

use super::Dashboard;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long a server waits at most for pages that do not ask.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How long no page must have asked for anything before all are taken to have what they need.
const QUIET: Duration = Duration::from_millis(400);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Counts what pages have asked for.
#[derive(Debug, Default)]
pub(super) struct Views {
    /// All requests.
    asked: AtomicU64,
    /// Those that were answered with a league that is over.
    ended: AtomicU64,
}

impl Views {
    pub(super) fn asked(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn ended(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

impl Dashboard {
    /// Waits, up to a limit, until every page that follows the league has seen that it is over, and has what it asks for
    /// because of that.
    pub async fn wait_for_viewers(&self) {
        let _ = timeout(WAIT_MAX, self.viewers_are_served()).await;
    }

    async fn viewers_are_served(&self) {
        let told = |this: &Self| {
            let following = this.listeners.taken();
            usize::try_from(this.views.ended.load(Ordering::Relaxed))
                .is_ok_and(|ended| ended >= following)
        };
        if !self.has_listeners() {
            return;
        }
        while !told(self) {
            sleep(LOOK_EVERY).await;
        }
        let mut last = (self.views.asked.load(Ordering::Relaxed), Instant::now());
        while last.1.elapsed() < QUIET {
            sleep(LOOK_EVERY).await;
            let asked = self.views.asked.load(Ordering::Relaxed);
            if asked != last.0 {
                last = (asked, Instant::now());
            }
        }
    }
}
