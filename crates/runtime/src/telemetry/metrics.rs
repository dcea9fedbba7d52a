//! The metrics of one process. Recording adds to atomics; a scrape sums them up.

use super::cluster::ClusterMetrics;
use super::computations::ComputationMetrics;
use super::counters::Counters;
use super::labels::{Direction, MessageLabel, OutcomeLabel, Role};
use super::league_counters::LeagueTable;
use super::probe::Probe;
use super::relay::RelayMetrics;
use super::service::ServiceMetrics;
use bytes::Bytes;
use matchday_core::metrics::Milestone;
use matchday_core::protocol::messages::GameStatus;
use matchday_net::tls::ServerTls;
use matchday_store::histogram::Histogram;
use matchday_store::{Store, WeakStore};
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;
use tracing_appender::non_blocking::ErrorCounter;

/// Counts the lines that the log of this process has dropped. It has one log, whatever agents run in it.
pub(crate) static LOG_LINES_DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Durations, shown in seconds: from half a millisecond to the longest timeout.
const MICROS: &[u64] = &[
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
];
/// Parts of a whole.
const THOUSANDTHS: &[u64] = &[10, 50, 100, 250, 500, 750, 900, 1_000];

/// One for a process: all its agents record in it, each under its role.
pub struct Metrics {
    pub(super) began: SystemTime,
    messages: Counters,
    durations: Box<[Histogram]>,
    deadlines: Box<[Histogram]>,
    milestones: Counters,
    calls: Counters,
    spans: Counters,
    /// Of a process with several.
    pub(super) leagues: LeagueTable,
    /// Shared with the servers that accept connections.
    pub connections: Arc<AtomicUsize>,
    pub relay: RelayMetrics,
    pub cluster: Arc<ClusterMetrics>,
    pub computations: Arc<ComputationMetrics>,
    pub service: ServiceMetrics,
    /// What listeners show, if they serve over TLS.
    tls: OnceLock<ServerTls>,
    probes: Mutex<Vec<Weak<dyn Probe>>>,
    /// Of a service, whose agents come and go.
    store: OnceLock<WeakStore>,
    /// The page as it was last written, and when.
    pub(super) page: tokio::sync::Mutex<Option<(Instant, Bytes)>>,
}

/// The milestones that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MilestoneKind {
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

impl MilestoneKind {
    const COUNT: usize = Self::FellBack as usize + 1;

    fn of(milestone: &Milestone<'_>) -> Option<Self> {
        Some(match milestone {
            Milestone::MatchAssigned { .. } => Self::Assigned,
            Milestone::MatchDecided {
                status: GameStatus::Win,
                ..
            } => Self::Won,
            Milestone::MatchDecided {
                status: GameStatus::Draw,
                ..
            } => Self::Drawn,
            Milestone::MatchDecided {
                status: GameStatus::TechnicalLoss,
                ..
            } => Self::Technical,
            Milestone::AttemptLost { .. } => Self::AttemptLost,
            Milestone::MatchVoided => Self::Voided,
            Milestone::ReportRefused => Self::ReportRefused,
            Milestone::RoundAnnounced { .. } => Self::RoundAnnounced,
            Milestone::RoundCompleted => Self::RoundCompleted,
            Milestone::AgentSuspended { .. } => Self::Suspended,
            Milestone::AgentRecovered { .. } => Self::Recovered,
            Milestone::FellBack => Self::FellBack,
            Milestone::LeagueCreated(_)
            | Milestone::Registered { .. }
            | Milestone::RegistrationRenewed { .. } => return None,
        })
    }
}

/// Whether a span was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanOutcome {
    Exported,
    /// The queue was full.
    Dropped,
    /// The collector did not accept it.
    Failed,
}

