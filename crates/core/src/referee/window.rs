//! The time window of an awaited answer, over all tries.

use crate::agent::CallId;
use crate::protocol::messages::{Blame, Cause};
use crate::protocol::{MessageType, Timestamp};
use smol_str::SmolStr;
use std::time::Duration;

/// The backoff after a first invalid answer; it doubles with each further one, up to eight times.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(1);
const ASK_AGAIN_DOUBLINGS_MAX: u32 = 3;

/// Whether an answer of a player is awaited.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AnswerState {
    /// The player has answered, or is not asked.
    NotAwaited,
    Awaited(Window),
    /// The player has forfeited.
    Forfeit(Box<Forfeit>),
}

/// How a player forfeited.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forfeit {
    pub(super) blame: Blame,
    /// Whether "no route" was the only failure: then it may be this machine's fault.
    pub(super) no_route: bool,
}

/// The time that a player has for one answer, over all tries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Window {
    /// When it was first asked.
    pub(super) since: Timestamp,
    /// When the current try ends.
    pub(super) closes: Timestamp,
    /// After a failed try: when the next begins.
    pub(super) pause: Option<Timestamp>,
    /// The number of earlier tries.
    pub(super) retries: u32,
    /// The number of invalid answers in this try.
    pub(super) invalid_answers: u32,
    /// How often it was asked again after an invalid answer, in all tries.
    pub(super) asked_again: u32,
    /// When to ask again within this try, after an invalid answer.
    pub(super) ask_again: Option<Timestamp>,
    /// The last invalid answer in this try.
    pub(super) last_invalid: Option<String>,
    /// The last failure in any try.
    pub(super) last: Option<String>,
    /// Whether "no route" was the only failure so far.
    pub(super) no_route: bool,
    /// How often a try failed for a local reason.
    pub(super) own_failures: u32,
    /// Whether the current try failed for a local reason and does not count.
    pub(super) own_failure: bool,
    /// The call of this try.
    pub(super) call: Option<CallId>,
}

impl Window {
    pub(super) fn open(now: Timestamp, closes: Timestamp) -> Self {
        Self {
            since: now,
            closes,
            pause: None,
            retries: 0,
            invalid_answers: 0,
            asked_again: 0,
            ask_again: None,
            last_invalid: None,
            last: None,
            no_route: true,
            own_failures: 0,
            own_failure: false,
            call: None,
        }
    }

    /// Starts the next try.
    pub(super) fn reopen(&mut self, closes: Timestamp) {
        *self = Self {
            retries: self.retries.saturating_add(u32::from(!self.own_failure)),
            last: self.last.take(),
            asked_again: self.asked_again,
            no_route: self.no_route,
            own_failures: self.own_failures,
            ..Self::open(self.since, closes)
        };
    }

    /// The next deadline.
    pub(super) fn due(&self) -> Timestamp {
        self.pause
            .unwrap_or_else(|| self.ask_again.map_or(self.closes, |at| at.min(self.closes)))
    }

    /// Schedules another question after an invalid answer, with backoff, if that is still within this try.
    pub(super) fn plan_to_ask_again(&mut self, now: Timestamp) {
        let doublings = self.invalid_answers.min(ASK_AGAIN_DOUBLINGS_MAX);
        self.invalid_answers = self.invalid_answers.saturating_add(1);
        let at = now + ASK_AGAIN_AFTER.saturating_mul(1 << doublings);
        self.ask_again = self.ask_again.or(Some(at).filter(|at| *at < self.closes));
    }

    /// The player's time is up, or it declined.
    pub(super) fn forfeit(&self, now: Timestamp, cause: Cause, owed: MessageType) -> AnswerState {
        let blame = Blame {
            owed: Some(SmolStr::new_static(owed.name())),
            tries: Some(
                self.retries
                    .saturating_add(self.asked_again)
                    .saturating_add(1),
            ),
            since: Some(self.since.whole_second()),
            until: Some(now.whole_second()),
            evidence: self
                .last_invalid
                .clone()
                .or_else(|| self.last.clone())
                .map(Into::into),
            ..Blame::on_player(cause)
        };
        AnswerState::Forfeit(Box::new(Forfeit {
            blame,
            no_route: self.no_route && cause == Cause::Unreachable,
        }))
    }
}
