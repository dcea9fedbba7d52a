//! Decoded requests and answers: what an agent is asked, and how a call ended.

use super::decode::{Incoming, Rejection};
use super::message::Message;
use super::methods::QueryRequest;
use super::token::Token;
use serde_json::Value;

/// A decoded request.
#[derive(Debug, Clone)]
pub enum Ask {
    /// A league message, or why it was rejected.
    Message(Result<Incoming, Rejection>),
    /// A query, by its method.
    Query(QueryRequest),
    /// `GET /checkpoint`: the latest.
    Checkpoint {
        /// What the caller shows as the operator, who may see it where the league is not open to readers.
        operator_token: Option<Token>,
    },
}

/// How a call of ours ended.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A league message, or why it was rejected.
    Message(Result<Incoming, Rejection>),
    /// An acknowledgement: the answer, if one is awaited, comes as a separate request.
    Received,
    /// An HTTP or JSON-RPC error that carries no league error: the peer does not understand the call. A description for
    /// people.
    NotUnderstood(String),
    /// No valid answer: an HTML page, broken JSON. A description for people.
    Garbled(String),
    /// No answer.
    Undelivered(Failure),
}

/// Why a call got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// E001: the deadline has passed.
    #[error("no answer in time")]
    TimedOut,
    /// E009: no connection could be made.
    #[error("no connection")]
    NoConnection,
    /// E009: the request went out, and the peer closed the connection before it had answered.
    #[error("the connection was closed without an answer")]
    Closed,
    /// E009: no route to the host. One call cannot tell whose fault that is.
    #[error("no route")]
    NoRoute,
    /// A local failure: no file descriptors, ports or memory. It says nothing about the peer.
    #[error("this machine could not make the call")]
    Ours,
    /// The driver's egress policy forbids this address. It says nothing about the peer.
    #[error("the address may not be called")]
    Forbidden,
}

impl Failure {
    /// Every failure, to find one by its text in a log.
    pub const ALL: [Self; 6] = [
        Self::TimedOut,
        Self::NoConnection,
        Self::Closed,
        Self::NoRoute,
        Self::Ours,
        Self::Forbidden,
    ];
}

/// The content of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A league message, which may be a LEAGUE_ERROR.
    Message(Message),
    /// The answer to a request that is not a league message.
    Data(Value),
    /// An acknowledgement.
    Received,
}
