//! One agent's matches, as traces: remembers what has begun, and exports a span when it ends.

use super::super::agent::FinishedExchange;
use super::super::labels::{MessageLabel, Role};
use super::export::Exporter;
use super::ids::{Parent, SpanId, TraceId};
use super::span::{About, Span, SpanKind, SpanStatus};
use matchday_core::agent::CallId;
use matchday_core::metrics::Milestone;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::{Attempt, Sender, Timestamp};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many matches are remembered. Of those that are forgotten, what follows hangs on the match as a whole.
const OPEN_MAX: usize = 20_000;
/// Requests have numbers of their own, far from those of calls.
const REQUESTS_FROM: u64 = 1 << 63;

#[derive(Debug)]
pub(crate) struct Tracer {
    role: Role,
    exporter: Exporter,
    seed: [u8; 16],
    requests: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The league that the agent is in, as far as it has been draft.
    league_id: Option<SmolStr>,
    open: BTreeMap<SmolStr, Open>,
}

/// A match that was begun.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// When its first attempt began, and the latest.
    first: Timestamp,
    began: Timestamp,
    attempt: u32,
}

impl Tracer {
    pub(crate) fn new(role: Role, exporter: Exporter) -> Self {
        let mut seed = [0; 16];
        // Without chance two agents might use the same ids; that spoils a picture, and nothing else.
        let _ = getrandom::fill(&mut seed);
        Self {
            role,
            exporter,
            seed,
            requests: AtomicU64::new(REQUESTS_FROM),
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_league(&self, league_id: &str) {
        let mut known = self.known();
        if known.league_id.as_deref() != Some(league_id) {
            known.league_id = Some(league_id.into());
        }
    }

    /// Remembers what begins and ends, and exports nothing.
    pub(crate) fn remember(&self, at: Timestamp, milestone: &Milestone<'_>) {
        match milestone {
            Milestone::LeagueCreated(league_id) => self.set_league(league_id.as_str()),
            Milestone::MatchAssigned {
                league_id,
                match_id,
                attempt,
            } => {
                if let Some(league_id) = league_id {
                    self.set_league(league_id.as_str());
                }
                let mut known = self.known();
                if known.open.len() >= OPEN_MAX {
                    known.open.pop_first();
                }
                let first = known
                    .open
                    .get(match_id.as_str())
                    .map_or(at, |open| open.first);
                known.open.insert(
                    match_id.as_str().into(),
                    Open {
                        first,
                        began: at,
                        attempt: attempt.0,
                    },
                );
            }
            // A manager is done with it. A referee still has players to tell, also after the manager knows, and so
            // remembers it until there are too many.
            Milestone::MatchDecided { match_id, .. } if self.role == Role::Manager => {
                self.known().open.remove(match_id.as_str());
            }
            _ => {}
        }
    }

    pub(crate) fn milestone(&self, at: Timestamp, milestone: &Milestone<'_>, name: &Sender) {
        match milestone {
            Milestone::AttemptLost { match_id, attempt } => {
                let end = SpanStatus {
                    word: "lost",
                    is_error: true,
                };
                self.attempt_ended(at, match_id.as_str(), *attempt, end, name);
            }
            Milestone::MatchDecided {
                match_id,
                attempt,
                status,
                ..
            } => {
                let end = SpanStatus {
                    word: word(*status),
                    is_error: *status == GameStatus::TechnicalLoss,
                };
                self.attempt_ended(at, match_id.as_str(), *attempt, end, name);
                if self.role == Role::Manager {
                    self.match_ended(at, match_id.as_str(), end, name);
                }
            }
            _ => {}
        }
        self.remember(at, milestone);
    }

    fn attempt_ended(
        &self,
        at: Timestamp,
        match_id: &str,
        attempt: Attempt,
        end: SpanStatus,
        name: &Sender,
    ) {
        // A match that is forfeited without play has no attempt.
        let Some(open) = self.open(match_id).filter(|open| open.attempt == attempt.0) else {
            return;
        };
        let trace = self.trace(match_id, None);
        let (what, id, parent) = match self.role {
            Role::Manager => (
                "assignment",
                SpanId::of_assignment(trace, open.attempt),
                SpanId::of_match(trace),
            ),
            _ => (
                "refereeing",
                SpanId::of_refereeing(trace, open.attempt),
                SpanId::of_assignment(trace, open.attempt),
            ),
        };
        let about = About {
            attempt: Some(open.attempt),
            ..self.about(match_id)
        };
        self.export(
            SpanDraft {
                trace,
                id,
                parent: Some(parent),
                what,
                about,
            },
            open.began,
            at,
            end,
            name,
        );
    }

    fn match_ended(&self, at: Timestamp, match_id: &str, end: SpanStatus, name: &Sender) {
        let trace = self.trace(match_id, None);
        let began = self.open(match_id).map_or(at, |open| open.first);
        let about = self.about(match_id);
        let draft = SpanDraft {
            trace,
            id: SpanId::of_match(trace),
            parent: None,
            what: "match",
            about,
        };
        self.export(draft, began, at, end, name);
    }

    fn export(
        &self,
        draft: SpanDraft,
        began: Timestamp,
        ended: Timestamp,
        end: SpanStatus,
        name: &Sender,
    ) {
        let SpanDraft {
            trace,
            id,
            parent,
            what,
            about,
        } = draft;
        self.exporter.put(Span {
            role: self.role,
            agent: name.id().into(),
            trace,
            id,
            parent,
            name: SmolStr::new_static(what),
            kind: SpanKind::Internal,
            began,
            ended,
            about,
            end,
        });
    }

    pub(crate) fn span_of(&self, call: CallId, match_id: &str) -> Parent {
        Parent {
            trace: self.trace(match_id, None),
            span: self.of_call(call),
        }
    }

    pub(crate) fn call_finished(
        &self,
        done: FinishedExchange<'_>,
        match_id: &str,
        call: CallId,
        end: SpanStatus,
        name: &Sender,
    ) {
        let trace = self.trace(match_id, None);
        let parent = match (self.role, self.open(match_id)) {
            (Role::Manager, Some(open)) => SpanId::of_assignment(trace, open.attempt),
            (Role::Referee, Some(open)) => SpanId::of_refereeing(trace, open.attempt),
            _ => SpanId::of_match(trace),
        };
        let ids = (trace, self.of_call(call), parent);
        self.export_exchange(done, match_id, SpanKind::Client, ids, end, name);
    }

    pub(crate) fn request_finished(
        &self,
        done: FinishedExchange<'_>,
        match_id: &str,
        end: SpanStatus,
        parent: Option<Parent>,
        name: &Sender,
    ) {
        let trace = self.trace(match_id, parent);
        // A span of another trace cannot be the parent.
        let above = parent
            .filter(|parent| parent.trace == trace)
            .map(|parent| parent.span);
        let above = above.unwrap_or_else(|| SpanId::of_match(trace));
        let id = SpanId::numbered(&self.seed, self.requests.fetch_add(1, Ordering::Relaxed));
        self.export_exchange(
            done,
            match_id,
            SpanKind::Server,
            (trace, id, above),
            end,
            name,
        );
    }

    fn export_exchange(
        &self,
        done: FinishedExchange<'_>,
        match_id: &str,
        kind: SpanKind,
        (trace, id, parent): (TraceId, SpanId, SpanId),
        end: SpanStatus,
        name: &Sender,
    ) {
        // Of the closed set of names, since peers make up what they like.
        let message_type = SmolStr::new_static(MessageLabel::parse(done.message_type).name());
        let about = About {
            message_type: Some(message_type.clone()),
            conversation_id: done.conversation_id.map(short),
            ..self.about(match_id)
        };
        self.exporter.put(Span {
            role: self.role,
            agent: name.id().into(),
            trace,
            id,
            parent: Some(parent),
            name: message_type,
            kind,
            began: done.began,
            ended: done.ended,
            about,
            end,
        });
    }

    fn of_call(&self, call: CallId) -> SpanId {
        SpanId::numbered(&self.seed, call.0)
    }

    /// Of an agent that has not been draft its league, the caller knows better.
    fn trace(&self, match_id: &str, parent: Option<Parent>) -> TraceId {
        match (&self.known().league_id, parent) {
            (Some(league_id), _) => TraceId::of_match(league_id, match_id),
            (None, Some(parent)) => parent.trace,
            (None, None) => TraceId::of_match("", match_id),
        }
    }

    fn open(&self, match_id: &str) -> Option<Open> {
        self.known().open.get(match_id).copied()
    }

    fn about(&self, match_id: &str) -> About {
        let league_id = self.known().league_id.clone().unwrap_or_default();
        About {
            league_id,
            match_id: short(match_id),
            ..About::default()
        }
    }
}

/// No id of ours is longer; a peer may say what it likes.
fn short(id: &str) -> SmolStr {
    id.chars().take(128).collect()
}

/// A span of our own, before it has a time and a status.
struct SpanDraft {
    trace: TraceId,
    id: SpanId,
    parent: Option<SpanId>,
    what: &'static str,
    about: About,
}

fn word(status: GameStatus) -> &'static str {
    match status {
        GameStatus::Win => "win",
        GameStatus::Draw => "draw",
        GameStatus::TechnicalLoss => "technical_loss",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::protocol::{LeagueId, MatchId, PlayerId, RefereeId};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    fn done(message_type: &str, second: i64) -> FinishedExchange<'_> {
        let conversation_id = Some("conv-r1m1-001");
        let match_id = Some("R1M1");
        FinishedExchange {
            message_type,
            conversation_id,
            match_id,
            began: at(second),
            ended: at(second + 1),
        }
    }

    fn referee() -> Sender {
        Sender::Referee(RefereeId::new("REF01"))
    }

    const WELL: SpanStatus = SpanStatus {
        word: "ok",
        is_error: false,
    };

    /// A tracer that has seen an attempt at R1M1 begin.
    fn begun(role: Role) -> (Tracer, impl FnMut() -> Vec<Span>) {
        let (exporter, caught) = Exporter::caught(100);
        let tracer = Tracer::new(role, exporter);
        let league_id = LeagueId::new("spring");
        let match_id = MatchId::new("R1M1");
        let attempt = Attempt(1);
        let assigned = Milestone::MatchAssigned {
            league_id: Some(&league_id),
            match_id: &match_id,
            attempt,
        };
        tracer.milestone(at(1), &assigned, &referee());
        (tracer, caught)
    }

    fn decided(match_id: &MatchId) -> Milestone<'_> {
        Milestone::MatchDecided {
            match_id,
            attempt: Attempt(1),
            status: GameStatus::Win,
            winner: None,
            by: None,
        }
    }

