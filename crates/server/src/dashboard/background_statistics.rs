//! Ratings and the luck meter, computed on a blocking thread when a page asks for them and the results have changed. Until then
//! the last ones are shown.

use super::projection::Projection;
use super::readers::LeagueReaders;
use matchday_audit::statistics;
use matchday_stats::{LeagueStatistics, Resampling};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The least time between two computations.
const RECOMPUTE_EVERY: Duration = Duration::from_secs(2);
/// The pause after a computation, as a multiple of its duration.
const PAUSE_FACTOR: u32 = 10;

#[derive(Debug)]
pub(super) struct BackgroundStatistics {
    readers: Arc<LeagueReaders>,
    state: Mutex<State>,
    /// Counts the computations.
    computed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    latest: Option<Arc<LeagueStatistics>>,
    /// The version of the results that they were computed from.
    of: Option<u64>,
    busy: bool,
    /// When the next computation may start.
    due: Option<Instant>,
}

impl BackgroundStatistics {
    pub(super) fn new(readers: Arc<LeagueReaders>) -> Self {
        Self {
            readers,
            state: Mutex::default(),
            computed: watch::Sender::new(0),
        }
    }

    /// Changes after every computation.
    pub(super) fn computed(&self) -> watch::Receiver<u64> {
        self.computed.subscribe()
    }

    /// The number of computations so far.
    pub(super) fn generation(&self) -> u64 {
        *self.computed.borrow()
    }

    /// The latest statistics; starts a computation if the results have changed since.
    pub(super) fn latest(
        self: &Arc<Self>,
        projection: &Arc<Projection>,
    ) -> Option<Arc<LeagueStatistics>> {
        let mark = projection.results_mark();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = state.due.is_none_or(|due| due <= Instant::now());
        if state.of != Some(mark) && !state.busy && is_due && !projection.league.players.is_empty()
        {
            state.busy = true;
            tokio::spawn(Self::compute_in_turn(
                Arc::downgrade(self),
                Arc::clone(projection),
                mark,
            ));
        }
        state.latest.clone()
    }

    /// Not at all if nothing shows the league any more when it is its turn.
    async fn compute_in_turn(own: Weak<Self>, projection: Arc<Projection>, mark: u64) {
        let Some(readers) = own.upgrade().map(|own| Arc::clone(&own.readers)) else {
            return;
        };
        let turn = readers.background_turn().await;
        let Some(own) = own.upgrade() else { return };
        let _ = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            own.compute(&projection, mark);
        })
        .await;
    }

    fn compute(&self, projection: &Projection, mark: u64) {
        let began = Instant::now();
        let statistics = statistics::statistics(&projection.league, &Resampling::default());
        let pause = RECOMPUTE_EVERY.max(began.elapsed().saturating_mul(PAUSE_FACTOR));
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            *state = State {
                latest: Some(Arc::new(statistics)),
                of: Some(mark),
                busy: false,
                due: Some(Instant::now() + pause),
            };
        }
        self.computed.send_modify(|times| *times += 1);
    }
}
