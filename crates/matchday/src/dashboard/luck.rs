//! Ratings and the luck meter. They take some arithmetic, so they are reckoned on a thread of their own, not too often,
//! and only while somebody looks; meanwhile the last ones are shown.

use super::annals::Annals;
use crate::statistics;
use matchday_stats::{LeagueStatistics, Settings};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long they hold at least.
const RECKON_EVERY: Duration = Duration::from_secs(2);
/// They may take this part of one processor's time: one in so many.
const SHARE: u32 = 10;

#[derive(Debug)]
pub(super) struct Luck {
    state: Mutex<State>,
    /// Counts how often they were reckoned.
    reckoned: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    latest: Option<Arc<LeagueStatistics>>,
    /// How much of the league they take in.
    of: Option<u64>,
    busy: bool,
    /// When they may be reckoned again.
    due: Option<Instant>,
}

impl Luck {
    pub(super) fn new() -> Self {
        Self { state: Mutex::default(), reckoned: watch::Sender::new(0) }
    }

    /// Changes whenever there are new ones.
    pub(super) fn reckoned(&self) -> watch::Receiver<u64> {
        self.reckoned.subscribe()
    }

    /// How often they have been reckoned.
    pub(super) fn generation(&self) -> u64 {
        *self.reckoned.borrow()
    }

    /// The last ones; has new ones reckoned if the league has gone on since.
    pub(super) fn look(self: &Arc<Self>, annals: &Arc<Annals>) -> Option<Arc<LeagueStatistics>> {
        let mark = annals.results_mark();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = state.due.is_none_or(|due| due <= Instant::now());
        if state.of != Some(mark) && !state.busy && is_due && !annals.league.players.is_empty() {
            state.busy = true;
            let (luck, annals) = (Arc::clone(self), Arc::clone(annals));
            tokio::task::spawn_blocking(move || luck.reckon(&annals, mark));
        }
        state.latest.clone()
    }

    fn reckon(&self, annals: &Annals, mark: u64) {
        let began = Instant::now();
        let statistics = LeagueStatistics::of(&statistics::of_league(&annals.league), &Settings::default());
        let pause = RECKON_EVERY.max(began.elapsed().saturating_mul(SHARE));
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            *state = State {
                latest: Some(Arc::new(statistics)),
                of: Some(mark),
                busy: false,
                due: Some(Instant::now() + pause),
            };
        }
        self.reckoned.send_modify(|times| *times += 1);
    }
}
