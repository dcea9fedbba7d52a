//! The one idea: an agent is a pure state machine. Manager, referee and player are three of them, and whoever drives
//! one, the program over HTTP or the simulator in virtual time, does it by this contract and no other.
//!
//! The driver's duties:
//! 1. After a start, [`Agent::apply`] every stored event in order, then hand in [`Input::Wake`] once.
//! 2. Hand in every input in the order in which it arrived, with the time of its *arrival*, and [`Input::Tick`] when
//!    [`Agent::deadline`] has come and nothing that arrived before it is waiting.
//! 3. Of each [`Step`]: store the events durably, *then* send the outbox and the replies. Nothing of a step may be seen
//!    outside before its events, and those of every step before it, are durable; those that [`Agent::can_wait`] may
//!    reach the disk a little later.
//! 4. Answer every call: with what came back by its deadline, or with why nothing did, as soon as that is certain.
//! 5. Give every request its reply, which may come in a later step.
//! 6. Put every [`Inquiry`] of a step, once the step may be seen, to the mind outside that decides for the agent, if it
//!    has one, and hand in what that decides as [`Input::Decided`]. A decision may come late, twice or never: the agent
//!    relies on none, and asks again after a restart. Likewise put every [`Appeal`] to whoever knows the rules of its game.
//! 7. A driver that keeps a key for the agent looks at [`Agent::signing`] after each step, and hands in what it has signed
//!    as [`Input::Signed`]. One that keeps none leaves it at that: nothing else depends on it.

use crate::census::{Census, Milestone};
use crate::entropy::Entropy;
use crate::player::TurnSheet;
use crate::protocol::decode::{Conformance, Incoming, Limits, Rejection};
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::text::Endpoint;
use crate::protocol::{Message, Sender, Timestamp, Token};
use crate::signature::{PublicKey, Signature};
use core::net::IpAddr;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;

pub trait Agent {
    /// What this agent must not forget.
    type Event: Clone + Debug + PartialEq + Serialize + DeserializeOwned;

    /// The only way anything happens. The state has taken in the step's events when this returns.
    fn handle(&mut self, now: Timestamp, entropy: &mut Entropy, input: Input) -> Step<Self::Event>;

    /// Takes in one event of the past. `handle` changes what must last through this and nothing else.
    fn apply(&mut self, at: Timestamp, event: &Self::Event);

    /// When to hand in [`Input::Tick`], if nothing else happens before.
    fn deadline(&self) -> Option<Timestamp>;

    /// Whether what rests on this event can bear its loss, so that it need not have reached the disk before its step may
    /// be seen. It must outlive the death of the process all the same, and reach the disk soon: only a machine that fails
    /// within a second can lose it.
    fn can_wait(_event: &Self::Event) -> bool {
        false
    }

    /// How strictly, and how much at most, the driver is to read of what peers send. It does not change after the
    /// stored events have been applied.
    fn reading(&self) -> (Conformance, Limits);

    /// Of what is told to everyone, whose part alone the agent cares for: the driver need not read the rest to it.
    fn reads_about(&self) -> Option<&PlayerId> {
        None
    }

    /// What an event counts as, for whoever keeps figures. Most count as nothing.
    fn milestone(_event: &Self::Event) -> Option<Milestone<'_>> {
        None
    }

    /// What the driver's key is to sign, if the agent is one that has anything signed.
    fn signing(&self) -> Option<SigningDue<'_>> {
        None
    }

    /// How the agent stands, in figures.
    fn census(&self) -> Census {
        Census::default()
    }

    /// How the agent signs: by the id it was registered under, by its own word for itself before that.
    fn sender(&self) -> Sender;
}

#[derive(Debug, Clone)]
pub enum Input {
    /// The agent has been started, or started again: all its events have been applied.
    Wake,
    /// A peer asks.
    Request(Request),
    /// One of our calls has come to its end.
    Answer {
        call: CallId,
        /// The dialect that the peer understood in the end, which need not be the one we began with.
        dialect: Dialect,
        answer: Answer,
    },
    /// A mind outside has answered an inquiry, or the rules outside an appeal.
    Decided { inquiry: InquiryId, decision: Decision },
    /// The driver's key has signed what was due, or could not.
    Signed(Signed),
    /// The deadline has come.
    Tick,
}

