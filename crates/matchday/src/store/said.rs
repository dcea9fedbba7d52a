//! What was said and waits to be stored, until there is enough of it or it has waited long enough. Touches no file.
//!
//! Nobody waits for it, so that it goes in when nobody waits for events: to write it takes as long as to write them.

use super::Exchange;
use std::time::{Duration, Instant};

/// So much is worth a commit, and the most for one, or else whoever comes meanwhile has to wait long.
const TOGETHER: usize = 256;
/// It waits for others so long, or until there is so much of it that it must go in with whatever goes.
const WAIT: Duration = Duration::from_millis(250);
const MAX: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Said {
    exchanges: Vec<Exchange>,
    /// Since when the first of them waits.
    since: Option<Instant>,
}

impl Said {
    /// Whether whoever writes has to know: of how long it may sleep, or that there is enough.
    pub(super) fn push(&mut self, exchange: Exchange) -> bool {
        self.exchanges.push(exchange);
        self.since.get_or_insert_with(Instant::now);
        matches!(self.exchanges.len(), 1 | TOGETHER)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    pub(super) fn is_due(&self) -> bool {
        self.exchanges.len() >= TOGETHER || self.since.is_some_and(|since| since.elapsed() >= WAIT)
    }

    /// How long it can wait.
    pub(super) fn patience(&self) -> Duration {
        self.since.map_or(Duration::MAX, |since| WAIT.saturating_sub(since.elapsed()))
    }

    /// The same, while there is nobody to store it.
    pub(super) fn patience_meanwhile(&self) -> Duration {
        self.patience().max(WAIT)
    }

    pub(super) fn take_all(&mut self) -> Vec<Exchange> {
        self.since = None;
        std::mem::take(&mut self.exchanges)
    }

    /// For a commit that someone waits for, or nobody.
    pub(super) fn take_some(&mut self, in_haste: bool) -> Vec<Exchange> {
        if in_haste && self.exchanges.len() < MAX {
            Vec::new()
        } else if self.exchanges.len() <= TOGETHER {
            self.take_all()
        } else {
            self.exchanges.drain(..TOGETHER).collect()
        }
    }
}
