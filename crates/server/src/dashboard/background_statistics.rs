//! Ratings, the luck meter and the chances to win the league, computed on a blocking thread when a page asks for them and the results have changed. Until then
//! the last ones are shown.

use super::projection::Projection;
use super::readers::LeagueReaders;
use matchday_audit::statistics;
use matchday_core::league::League;
use matchday_core::league::format::Format;
use matchday_core::league::settings::Score;
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::{GameStatus, Phase};
use matchday_stats::title_chance::Remaining;
use matchday_stats::{LeagueStatistics, Resampling};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The least time between two computations.
const RECOMPUTE_EVERY: Duration = Duration::from_secs(2);
/// The pause after a computation, as a multiple of its duration.
const PAUSE_FACTOR: u32 = 10;

/// What is computed of a league.
#[derive(Debug)]
pub(super) struct Computed {
    pub(super) statistics: LeagueStatistics,
    /// How likely each player is to win the league; empty where that cannot be said.
    pub(super) title_chances: BTreeMap<PlayerId, f64>,
}

#[derive(Debug)]
pub(super) struct BackgroundStatistics {
    readers: Arc<LeagueReaders>,
    state: Mutex<State>,
    /// Counts the computations.
    computed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    latest: Option<Arc<Computed>>,
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
    pub(super) fn latest(self: &Arc<Self>, projection: &Arc<Projection>) -> Option<Arc<Computed>> {
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
        let statistics = LeagueStatistics::of(
            &statistics::of_league(&projection.league),
            &Resampling::default(),
        );
        let pause = RECOMPUTE_EVERY.max(began.elapsed().saturating_mul(PAUSE_FACTOR));
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            *state = State {
                latest: Some(Arc::new(Computed {
                    title_chances: title_chances(&projection.league, &statistics),
                    statistics,
                })),
                of: Some(mark),
                busy: false,
                due: Some(Instant::now() + pause),
            };
        }
        self.computed.send_modify(|times| *times += 1);
    }
}

/// By simulating the matches that are left. Only while a league is played that goes by points and whose matches are all drawn up.
fn title_chances(league: &League, statistics: &LeagueStatistics) -> BTreeMap<PlayerId, f64> {
    let drawn_up = usize::try_from(league.rounds_in_all()) == Ok(league.rounds.len());
    let by_points = league.settings.score == Score::Match && !league.is_ladder();
    let running = matches!(league.phase, Phase::Running | Phase::Paused);
    let everyone_meets = matches!(
        league.settings.competition.format,
        Format::RoundRobin | Format::DoubleRoundRobin
    );
    if !(drawn_up && by_points && running && everyone_meets) {
        return BTreeMap::new();
    }
    let rows = league.rows();
    let rating = |id: &PlayerId| {
        let known = statistics
            .players
            .iter()
            .find(|own| own.player_id == id.as_str());
        known.map(|own| own.glicko.now).unwrap_or_default()
    };
    let place = |id: &PlayerId| rows.iter().position(|row| row.player_id == *id);
    let open = league
        .matches
        .values()
        .filter(|game| game.decision.is_none());
    let decided = league
        .matches
        .values()
        .filter_map(|game| game.decision.as_ref());
    let played = decided.filter(|decision| decision.status != GameStatus::TechnicalLoss);
    let (mut all, mut drawn) = (0.0, 0.0);
    for decision in played {
        all += 1.0;
        if decision.status == GameStatus::Draw {
            drawn += 1.0;
        }
    }
    let remaining = Remaining {
        points: rows.iter().map(|row| row.points).collect(),
        ratings: rows.iter().map(|row| rating(&row.player_id)).collect(),
        matches: open
            .filter_map(|game| place(&game.a).zip(place(&game.b)))
            .collect(),
        draws: if all > 0.0 { drawn / all } else { 0.0 },
    };
    let chances = remaining.title_chances(Resampling::default().seed);
    rows.iter()
        .map(|row| row.player_id.clone())
        .zip(chances)
        .collect()
}