    #[test]
    fn what_a_referee_still_says_after_the_result_hangs_on_its_attempt() {
        let (tracer, mut caught) = begun(Role::Referee);
        let match_id = MatchId::new("R1M1");
        tracer.milestone(at(5), &decided(&match_id), &referee());
        tracer.call_finished(
            done("MATCH_RESULT_REPORT", 5),
            "R1M1",
            CallId(7),
            WELL,
            &referee(),
        );
        tracer.call_finished(done("GAME_OVER", 6), "R1M1", CallId(8), WELL, &referee());
        let spans = caught();
        let refereeing = SpanId::of_refereeing(TraceId::of_match("spring", "R1M1"), 1);
        assert_eq!(spans.len(), 3);
        assert_eq!(
            (spans[0].id, spans[0].began, spans[0].ended),
            (refereeing, at(1), at(5))
        );
        assert!(
            spans[1..]
                .iter()
                .all(|span| span.parent == Some(refereeing)),
            "{spans:#?}"
        );
    }

    #[test]
    fn a_match_that_was_under_way_before_a_restart_is_told_from_its_beginning() {
        let (exporter, mut caught) = Exporter::caught(100);
        let tracer = Tracer::new(Role::Manager, exporter);
        let league_id = LeagueId::new("spring");
        let match_id = MatchId::new("R1M1");
        tracer.remember(at(1), &Milestone::LeagueCreated(&league_id));
        let attempt = Attempt(1);
        tracer.remember(
            at(2),
            &Milestone::MatchAssigned {
                league_id: None,
                match_id: &match_id,
                attempt,
            },
        );
        tracer.milestone(at(9), &decided(&match_id), &Sender::LeagueManager);
        let spans = caught();
        let names: Vec<_> = spans
            .iter()
            .map(|span| (span.name.as_str(), span.began, span.ended))
            .collect();
        assert_eq!(
            names,
            [("assignment", at(2), at(9)), ("match", at(2), at(9))]
        );
        assert!(
            spans
                .iter()
                .all(|span| span.trace == TraceId::of_match("spring", "R1M1"))
        );
    }

