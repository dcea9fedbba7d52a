//! One agent's way to the figures of its process, and to its traces. Cheap where nothing is traced: a few atomics.

use super::Observed;
use super::labels::{Direction, Kind, Outcome, Role};
use super::metrics::Metrics;
use super::trace::{Ended, Parent, Tracer};
use hyper::header::{HeaderName, HeaderValue};
use matchday_core::agent::{Answer, CallId};
use matchday_core::census::Milestone;
use matchday_core::protocol::{Sender, Timestamp};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Watch {
    role: Role,
    metrics: Arc<Metrics>,
    tracer: Option<Tracer>,
}

/// An exchange that is over, and what it was about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered<'a> {
    pub(crate) message_type: &'a str,
    pub(crate) conversation_id: Option<&'a str>,
    pub(crate) match_id: Option<&'a str>,
    pub(crate) began: Timestamp,
    pub(crate) ended: Timestamp,
}

/// A call that is under way for as long as this is there.
#[derive(Debug)]
pub(crate) struct UnderWay<'a>(&'a Watch);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.metrics.call_ended(self.0.role);
    }
}

impl Watch {
    pub(crate) fn over(agent: &Sender, observed: &Observed) -> Self {
        let role = Role::of(agent);
        let tracer = observed.traces.as_ref().map(|exporter| Tracer::new(role, exporter.clone()));
        Self { role, metrics: Arc::clone(&observed.metrics), tracer }
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Something that had happened before the agent was started.
    pub(crate) fn past(&self, at: Timestamp, milestone: &Milestone<'_>) {
        self.metrics.reached(self.role, milestone);
        if let Some(tracer) = &self.tracer {
            tracer.remember(at, milestone);
        }
    }

    pub(crate) fn reached(&self, at: Timestamp, milestone: &Milestone<'_>, name: impl Fn() -> Sender) {
        self.metrics.reached(self.role, milestone);
        if let Some(tracer) = &self.tracer {
            tracer.reached(at, milestone, &name());
        }
    }

    pub(crate) fn call_began(&self) -> UnderWay<'_> {
        self.metrics.call_began(self.role);
        UnderWay(self)
    }

    /// What goes out with a call, so that whoever is called can tell which match it belongs to.
    pub(crate) fn headers(&self, call: CallId, match_id: Option<&str>) -> Vec<(HeaderName, HeaderValue)> {
        match (&self.tracer, match_id) {
            (Some(tracer), Some(match_id)) => tracer.headers(call, match_id),
            _ => Vec::new(),
        }
    }

    /// A call of ours is over.
    pub(crate) fn called(
        &self,
        done: Answered<'_>,
        call: CallId,
        deadline: Timestamp,
        answer: &Answer,
        name: impl FnOnce() -> Sender,
    ) {
        let (kind, outcome) = (Kind::named(done.message_type), Outcome::of_answer(answer));
        let took = done.ended.since(done.began);
        self.metrics.exchanged(self.role, Direction::Out, kind, outcome, took);
        self.metrics.used(self.role, kind, took, deadline.since(done.began));
        if let (Some(tracer), Some(match_id)) = (&self.tracer, done.match_id) {
            tracer.called(done, match_id, call, Ended::from(outcome), &name());
        }
    }

    /// A request of a peer's has been answered; how, is told in a few words.
    pub(crate) fn answered(&self, done: Answered<'_>, words: &str) {
        let (kind, outcome) = (Kind::named(done.message_type), Outcome::of_words(words));
        self.metrics.exchanged(self.role, Direction::In, kind, outcome, done.ended.since(done.began));
    }

    /// The same, for its trace.
    pub(crate) fn traced(
        &self,
        done: Answered<'_>,
        words: &str,
        parent: Option<Parent>,
        name: impl FnOnce() -> Sender,
    ) {
        if let (Some(tracer), Some(match_id)) = (&self.tracer, done.match_id) {
            tracer.answered(done, match_id, Ended::from(Outcome::of_words(words)), parent, &name());
        }
    }

    /// In which league a message says that its match is.
    pub(crate) fn learn(&self, league_id: Option<&str>) {
        if let (Some(tracer), Some(league_id)) = (&self.tracer, league_id) {
            tracer.learn(league_id);
        }
    }

    pub(crate) fn turned_away(&self) {
        self.metrics.turned_away(self.role);
    }

    pub(crate) fn is_tracing(&self) -> bool {
        self.tracer.is_some()
    }
}
