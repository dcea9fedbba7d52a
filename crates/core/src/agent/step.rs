//! One step of an agent: the effects of one input, and the context in which they are collected.

use super::{CallId, Content, ExternalId, RequestId};
use crate::entropy::Entropy;
use crate::game::turn::TurnSheet;
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::{ConversationId, MatchId};
use crate::protocol::text::Endpoint;
use crate::protocol::{Message, Timestamp};
use serde_json::Value;
use std::time::Duration;

/// The effects of one input, to be carried out in this order.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Step<E> {
    /// 1. Store durably.
    pub events: Vec<E>,
    /// 2. Then send.
    pub outbox: Vec<Outgoing>,
    /// 3. Then answer.
    pub replies: Vec<Reply>,
    /// 4. Then ask the external decider.
    pub decision_requests: Vec<DecisionRequest>,
    /// 5. Then ask the external game program.
    pub rules_requests: Vec<RulesRequest>,
}

impl<E> Default for Step<E> {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            outbox: Vec::new(),
            replies: Vec::new(),
            decision_requests: Vec::new(),
            rules_requests: Vec::new(),
        }
    }
}

/// The time and the entropy of one input, and the step under construction.
#[derive(Debug)]
pub struct StepContext<'a, E> {
    /// The agent's time, which never runs backwards.
    pub now: Timestamp,
    /// The only source of randomness of this step.
    pub entropy: &'a mut Entropy,
    /// What the step has come to so far.
    pub step: Step<E>,
}

impl<'a, E> StepContext<'a, E> {
    /// Begins a step without effects.
    pub fn new(now: Timestamp, entropy: &'a mut Entropy) -> Self {
        Self {
            now,
            entropy,
            step: Step::default(),
        }
    }

    /// Answers a request of a peer, once the step's events are durable.
    pub fn reply(&mut self, to: RequestId, content: Content) {
        self.step.replies.push(Reply { to, content });
    }
}

/// A call to a peer.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Chosen by the agent; the answer names it.
    pub call: CallId,
    /// Where the peer listens.
    pub to: Endpoint,
    /// The dialect of the first attempt; the driver may try others.
    pub dialect: Dialect,
    /// What is sent.
    pub payload: Payload,
    /// When to give up waiting for the answer.
    pub deadline: CallDeadline,
}

/// When the caller gives up waiting for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallDeadline {
    /// At this time, by the window of a match.
    At(Timestamp),
    /// So long after the call was sent. The peer loses no time by what the caller's log takes, or by a stop of its process.
    After(Duration),
}

impl CallDeadline {
    /// The time, for a call that is sent at `sent_at`.
    pub fn resolve(self, sent_at: Timestamp) -> Timestamp {
        match self {
            Self::At(deadline) => deadline,
            Self::After(timeout) => sent_at + timeout,
        }
    }
}

/// What a call carries.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// A message of the protocol.
    Message(Message),
    /// `ping`: any answer whatever shows that someone is there.
    Probe,
    /// Nothing: that a connection is accepted shows it. For agents that have not said that they know `ping`.
    Connect,
}

/// The answer to a request of a peer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The request that is answered.
    pub to: RequestId,
    /// What the driver writes in the dialect of the request.
    pub content: Content,
}

/// Asks the external decider of a player for a move.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionRequest {
    /// Chosen by the agent; the result names it.
    pub id: ExternalId,
    /// All that the decider may know.
    pub turn: TurnSheet,
    /// When the agent falls back on a strategy of its own.
    pub until: Timestamp,
    /// That of the referee's question.
    pub conversation_id: ConversationId,
    /// Absent if the referee does not number turns.
    pub turn_number: Option<u32>,
}

/// Asks an external game program where these moves lead. The result is a position, as [`crate::game::external`] reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct RulesRequest {
    /// Chosen by the agent; the result names it.
    pub id: ExternalId,
    /// Which match of the program it is about.
    pub match_id: MatchId,
    /// Every turn from the beginning.
    pub history: Vec<Value>,
    /// When the agent goes on without an answer.
    pub until: Timestamp,
}
