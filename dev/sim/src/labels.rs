//! Text forms of calls and messages in the trace.

use super::agent_id::AgentId;
use super::wire::Packet;
use matchday_core::agent::{Answer, Ask};
use matchday_core::protocol::Body;
use std::fmt;

/// How a party is called in the trace.
pub(super) struct AgentLabel(pub(super) Option<AgentId>);

impl fmt::Display for AgentLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(who) => who.fmt(f),
            None => f.write_str("nobody"),
        }
    }
}

/// How a call's content is called in the trace.
pub(super) struct Label<'a>(pub(super) &'a Packet);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Packet::Message(message) => {
                write!(
                    f,
                    "{} {}",
                    message.message_type(),
                    message.envelope.conversation_id
                )
            }
            Packet::Ask(ask) => AskLabel(ask).fmt(f),
            Packet::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}

/// How a request is called in the trace.
pub(super) struct AskLabel<'a>(pub(super) &'a Ask);

impl fmt::Display for AskLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ask::Message(Ok(incoming)) => {
                write!(
                    f,
                    "{} {}",
                    incoming.message_type, incoming.envelope.conversation_id
                )
            }
            Ask::Message(Err(rejection)) => write!(f, "a breach: {rejection}"),
            Ask::Query(request) => f.write_str(request.query.name()),
            Ask::Checkpoint { .. } => f.write_str("checkpoint"),
        }
    }
}

/// How the end of a call is called in the trace.
pub(super) struct AnswerLabel<'a>(pub(super) &'a Answer);

impl fmt::Display for AnswerLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Answer::Message(Ok(incoming)) => match &incoming.body {
                Ok(Body::LeagueError(error)) => {
                    write!(f, "LEAGUE_ERROR {}", error.error_code.code())
                }
                Ok(_) => write!(f, "{}", incoming.message_type),
                Err(rejection) => write!(
                    f,
                    "{} with {}",
                    incoming.message_type,
                    rejection.code.code()
                ),
            },
            Answer::Message(Err(rejection)) => write!(f, "a breach: {}", rejection.code.code()),
            Answer::Received => f.write_str("received"),
            Answer::NotUnderstood(_) => f.write_str("not understood"),
            Answer::Garbled(_) => f.write_str("garbage"),
            Answer::Undelivered(failure) => write!(f, "{failure}"),
        }
    }
}
