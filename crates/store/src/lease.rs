//! What a process may show of a store that others share: its lease, and the leagues that it has lost. A lease ends by the
//! monotonic clock of this process, counted from before its renewal was sent. Does no I/O.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Lease {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    until: Instant,
    /// Another has taken the store, and it is not renewed any more.
    ended: bool,
    /// Leagues that others may have taken, and that were not taken again.
    lost: BTreeSet<u32>,
    /// Those of them that the owner of the process was not told of.
    untold: BTreeSet<u32>,
}

impl Lease {
    pub fn until(until: Instant) -> Self {
        let lost = BTreeSet::new();
        let untold = BTreeSet::new();
        Self {
            state: Mutex::new(State {
                until,
                ended: false,
                lost,
                untold,
            }),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn left(&self) -> Duration {
        self.state().until.saturating_duration_since(Instant::now())
    }

    /// Whether something of a league may be shown that the store was not asked about.
    pub fn allows(&self, league: u32) -> bool {
        let state = self.state();
        !state.ended && state.until > Instant::now() && !state.lost.contains(&league)
    }

    pub fn renew(&self, until: Instant) {
        self.state().until = until;
        self.changed.notify_all();
    }

    /// Others may have taken these leagues.
    pub fn lose(&self, leagues: impl IntoIterator<Item = u32>) {
        let mut state = self.state();
        for league in leagues {
            state.lost.insert(league);
            state.untold.insert(league);
        }
    }

    /// This process has taken leagues anew.
    pub fn regain(&self, leagues: impl IntoIterator<Item = u32>) {
        let mut state = self.state();
        for league in leagues {
            state.lost.remove(&league);
        }
    }

    pub fn lost(&self) -> BTreeSet<u32> {
        self.state().lost.clone()
    }

    /// Those that this was not asked for before.
    pub fn take_untold(&self) -> Vec<u32> {
        std::mem::take(&mut self.state().untold)
            .into_iter()
            .collect()
    }

    pub fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    pub fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// Blocks until the lease is valid or has ended for good, and not longer than this. Whether it is one of both.
    pub fn wait(&self, longest: Duration) -> bool {
        let deadline = Instant::now() + longest;
        let mut state = self.state();
        loop {
            let now = Instant::now();
            if state.ended || state.until > now {
                return true;
            }
            let left = deadline.saturating_duration_since(now);
            if left.is_zero() {
                return false;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_shown_after_the_end_until_it_is_renewed_and_a_lost_league_not_even_then() {
        let now = Instant::now();
        let lease = Lease::until(now);
        assert!(!lease.allows(1) && lease.left().is_zero() && !lease.wait(Duration::ZERO));
        lease.lose([2]);
        lease.renew(now + Duration::from_secs(60));
        assert!(lease.allows(1) && !lease.allows(2) && lease.wait(Duration::ZERO));
        assert_eq!(
            (lease.take_untold(), lease.take_untold()),
            (vec![2], vec![])
        );
        lease.regain([2]);
        assert!(lease.allows(2));
        lease.end();
        assert!(!lease.allows(1) && lease.wait(Duration::ZERO));
    }
}