    #[test]
    fn a_span_of_another_trace_is_no_parent() {
        let (exporter, mut caught) = Exporter::caught(100);
        let tracer = Tracer::new(Role::Player, exporter);
        let player = Sender::Player(PlayerId::new("P01"));
        let elsewhere = TraceId::of_match("another", "R9M9");
        let parent = Some(Parent {
            trace: elsewhere,
            span: SpanId::of_match(elsewhere),
        });
        tracer.request_finished(done("GAME_INVITATION", 1), "R1M1", WELL, parent, &player);
        tracer.set_league("spring");
        tracer.request_finished(done("CHOOSE_PARITY_CALL", 2), "R1M1", WELL, parent, &player);
        let spans = caught();
        assert_eq!(
            spans[0].trace, elsewhere,
            "before it knows its league, the caller knows better"
        );
        let own = TraceId::of_match("spring", "R1M1");
        assert_eq!(
            (spans[1].trace, spans[1].parent),
            (own, Some(SpanId::of_match(own)))
        );
    }

    #[test]
    fn what_has_no_room_is_dropped_and_counted() {
        let (exporter, mut caught) = Exporter::caught(1);
        let tracer = Tracer::new(Role::Player, exporter.clone());
        for second in 0..3 {
            tracer.request_finished(
                done("GAME_INVITATION", second),
                "R1M1",
                WELL,
                None,
                &referee(),
            );
        }
        assert_eq!((caught().len(), exporter.dropped()), (1, 2));
    }
}
