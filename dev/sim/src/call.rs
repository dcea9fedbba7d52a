//! A call between hosts, with what both ends remember of it.

use super::agent_id::AgentId;
use super::wire::{Packet, ReplyForm};
use matchday_core::agent::{Answer, CallId};
use matchday_core::driver::CallAttempts;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::decode::Exchange;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::MatchResult;

/// One call, from the first try to send it to its end.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) caller: Caller,
    pub(super) from: AgentId,
    pub(super) to: Option<AgentId>,
    /// Which incarnation of it was there when the call was made: a connection does not outlive the process it was
    /// made to, but what was said may reach the next one by other ways.
    pub(super) to_incarnation: u32,
    /// Of this attempt.
    pub(super) dialect: Dialect,
    /// The outcome of an attempt is its dialect and its answer.
    pub(super) attempts: CallAttempts<(Dialect, Answer)>,
    /// What to send if another dialect is to be tried.
    pub(super) packet: Option<Packet>,
    pub(super) deadline: Timestamp,
    /// The question, which the answer is decoded by.
    pub(super) exchange: Option<Box<Exchange>>,
    pub(super) open: bool,
}

/// Who waits for the answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Caller {
    Agent { incarnation: u32, call: CallId },
    Outsider(Purpose),
}

/// A request that an agent has not replied to yet.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub call: usize,
    pub at: AgentId,
    pub incarnation: u32,
    pub since: Timestamp,
    pub back: ReplyForm,
    pub from_colocated: bool,
    /// The result that was reported, if it is a report: a receipt for it is a promise.
    pub reported: Option<MatchResult>,
}

/// Why an outsider called, and so what its answer must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Launch {
        /// The launcher knew already that the league has started.
        again: bool,
    },
    /// The operator ends a ladder.
    End,
    /// A player leaves a ladder.
    Leave,
    /// A player's answer by a request of its own.
    Separate,
    /// A question, to which any answer will do.
    Ask,
    /// A player's question to the manager.
    Query,
    /// A report under a token that does not allow it.
    Forgery,
    /// A genuine report once more.
    Replay,
    /// A registration in the name of this agent.
    Takeover(AgentId),
}