/// How an agent stands with the key that the driver keeps for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SigningDue<'a> {
    pub league_id: &'a LeagueId,
    /// The public key that its events name. If it is not the driver's, the driver's is to be announced.
    pub key: Option<&'a PublicKey>,
    /// Whether a new key is wanted.
    pub rotation: bool,
    /// Whether the head of its hash chain is to be signed.
    pub checkpoint: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signed {
    /// A key, signed by the one before it where the driver has that.
    Key { public_key: PublicKey, signature: Option<Signature> },
    /// A checkpoint, as a signed note.
    Checkpoint { note: String },
    /// No new key could be made; why.
    Failed(String),
}

/// Names a request until it is replied to. The driver chooses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Names a call until it is answered. The agent chooses it; it does not outlive a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// Names an inquiry until it is decided or given up. The agent chooses it; it does not outlive a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InquiryId(pub u64);

/// What a mind outside has decided, or why it has not, in words for people.
pub type Decision = Result<Value, String>;

#[derive(Debug, Clone)]
pub struct Request {
    pub id: RequestId,
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

/// What is asked of an agent.
#[derive(Debug, Clone)]
pub enum Ask {
    /// A league message, or why it is none.
    Message(Result<Incoming, Rejection>),
    /// A look at the league, for anyone.
    Look(Look),
    /// `get_match_state`: for debugging a referee.
    MatchState(Option<MatchId>),
    /// `get_player_state`: for debugging a player.
    PlayerState,
    /// `ping`: is anyone there?
    Ping,
}

/// What anyone may see of a league that is open to readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// `get_standings`, with all that we add to the table however large it is, or within the size of a message
    Standings { detail: bool },
    /// `get_schedule`, of all rounds or of one
    Schedule(Option<RoundId>),
    /// `get_status`
    Status,
    /// `get_player_stats`
    Stats(PlayerId),
    /// `get_referees`
    Referees,
    /// `get_games`, of all games or of one
    Games(Option<GameType>),
    /// `GET /checkpoint`: the latest
    Checkpoint,
}

/// How a call of ours ended.
#[derive(Debug, Clone)]
pub enum Answer {
    /// With a league message, or with one that breaks a rule.
    Message(Result<Incoming, Rejection>),
    /// With no more than "received": an answer, if one is owed, comes by a request of its own.
    Received,
    /// With something that is no answer at all: an HTTP error, a page, broken JSON. In words for people.
    Garbled(String),
    /// Not at all.
    Undelivered(Failure),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// E001: nothing came by the deadline.
    #[error("no answer in time")]
    TimedOut,
    /// E009: no connection could be made.
    #[error("no connection")]
    NoConnection,
    /// E009: the request went out, and the peer closed the connection before it had answered.
    #[error("the connection was closed without an answer")]
    Closed,
    /// E009: there is no way from here to there. Whose fault that is, one call alone cannot tell.
    #[error("no route")]
    NoRoute,
    /// The caller's own machine could not make the call: it has no handles, ports or memory left. It says nothing about
    /// the peer.
    #[error("this machine could not make the call")]
    Ours,
    /// The driver's own rules forbid to call this address. It says nothing about the peer.
    #[error("the address may not be called")]
    Forbidden,
}

/// All that comes of one input, to be carried out in this order.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Step<E> {
    /// 1. Store durably.
    pub events: Vec<E>,
    /// 2. Then send.
    pub outbox: Vec<Outgoing>,
    /// 3. Then answer.
    pub replies: Vec<Reply>,
    /// 4. Then ask the mind outside.
    pub inquiries: Vec<Inquiry>,
    /// 5. Then ask the rules outside.
    pub appeals: Vec<Appeal>,
}

impl<E> Default for Step<E> {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            outbox: Vec::new(),
            replies: Vec::new(),
            inquiries: Vec::new(),
            appeals: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    pub call: CallId,
    pub to: Endpoint,
    pub dialect: Dialect,
    pub parcel: Parcel,
    /// When to give up waiting for the answer.
    pub deadline: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Parcel {
    Message(Message),
    /// `ping`: any answer whatever shows that someone is there.
    Probe,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub to: RequestId,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Message(Message),
    /// The answer to a question that is not a league message.
    Data(Value),
    /// "Received", for messages to which the protocol demands no answer.
    Received,
}

/// A question to a mind outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Inquiry {
    pub id: InquiryId,
    pub turn: TurnSheet,
    /// When the agent decides for itself, if nothing has been decided until then.
    pub until: Timestamp,
}

/// A question to the rules outside: where do these moves lead? The answer is a position, as [`crate::game::outside`] reads
/// it.
#[derive(Debug, Clone, PartialEq)]
pub struct Appeal {
    pub id: InquiryId,
    pub match_id: MatchId,
    /// Every turn from the beginning.
    pub history: Vec<Value>,
    /// When the agent goes on without an answer.
    pub until: Timestamp,
}