impl SpanOutcome {
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

fn index_of_message(role: Role, direction: Direction, kind: MessageLabel) -> usize {
    (role as usize * DIRECTIONS + direction as usize) * MessageLabel::count() + kind.index()
}

fn index_of_outcome(
    role: Role,
    direction: Direction,
    kind: MessageLabel,
    outcome: OutcomeLabel,
) -> usize {
    index_of_message(role, direction, kind) * OutcomeLabel::COUNT + outcome.index()
}

impl Metrics {
    pub fn new() -> Arc<Self> {
        let kinds = ROLES * DIRECTIONS * MessageLabel::count();
        Arc::new(Self {
            began: SystemTime::now(),
            messages: Counters::new(kinds * OutcomeLabel::COUNT),
            durations: (0..kinds).map(|_| Histogram::new(MICROS, 1e6)).collect(),
            deadlines: (0..ROLES * MessageLabel::count())
                .map(|_| Histogram::new(THOUSANDTHS, 1e3))
                .collect(),
            milestones: Counters::new(ROLES * MilestoneKind::COUNT),
            calls: Counters::new(ROLES),
            spans: Counters::new(SpanOutcome::ALL.len()),
            leagues: LeagueTable::default(),
            connections: Arc::default(),
            relay: RelayMetrics::default(),
            cluster: Arc::default(),
            computations: Arc::default(),
            service: ServiceMetrics::default(),
            tls: OnceLock::new(),
            probes: Mutex::default(),
            store: OnceLock::new(),
            page: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn record_exchange(
        &self,
        role: Role,
        direction: Direction,
        kind: MessageLabel,
        outcome: OutcomeLabel,
        took: Duration,
    ) {
        self.messages
            .add(index_of_outcome(role, direction, kind, outcome), 1);
        if let Some(histogram) = self.durations.get(index_of_message(role, direction, kind)) {
            histogram.observe(micros(took));
        }
    }

    /// A request that was rejected before it was read.
    pub(super) fn record_rejected(&self, role: Role) {
        self.messages.add(
            index_of_outcome(
                role,
                Direction::In,
                MessageLabel::parse(""),
                OutcomeLabel::REFUSED,
            ),
            1,
        );
    }

    /// Which part of its deadline a call has used.
    pub(super) fn record_deadline_used(
        &self,
        role: Role,
        kind: MessageLabel,
        took: Duration,
        allowed: Duration,
    ) {
        let thousandths = micros(took)
            .saturating_mul(1_000)
            .checked_div(micros(allowed));
        if let Some(histogram) = self
            .deadlines
            .get(role as usize * MessageLabel::count() + kind.index())
        {
            histogram.observe(thousandths.unwrap_or(u64::MAX).min(100_000));
        }
    }

    pub(super) fn record_milestone(&self, role: Role, milestone: &Milestone<'_>) {
        if let Some(tally) = MilestoneKind::of(milestone) {
            self.milestones
                .add(role as usize * MilestoneKind::COUNT + tally as usize, 1);
        }
    }

    pub(super) fn call_started(&self, role: Role) {
        self.calls.add(role as usize, 1);
    }

    pub(super) fn call_finished(&self, role: Role) {
        self.calls.subtract(role as usize, 1);
    }

    pub(super) fn spans_finished(&self, outcome: SpanOutcome, count: usize) {
        self.spans.add(outcome as usize, count as u64);
    }

    /// From now on a scrape tells when this certificate expires, as it was last read.
    pub fn show_certificate(&self, tls: Option<&ServerTls>) {
        if let Some(tls) = tls {
            let _ = self.tls.set(tls.clone());
        }
    }

    /// When our own certificate expires, in seconds since 1970.
    pub(super) fn certificate_expires_at(&self) -> Option<i64> {
        self.tls.get()?.expires_at()
    }

    /// The figures of this store are shown, whether an agent runs that writes to it or not.
    pub fn show_store(&self, store: &Store) {
        let _ = self.store.set(store.downgrade());
    }

    pub(super) fn store(&self) -> Option<Store> {
        self.store.get()?.upgrade()
    }

    /// From now on a scrape reads this agent's gauges, until the agent is gone.
    pub(crate) fn add_probe(&self, probe: &Arc<dyn Probe>) {
        let mut probes = self.probes.lock().unwrap_or_else(PoisonError::into_inner);
        probes.retain(|probe| probe.strong_count() > 0);
        probes.push(Arc::downgrade(probe));
    }

    pub(super) fn probes(&self) -> Vec<Arc<dyn Probe>> {
        let probes = self.probes.lock().unwrap_or_else(PoisonError::into_inner);
        probes.iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn messages(
        &self,
        role: Role,
        direction: Direction,
        kind: MessageLabel,
        outcome: OutcomeLabel,
    ) -> u64 {
        self.messages
            .get(index_of_outcome(role, direction, kind, outcome))
    }

    pub(super) fn durations(
        &self,
        role: Role,
        direction: Direction,
        kind: MessageLabel,
    ) -> Option<&Histogram> {
        self.durations.get(index_of_message(role, direction, kind))
    }

    pub(super) fn deadlines(&self, role: Role, kind: MessageLabel) -> Option<&Histogram> {
        self.deadlines
            .get(role as usize * MessageLabel::count() + kind.index())
    }

    pub(super) fn tally(&self, role: Role, tally: MilestoneKind) -> u64 {
        self.milestones
            .get(role as usize * MilestoneKind::COUNT + tally as usize)
    }

    pub(super) fn calls(&self, role: Role) -> u64 {
        self.calls.get(role as usize)
    }

    pub(super) fn spans(&self, outcome: SpanOutcome) -> u64 {
        self.spans.get(outcome as usize)
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
