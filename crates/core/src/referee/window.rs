//! What a player owes in a match, and until when. Arithmetic on times; nothing is sent from here.

use crate::agent::CallId;
use crate::protocol::messages::{Blame, Cause};
use crate::protocol::{MessageType, Timestamp};
use smol_str::SmolStr;
use std::time::Duration;

/// How long a player is left alone after a first wrong answer; after each further one twice as long, up to eight times.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(1);
const ASK_AGAIN_DOUBLINGS_MAX: u32 = 3;

/// How a player stands with its referee at this point of a match.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Debt {
    /// It has answered, or is not asked.
    Clear,
    Owes(Window),
    /// It has lost the match by its own doing.
    Forfeit(Box<Forfeit>),
}

/// How a player came to lose.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forfeit {
    pub(super) blame: Blame,
    /// Whether all that ever went wrong was that there is no way from here to there: then it may be our own fault.
    pub(super) no_route: bool,
}

/// The time that a player has for one answer, over all tries to get it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Window {
    /// When it was first asked.
    pub(super) since: Timestamp,
    /// When the present try ends.
    pub(super) closes: Timestamp,
    /// After a failed try: when the next begins.
    pub(super) pause: Option<Timestamp>,
    /// How many tries there were before this one.
    pub(super) retries: u32,
    /// How often what came within this try was wrong.
    pub(super) wrong_answers: u32,
    /// When to ask again within this try, because what came was wrong.
    pub(super) ask_again: Option<Timestamp>,
    /// The last wrong thing that came within this try.
    pub(super) wrong: Option<String>,
    /// What went wrong last, in any try.
    pub(super) last: Option<String>,
    /// Whether nothing else went wrong so far than that there was no way to the player.
    pub(super) no_route: bool,
    /// How often it was not asked, or not heard, by our own fault.
    pub(super) our_faults: u32,
    /// Whether the present try is not to be counted, because it went wrong by our own fault.
    pub(super) excused: bool,
    /// The call that asks in this try.
    pub(super) call: Option<CallId>,
}

impl Window {
    pub(super) fn open(now: Timestamp, closes: Timestamp) -> Self {
        Self {
            since: now,
            closes,
            pause: None,
            retries: 0,
            wrong_answers: 0,
            ask_again: None,
            wrong: None,
            last: None,
            no_route: true,
            our_faults: 0,
            excused: false,
            call: None,
        }
    }

    /// The next try.
    pub(super) fn reopen(&mut self, closes: Timestamp) {
        *self = Self {
            retries: self.retries.saturating_add(u32::from(!self.excused)),
            last: self.last.take(),
            no_route: self.no_route,
            our_faults: self.our_faults,
            ..Self::open(self.since, closes)
        };
    }

    /// When something happens of itself.
    pub(super) fn due(&self) -> Timestamp {
        self.pause.unwrap_or_else(|| self.ask_again.map_or(self.closes, |at| at.min(self.closes)))
    }

    /// What came was wrong: plans to ask again, later each time, if that is still within this try.
    pub(super) fn plan_to_ask_again(&mut self, now: Timestamp) {
        let doublings = self.wrong_answers.min(ASK_AGAIN_DOUBLINGS_MAX);
        self.wrong_answers = self.wrong_answers.saturating_add(1);
        let at = now + ASK_AGAIN_AFTER.saturating_mul(1 << doublings);
        self.ask_again = self.ask_again.or(Some(at).filter(|at| *at < self.closes));
    }

    /// The player has used up its time, or has said that it does not want it.
    pub(super) fn forfeit(&self, now: Timestamp, cause: Cause, owed: MessageType) -> Debt {
        let blame = Blame {
            owed: Some(SmolStr::new_static(owed.name())),
            tries: Some(self.retries.saturating_add(1)),
            since: Some(self.since.whole_second()),
            until: Some(now.whole_second()),
            evidence: self.wrong.clone().or_else(|| self.last.clone()).map(Into::into),
            ..Blame::on_player(cause)
        };
        Debt::Forfeit(Box::new(Forfeit { blame, no_route: self.no_route && cause == Cause::Unreachable }))
    }
}
