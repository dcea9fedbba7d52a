//! The outcome of one step of an agent: a batch for its log, and the effects that wait for it.

use super::Durability;
use crate::agent::{DecisionRequest, Outgoing, Reply, RulesRequest};
use crate::protocol::Timestamp;

/// One step. A step without events is a batch as well: what it sends may follow from one that is not durable yet.
#[derive(Debug)]
#[must_use]
pub struct Batch<E> {
    /// The agent's time in this step, which never runs backwards.
    pub at: Timestamp,
    /// What the agent has recorded. The agent's state includes them already.
    pub events: Vec<E>,
    /// The events as lines of the log.
    pub lines: Vec<String>,
    /// The strongest durability that any of its events demands.
    pub durability: Durability,
    /// Effects on colocated agents: released as soon as the batch has its place in the order of the log, which they share.
    /// A crash that loses the batch loses whatever they did since.
    pub when_ordered: Effects,
    /// All other effects: released when the log confirms that the batch, and all before it, are durable.
    pub when_durable: Effects,
}

impl<E> Batch<E> {
    /// Whether the log has to hear of it.
    pub fn needs_append(&self) -> bool {
        !self.lines.is_empty() || !self.when_durable.is_empty()
    }
}

/// What a step does to others, to be carried out in this order.
#[derive(Debug, Default, PartialEq)]
pub struct Effects {
    /// Calls to peers, with a deadline each.
    pub calls: Vec<Call>,
    /// Replies to requests of peers.
    pub replies: Vec<Reply>,
    /// Questions to the external decider of a player.
    pub decision_requests: Vec<DecisionRequest>,
    /// Questions to the external game program of a referee.
    pub rules_requests: Vec<RulesRequest>,
}

impl Effects {
    /// Whether the step does nothing to others.
    pub fn is_empty(&self) -> bool {
        let Self {
            calls,
            replies,
            decision_requests,
            rules_requests,
        } = self;
        calls.is_empty()
            && replies.is_empty()
            && decision_requests.is_empty()
            && rules_requests.is_empty()
    }
}

/// A call, and how its dialect may change.
#[derive(Debug, PartialEq)]
pub struct Call {
    /// What to send, in its first dialect.
    pub outgoing: Outgoing,
    /// Whether other dialects may be tried: not if the peer has understood this one before. If it does not know a message
    /// in that, it does not know the message.
    pub try_dialects: bool,
}
