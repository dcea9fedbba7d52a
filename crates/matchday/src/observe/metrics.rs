//! All figures of one process. Whoever counts touches a few atomics; whoever looks adds them up.

use super::cells::{Counters, Histogram};
use super::labels::{Direction, Kind, Outcome, Role};
use super::probe::Probe;
use bytes::Bytes;
use matchday_core::census::Milestone;
use matchday_core::protocol::messages::GameStatus;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// Log lines of this process that nobody read in time. It has one log, whatever agents run in it.
pub(crate) static LOG_LINES_DROPPED: AtomicU64 = AtomicU64::new(0);

/// One for a process: all its agents count in it, each by its role.
pub struct Metrics {
    pub(super) began: SystemTime,
    messages: Counters,
    durations: Box<[Histogram]>,
    deadlines: Box<[Histogram]>,
    milestones: Counters,
    calls: Counters,
    spans: Counters,
    /// Shared with those who take connections.
    pub(crate) connections: Arc<AtomicUsize>,
    probes: Mutex<Vec<Weak<dyn Probe>>>,
    /// The page as it was last written, and when.
    pub(super) page: tokio::sync::Mutex<Option<(Instant, Bytes)>>,
}

/// What the milestones of agents are counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tally {
    Assigned,
    Won,
    Drawn,
    Technical,
    AttemptLost,
    Voided,
    ReportRefused,
    RoundAnnounced,
    RoundCompleted,
    Suspended,
    Recovered,
    FellBack,
}

impl Tally {
    const COUNT: usize = Self::FellBack as usize + 1;

    fn of(milestone: &Milestone<'_>) -> Option<Self> {
        Some(match milestone {
            Milestone::MatchAssigned { .. } => Self::Assigned,
            Milestone::MatchDecided { status: GameStatus::Win, .. } => Self::Won,
            Milestone::MatchDecided { status: GameStatus::Draw, .. } => Self::Drawn,
            Milestone::MatchDecided { status: GameStatus::TechnicalLoss, .. } => Self::Technical,
            Milestone::AttemptLost { .. } => Self::AttemptLost,
            Milestone::MatchVoided => Self::Voided,
            Milestone::ReportRefused => Self::ReportRefused,
            Milestone::RoundAnnounced => Self::RoundAnnounced,
            Milestone::RoundCompleted => Self::RoundCompleted,
            Milestone::AgentSuspended { .. } => Self::Suspended,
            Milestone::AgentRecovered { .. } => Self::Recovered,
            Milestone::FellBack => Self::FellBack,
            Milestone::LeagueCreated(_) | Milestone::RegistrationRenewed(_) => return None,
        })
    }
}

/// What became of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Exported,
    /// There was no room in the queue.
    Dropped,
    /// The collector did not take it.
    Failed,
}

impl Fate {
    pub(super) const ALL: [Self; 3] = [Self::Exported, Self::Dropped, Self::Failed];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Exported => "exported",
            Self::Dropped => "dropped",
            Self::Failed => "failed",
        }
    }
}

const ROLES: usize = Role::ALL.len();
const DIRECTIONS: usize = Direction::ALL.len();

fn of_kind(role: Role, direction: Direction, kind: Kind) -> usize {
    (role as usize * DIRECTIONS + direction as usize) * Kind::COUNT + kind.place()
}

fn of_outcome(role: Role, direction: Direction, kind: Kind, outcome: Outcome) -> usize {
    of_kind(role, direction, kind) * Outcome::COUNT + outcome.place()
}

impl Metrics {
    pub fn new() -> Arc<Self> {
        let kinds = ROLES * DIRECTIONS * Kind::COUNT;
        Arc::new(Self {
            began: SystemTime::now(),
            messages: Counters::new(kinds * Outcome::COUNT),
            durations: (0..kinds).map(|_| Histogram::of_seconds()).collect(),
            deadlines: (0..ROLES * Kind::COUNT).map(|_| Histogram::of_ratio()).collect(),
            milestones: Counters::new(ROLES * Tally::COUNT),
            calls: Counters::new(ROLES),
            spans: Counters::new(Fate::ALL.len()),
            connections: Arc::default(),
            probes: Mutex::default(),
            page: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn exchanged(
        &self,
        role: Role,
        direction: Direction,
        kind: Kind,
        outcome: Outcome,
        took: Duration,
    ) {
        self.messages.add(of_outcome(role, direction, kind, outcome), 1);
        if let Some(histogram) = self.durations.get(of_kind(role, direction, kind)) {
            histogram.observe(micros(took));
        }
    }

    /// A request that was turned away before it was read.
    pub(super) fn turned_away(&self, role: Role) {
        self.messages.add(of_outcome(role, Direction::In, Kind::OTHER, Outcome::REFUSED), 1);
    }

    /// How much of the time that a peer had for its answer is gone.
    pub(super) fn used(&self, role: Role, kind: Kind, took: Duration, allowed: Duration) {
        let thousandths = micros(took).saturating_mul(1_000).checked_div(micros(allowed));
        if let Some(histogram) = self.deadlines.get(role as usize * Kind::COUNT + kind.place()) {
            histogram.observe(thousandths.unwrap_or(u64::MAX).min(100_000));
        }
    }

    pub(super) fn reached(&self, role: Role, milestone: &Milestone<'_>) {
        if let Some(tally) = Tally::of(milestone) {
            self.milestones.add(role as usize * Tally::COUNT + tally as usize, 1);
        }
    }

    pub(super) fn call_began(&self, role: Role) {
        self.calls.add(role as usize, 1);
    }

    pub(super) fn call_ended(&self, role: Role) {
        self.calls.subtract(role as usize, 1);
    }

    pub(super) fn spans_ended(&self, fate: Fate, count: usize) {
        self.spans.add(fate as usize, count as u64);
    }

    /// From now on this agent is asked how it stands, until it is gone.
    pub(crate) fn watch(&self, probe: &Arc<dyn Probe>) {
        let mut probes = self.probes.lock().unwrap_or_else(PoisonError::into_inner);
        probes.retain(|probe| probe.strong_count() > 0);
        probes.push(Arc::downgrade(probe));
    }

    pub(super) fn probes(&self) -> Vec<Arc<dyn Probe>> {
        let probes = self.probes.lock().unwrap_or_else(PoisonError::into_inner);
        probes.iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn messages(&self, role: Role, direction: Direction, kind: Kind, outcome: Outcome) -> u64 {
        self.messages.get(of_outcome(role, direction, kind, outcome))
    }

    pub(super) fn durations(&self, role: Role, direction: Direction, kind: Kind) -> Option<&Histogram> {
        self.durations.get(of_kind(role, direction, kind))
    }

    pub(super) fn deadlines(&self, role: Role, kind: Kind) -> Option<&Histogram> {
        self.deadlines.get(role as usize * Kind::COUNT + kind.place())
    }

    pub(super) fn tally(&self, role: Role, tally: Tally) -> u64 {
        self.milestones.get(role as usize * Tally::COUNT + tally as usize)
    }

    pub(super) fn calls(&self, role: Role) -> u64 {
        self.calls.get(role as usize)
    }

    pub(super) fn spans(&self, fate: Fate) -> u64 {
        self.spans.get(fate as usize)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}
