//! Decisions by an external decider: each question is asked once, all requests for it get the same decision, and the
//! fallback strategy decides after a timeout. Not durable: after a crash the referee asks again.

use super::answering::{MoveQuestion, PendingReply};
use super::authentication::league_error;
use super::event::Choice;
use super::{Ctx, Player};
use crate::agent::{DecisionRequest, ExternalId, ExternalResult, Usage};
use crate::game::turn::{self, TurnSheet};
use crate::protocol::messages::LeagueError;
use crate::protocol::{Attempt, ErrorCode, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// The default time limit of the decider for one move.
pub const THINK_TIME: Duration = Duration::from_secs(25);
/// How many decisions may be pending at once: each may be a running program, or cost money.
pub const PENDING_MAX: usize = 64;

/// The external decider, and its pending decisions.
#[derive(Debug)]
pub(super) struct ExternalDecider {
    think_time: Duration,
    /// Whether there is no fallback.
    is_alone: bool,
    last_id: u64,
    pending: BTreeMap<ExternalId, PendingDecision>,
}

/// A pending decision.
#[derive(Debug)]
struct PendingDecision {
    asked: MoveQuestion,
    /// When the fallback chooses.
    until: Timestamp,
    replies: Vec<PendingReply>,
}

/// The outcome of queueing a question.
#[derive(Debug)]
pub(super) enum EnqueueOutcome {
    New(ExternalId),
    /// It is pending already.
    Known,
    /// Another question of the same attempt is pending: two answers for one turn would let the referee choose.
    Busy,
    /// Too many decisions are pending.
    NoRoom,
    /// The referee leaves no time. Returns the question.
    NoTime(Box<(MoveQuestion, PendingReply)>),
}

impl ExternalDecider {
    pub(super) fn new(think_time: Duration) -> Self {
        Self {
            think_time,
            is_alone: false,
            last_id: 0,
            pending: BTreeMap::new(),
        }
    }

    pub(super) fn alone(self) -> Self {
        Self {
            is_alone: true,
            ..self
        }
    }

    pub(super) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// The earliest timeout.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.pending.values().map(|decision| decision.until).min()
    }

    /// Queues a question; if it is pending already, the request waits for the same decision.
    pub(super) fn enqueue(
        &mut self,
        now: Timestamp,
        asked: MoveQuestion,
        reply: PendingReply,
    ) -> EnqueueOutcome {
        let time = allowance(asked.window).min(self.think_time);
        let mut pending = self.pending.values_mut();
        let same = |known: &MoveQuestion| {
            known.match_id == asked.match_id && known.question == asked.question
        };
        if let Some(decision) = pending.find(|decision| same(&decision.asked)) {
            decision.until = decision.until.min(now + time);
            decision.replies.push(reply);
            return EnqueueOutcome::Known;
        }
        let attempt = reply.turn_ref.attempt;
        let mut others = self
            .pending
            .values()
            .filter(|decision| decision.asked.match_id == asked.match_id);
        if others.any(|decision| {
            decision
                .replies
                .iter()
                .any(|other| other.turn_ref.attempt == attempt)
        }) {
            return EnqueueOutcome::Busy;
        }
        if self.pending.len() >= PENDING_MAX {
            return EnqueueOutcome::NoRoom;
        }
        if time.is_zero() {
            return EnqueueOutcome::NoTime(Box::new((asked, reply)));
        }
        self.last_id += 1;
        let id = ExternalId(self.last_id);
        self.pending.insert(
            id,
            PendingDecision {
                asked,
                until: now + time,
                replies: vec![reply],
            },
        );
        EnqueueOutcome::New(id)
    }

    fn due(&self, now: Timestamp) -> Option<ExternalId> {
        self.pending
            .iter()
            .find(|(_, decision)| decision.until <= now)
            .map(|(id, _)| *id)
    }
}

/// The error for a question that was not decided, without a fallback.
pub(super) fn undecided(why: &str) -> LeagueError {
    league_error(
        ErrorCode::InvalidState,
        format!("this player has not decided: {why}"),
    )
}

/// How much of a referee's window the decider may use. Timestamps are in whole seconds, so a window may be a second
/// shorter than it seems; the rest is also for latency.
fn allowance(window: Duration) -> Duration {
    let cautious = (window - window / 10).saturating_sub(Duration::from_secs(1));
    cautious.max(window / 4)
}

impl Player {
    /// The request to the decider for a question that was just queued.
    pub(super) fn decision_request(
        &self,
        now: Timestamp,
        id: ExternalId,
    ) -> Option<DecisionRequest> {
        let PendingDecision {
            asked,
            until,
            replies,
        } = self.decider.as_ref()?.pending.get(&id)?;
        let reply = replies.first()?;
        let turn = TurnSheet::of(
            &self.turn(asked),
            asked.match_id.clone(),
            asked.round_id,
            now,
            *until,
        );
        Some(DecisionRequest {
            id,
            turn,
            until: *until,
            conversation_id: reply.conversation_id().clone(),
            turn_number: reply.turn_ref.turn,
        })
    }

    /// Handles the decider's answer; ignored after the timeout.
    pub(super) fn on_decision(
        &mut self,
        ctx: &mut Ctx<'_>,
        id: ExternalId,
        decision: ExternalResult,
        usage: Option<Usage>,
    ) {
        let pending = self
            .decider
            .as_mut()
            .and_then(|decider| decider.pending.remove(&id));
        if let Some(pending) = pending {
            self.answer_all(ctx, pending, decision, usage);
        }
    }

    /// Times out pending decisions.
    pub(super) fn expire_decisions(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(id) = self
            .decider
            .as_ref()
            .and_then(|decider| decider.due(ctx.now))
        {
            let decision = Err("no decision came in time".to_owned());
            self.on_decision(ctx, id, decision, None);
        }
    }

    fn answer_all(
        &mut self,
        ctx: &mut Ctx<'_>,
        pending: PendingDecision,
        decision: ExternalResult,
        mut usage: Option<Usage>,
    ) {
        let PendingDecision { asked, replies, .. } = pending;
        let (value, fallback) =
            match decision.and_then(|value| turn::check(asked.options.as_slice(), value)) {
                Ok(value) => (value, None),
                Err(why) if self.decider.as_ref().is_some_and(ExternalDecider::is_alone) => {
                    for reply in replies {
                        let content = reply.league_error(ctx.now, undecided(&why));
                        ctx.reply(reply.request, content);
                    }
                    return;
                }
                Err(why) => (self.own_choice(ctx.entropy, &asked), Some(why)),
            };
        // Each attempt has its own nonce, and so its own answer.
        let mut answers: BTreeMap<Attempt, Choice> = BTreeMap::new();
        let mut why = fallback.as_deref();
        for reply in replies {
            let turn_ref = &reply.turn_ref;
            let choice = answers.entry(turn_ref.attempt).or_insert_with(|| {
                self.sign_choice(
                    ctx,
                    &asked,
                    turn_ref,
                    value.clone(),
                    why.take(),
                    usage.take(),
                )
            });
            ctx.reply(reply.request, reply.content(ctx.now, choice));
        }
    }

    /// Cancels all pending decisions: under another identity the same ids name other matches.
    pub(super) fn cancel_decisions(&mut self, ctx: &mut Ctx<'_>) {
        let Some(decider) = &mut self.decider else {
            return;
        };
        for decision in std::mem::take(&mut decider.pending).into_values() {
            for reply in decision.replies {
                let why = "this player has just registered again: ask again";
                let content =
                    reply.league_error(ctx.now, league_error(ErrorCode::InvalidState, why));
                ctx.reply(reply.request, content);
            }
        }
    }
}
