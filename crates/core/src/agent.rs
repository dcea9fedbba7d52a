//! The contract of an agent: a pure state machine. The manager, the referee and the player are three of them. The
//! [`driver`](crate::driver) runs an agent; the program drives it over HTTP, the simulator in virtual time.
//!
//! What an agent relies on:
//! 1. After a start every stored event is [applied](Agent::apply) in order, then [`Input::Wake`] is handled once.
//! 2. Inputs are handled in the order of their arrival, with the time of that arrival, and [`Input::Tick`] when
//!    [`Agent::deadline`] has come and nothing that arrived before it is still on its way.
//! 3. Nothing of a [`Step`] is seen outside before its events, and those of every step before it, are durable.
//! 4. Every call ends: with what came back by its deadline, or with why nothing did, as soon as that is certain.
//! 5. A [`DecisionRequest`] goes to the external decider of the agent, a [`RulesRequest`] to the external program that knows
//!    the rules of its game. The result comes as [`Input::External`], late, twice or never: the agent relies on none, and
//!    asks again after a restart.
//!
//! In return every request gets a reply, in the same step or in a later one.
//!
//! What else a driver can learn from an agent is in small traits beside it: [`DecodeHints`], [`Signing`],
//! [`EventDurability`](crate::driver::EventDurability), [`Metrics`](crate::metrics::Metrics).

mod decode_hints;
mod signing;
mod step;

pub use decode_hints::DecodeHints;
pub use signing::{Signed, Signing, SigningDue};
pub use step::{
    CallDeadline, DecisionRequest, Outgoing, Payload, Reply, RulesRequest, Step, StepContext,
};

use crate::entropy::Entropy;
use crate::protocol::dialect::Dialect;
pub use crate::protocol::operation::{Answer, Ask, Content, Failure};
use crate::protocol::{Sender, Timestamp, Token};
use core::net::IpAddr;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Debug;

/// A state machine that turns inputs into steps. It does no I/O.
pub trait Agent {
    /// What this agent must not forget.
    type Event: Clone + Debug + PartialEq + Serialize + DeserializeOwned;

    /// Handles one input. The state includes the step's events when this returns.
    fn handle(&mut self, now: Timestamp, entropy: &mut Entropy, input: Input) -> Step<Self::Event>;

    /// Applies one event. `handle` changes durable state through this and nothing else, by [`record`](Self::record), so
    /// that a replay of the events leads to the same state.
    fn apply(&mut self, at: Timestamp, event: &Self::Event);

    /// Applies an event and adds it to the step.
    fn record(&mut self, ctx: &mut StepContext<'_, Self::Event>, event: Self::Event) {
        self.apply(ctx.now, &event);
        ctx.step.events.push(event);
    }

    /// When to hand in [`Input::Tick`], if no input comes before.
    fn deadline(&self) -> Option<Timestamp>;

    /// The sender that the agent's messages name: its id once it is registered, its own name before.
    fn sender(&self) -> Sender;
}

/// Everything that an agent can learn from outside.
#[derive(Debug, Clone)]
pub enum Input {
    /// The agent has been started or restarted: all its events have been applied.
    Wake,
    /// A request of a peer.
    Request(Request),
    /// One of our calls has ended.
    Answer {
        /// As the [`Outgoing`] named it.
        call: CallId,
        /// The dialect that the peer understood in the end, which need not be the one of the first attempt.
        dialect: Dialect,
        /// What the peer answered, or why nothing came.
        answer: Answer,
    },
    /// The result of a [`DecisionRequest`] or of a [`RulesRequest`].
    External {
        /// As the request named it.
        id: ExternalId,
        /// A failure is an answer like any other: the agent then goes on by itself.
        result: ExternalResult,
        /// What a language model used for it.
        usage: Option<Usage>,
    },
    /// What the driver's key has signed, or why it could not.
    Signed(Signed),
    /// The deadline has come.
    Tick,
}

/// Names a request until it is replied to. The driver chooses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Names a call until it is answered. The agent chooses it; it does not outlive a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// Names a decision request or a rules request until it has a result or is given up. The agent chooses it; it does not
/// outlive a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExternalId(pub u64);

/// What an external decider or game program answered, or why it did not, in words for people.
pub type ExternalResult = Result<Value, String>;

/// What a language model used: how often it was called, its tokens and their price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Calls of the model's server, those that failed included.
    pub calls: u32,
    /// Tokens of the prompts.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// The price of these tokens in millionths of the currency; 0 if the prices are not known.
    pub cost_micros: u64,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
        }
    }

    /// Tokens of prompts and answers.
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// A call of a peer, after its decoding.
#[derive(Debug, Clone)]
pub struct Request {
    /// What the [`Reply`] must name.
    pub id: RequestId,
    /// The message or question itself, or why it could not be decoded.
    pub ask: Ask,
    /// How the peer wrapped it, so that we can speak to it likewise.
    pub dialect: Dialect,
    /// Whether it came over the loopback interface to an agent that listens there alone.
    pub local: bool,
    /// Why the endpoint that this registration names must not be called, if the driver's rules speak against it: the
    /// rule, and what to do. Only the driver can tell where a name leads.
    pub objection: Option<String>,
    /// The IP address that it came from, if it came over a network.
    pub client: Option<IpAddr>,
    /// The join code in the path that it was sent to, `/join/CODE/mcp`.
    pub join_code: Option<Token>,
}
