//! What a player owes in a match, and until when. Arithmetic on times; nothing is sent from here.

use crate::agent::CallId;
use crate::protocol::Timestamp;

/// How a player stands with its referee at this point of a match.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Debt {
    /// It has answered, or is not asked.
    Clear,
    Owes(Window),
    /// It has lost the match by its own doing.
    Forfeit(Fault),
}

/// Why a player forfeits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Silent,
    Unreachable,
    Declined,
    Invalid,
}

impl Fault {
    /// What the player did, as the middle of a sentence.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Silent => "failed to respond within timeout",
            Self::Unreachable => "could not be reached",
            Self::Declined => "declined the invitation",
            Self::Invalid => "gave no valid answer within timeout",
        }
    }
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
    /// How often it was asked again within this try, because what came was wrong.
    pub(super) reasks: u32,
    /// Whether something wrong came within this try.
    pub(super) wrong: bool,
    /// The call that asks in this try.
    pub(super) call: Option<CallId>,
}

impl Window {
    pub(super) fn open(now: Timestamp, closes: Timestamp) -> Self {
        Self { since: now, closes, pause: None, retries: 0, reasks: 0, wrong: false, call: None }
    }

    /// The next try.
    pub(super) fn reopen(&mut self, closes: Timestamp) {
        *self = Self { closes, retries: self.retries.saturating_add(1), ..Self::open(self.since, closes) };
    }

    /// When something happens of itself.
    pub(super) fn due(&self) -> Timestamp {
        self.pause.unwrap_or(self.closes)
    }
}
