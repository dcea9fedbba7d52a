//! One agent's metrics and traces. Without traces it costs a few atomic additions.

use super::Telemetry;
use super::labels::{Direction, MessageLabel, OutcomeLabel, Role};
use super::league_counters::LeagueCounters;
use super::metrics::Metrics;
use super::trace::{Parent, SpanStatus, Tracer};
use matchday_core::agent::CallId;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::metrics::Milestone;
use matchday_core::protocol::{Sender, Timestamp};
use std::sync::Arc;

#[derive(Debug)]
pub struct AgentTelemetry {
    role: Role,
    metrics: Arc<Metrics>,
    league: Option<Arc<LeagueCounters>>,
    tracer: Option<Tracer>,
}

/// An exchange that is over, and what it was about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FinishedExchange<'a> {
    pub(crate) message_type: &'a str,
    pub(crate) conversation_id: Option<&'a str>,
    pub(crate) match_id: Option<&'a str>,
    pub(crate) began: Timestamp,
    pub(crate) ended: Timestamp,
}

/// Counts a call as in flight until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlightCall<'a>(&'a AgentTelemetry);

impl Drop for InFlightCall<'_> {
    fn drop(&mut self) {
        self.0.metrics.call_finished(self.0.role);
    }
}

impl AgentTelemetry {
    pub(crate) fn new(agent: &Sender, telemetry: &Telemetry) -> Self {
        let role = Role::of(agent);
        let tracer = telemetry
            .traces
            .as_ref()
            .map(|exporter| Tracer::new(role, exporter.clone()));
        if let (Some(tracer), Some(league)) = (&tracer, &telemetry.league) {
            tracer.set_league(league.id.as_str());
        }
        let league = telemetry
            .league
            .as_ref()
            .map(|league| Arc::clone(&league.counters));
        Self {
            role,
            metrics: Arc::clone(&telemetry.metrics),
            league,
            tracer,
        }
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// A milestone of a stored event, which may have been counted in this process before.
    pub(crate) fn replayed(&self, at: Timestamp, milestone: &Milestone<'_>, is_new: bool) {
        if is_new {
            self.metrics.record_milestone(self.role, milestone);
        }
        if let Some(tracer) = &self.tracer {
            tracer.remember(at, milestone);
        }
    }

    pub(crate) fn milestone(
        &self,
        at: Timestamp,
        milestone: &Milestone<'_>,
        name: impl Fn() -> Sender,
    ) {
        self.metrics.record_milestone(self.role, milestone);
        if let Some(tracer) = &self.tracer {
            tracer.milestone(at, milestone, &name());
        }
    }

    pub(crate) fn call_started(&self) -> InFlightCall<'_> {
        self.metrics.call_started(self.role);
        InFlightCall(self)
    }

    /// The span of a call, for its receiver.
    pub(crate) fn span_of(&self, call: CallId, match_id: Option<&str>) -> Option<Parent> {
        Some(self.tracer.as_ref()?.span_of(call, match_id?))
    }

    pub(crate) fn call_finished(
        &self,
        done: FinishedExchange<'_>,
        call: CallId,
        deadline: Timestamp,
        outcome: &ExchangeOutcome,
        name: impl FnOnce() -> Sender,
    ) {
        let kind = MessageLabel::parse(done.message_type);
        let outcome = OutcomeLabel::of(outcome);
        let took = done.ended.since(done.began);
        self.metrics
            .record_exchange(self.role, Direction::Out, kind, outcome, took);
        if let Some(league) = &self.league {
            league.count_call(outcome.is_ok());
        }
        self.metrics
            .record_deadline_used(self.role, kind, took, deadline.since(done.began));
        if let (Some(tracer), Some(match_id)) = (&self.tracer, done.match_id) {
            tracer.call_finished(done, match_id, call, SpanStatus::from(outcome), &name());
        }
    }

    /// Counts a request of a peer that has been answered.
    pub(crate) fn request_finished(&self, done: FinishedExchange<'_>, outcome: &ExchangeOutcome) {
        let kind = MessageLabel::parse(done.message_type);
        let outcome = OutcomeLabel::of(outcome);
        self.metrics.record_exchange(
            self.role,
            Direction::In,
            kind,
            outcome,
            done.ended.since(done.began),
        );
        if let Some(league) = &self.league {
            league.count_request(outcome.is_ok());
        }
    }

    /// Traces a request of a peer that has been answered.
    pub(crate) fn trace_request(
        &self,
        done: FinishedExchange<'_>,
        outcome: &ExchangeOutcome,
        parent: Option<Parent>,
        name: impl FnOnce() -> Sender,
    ) {
        if let (Some(tracer), Some(match_id)) = (&self.tracer, done.match_id) {
            tracer.request_finished(
                done,
                match_id,
                SpanStatus::from(OutcomeLabel::of(outcome)),
                parent,
                &name(),
            );
        }
    }

    /// The league that a message names: traces are identified by it, unless the agent's league is known beforehand.
    pub(crate) fn set_league(&self, league_id: Option<&str>) {
        if self.league.is_some() {
            return;
        }
        if let (Some(tracer), Some(league_id)) = (&self.tracer, league_id) {
            tracer.set_league(league_id);
        }
    }

    pub(crate) fn request_rejected(&self) {
        self.metrics.record_rejected(self.role);
        if let Some(league) = &self.league {
            league.count_request(false);
        }
    }

    pub(crate) fn is_tracing(&self) -> bool {
        self.tracer.is_some()
    }
}
