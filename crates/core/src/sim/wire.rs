//! What travels between hosts: values as they are, or the bytes that HTTP would carry, read and written by the same
//! functions as in the program.

use super::who::Who;
use crate::agent::{Answer, Ask, Content};
use crate::protocol::decode::{Conformance, Exchange, Incoming, Limits, Reading, decode};
use crate::protocol::dialect::Dialect;
use crate::protocol::dialect::answer::{WireAnswer, read_answer};
use crate::protocol::dialect::call::{write_call, write_probe};
use crate::protocol::dialect::reply::{HttpReply, write_reply};
use crate::protocol::dialect::request::{Asked, ReplyTo, Requests, read_requests};
use crate::protocol::dialect::seam;
use crate::protocol::json::Json;
use crate::protocol::{Body, Message, PlayerId, Sender, Timestamp};

/// In which form messages travel in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Typed,
    Json,
}

/// What a call carries.
#[derive(Debug, Clone)]
pub(super) enum Freight {
    Message(Message),
    Ask(Ask),
    /// The body of an HTTP request.
    Bytes(Vec<u8>),
}

/// What comes back.
#[derive(Debug, Clone)]
pub(super) enum Back {
    Answer(Answer),
    /// An HTTP response.
    Http(HttpReply),
}

/// How the reply to a request is to be written.
#[derive(Debug, Clone)]
pub(super) enum Return {
    AsIs,
    Http(ReplyTo, Dialect),
}

/// A request as the agent is to see it.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub ask: Ask,
    pub dialect: Dialect,
    pub back: Return,
}

/// How a host reads.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    pub conformance: Conformance,
    pub limits: Limits,
    pub now: Timestamp,
    pub about: Option<PlayerId>,
}

impl Reader {
    pub(super) fn of(who: Who, conformance: Conformance, now: Timestamp, about: Option<PlayerId>) -> Self {
        let limits = match who {
            Who::Manager => Limits::MANAGER,
            _ => Limits::AGENT,
        };
        Self { conformance, limits, now, about }
    }

    fn reading<'a>(&'a self, exchange: Option<&'a Exchange>) -> Reading<'a> {
        let about = self.about.as_ref();
        Reading { conformance: self.conformance, now: self.now, limits: self.limits, exchange, about }
    }

    /// Reads a request; what cannot be put to an agent comes back as the response to send.
    pub(super) fn unpack(&self, freight: Freight, dialect: Dialect) -> Result<Unpacked, HttpReply> {
        let as_is = |ask| Ok(Unpacked { ask, dialect, back: Return::AsIs });
        let bytes = match freight {
            Freight::Message(message) => return as_is(Ask::Message(Ok(intact(message)))),
            Freight::Ask(ask) => return as_is(ask),
            Freight::Bytes(bytes) => bytes,
        };
        let request = match read_requests(&bytes, &self.limits) {
            Requests::One(request) => request,
            Requests::Refused(reply) => return Err(reply),
            Requests::Batch(_) => return Err(HttpReply { status: 500, body: Vec::new() }),
        };
        let ask = match request.asked {
            Asked::Message { value, .. } => Ask::Message(decode(value, &self.reading(None))),
            Asked::Look(look) => Ask::Look(look),
            Asked::MatchState(match_id) => Ask::MatchState(match_id),
            Asked::PlayerState => Ask::PlayerState,
            Asked::Ping => Ask::Ping,
            Asked::Discover | Asked::Foreign { .. } => {
                return Err(HttpReply { status: 500, body: Vec::new() });
            }
        };
        let back = Return::Http(request.reply_to, request.dialect);
        Ok(Unpacked { ask, dialect: request.dialect, back })
    }

    /// Reads what came back to a call.
    pub(super) fn answer(&self, back: Back, exchange: Option<&Exchange>) -> Answer {
        let HttpReply { status, body } = match back {
            Back::Answer(answer) => return answer,
            Back::Http(reply) => reply,
        };
        match read_answer(status, &body, &self.limits) {
            WireAnswer::Message(value) => self.message(value, exchange),
            WireAnswer::Refused(value) => Answer::Message(seam::refused(value, &self.reading(exchange))),
            WireAnswer::Received => Answer::Received,
            WireAnswer::MethodNotFound => Answer::Garbled("the method is not known".into()),
            WireAnswer::Error { message, .. } | WireAnswer::Garbled(message) => Answer::Garbled(message),
        }
    }

    pub(super) fn message(&self, value: Json<'_>, exchange: Option<&Exchange>) -> Answer {
        Answer::Message(decode(value, &self.reading(exchange)))
    }
}

impl Wire {
    /// Wraps what a call carries.
    pub(super) fn pack(self, freight: Freight, dialect: Dialect, number: usize) -> Freight {
        let id = i64::try_from(number).unwrap_or(i64::MAX);
        match (self, freight) {
            (Self::Json, Freight::Message(message)) => Freight::Bytes(write_call(dialect, id, &message)),
            (Self::Json, Freight::Ask(Ask::Ping)) => Freight::Bytes(write_probe(id)),
            (_, freight) => freight,
        }
    }
}

impl Return {
    /// Wraps a reply.
    pub(super) fn pack(&self, content: Content) -> Back {
        match self {
            Self::Http(to, dialect) => Back::Http(HttpReply::one(write_reply(to, *dialect, &content))),
            Self::AsIs => Back::Answer(match content {
                Content::Message(message) => Answer::Message(Ok(intact(message))),
                Content::Data(_) | Content::Received => Answer::Received,
            }),
        }
    }
}

/// A message as a reader without any complaint gives it.
pub(super) fn intact(message: Message) -> Incoming {
    Incoming {
        message_type: message.message_type(),
        envelope: message.envelope,
        body: Ok(message.body),
        deviations: Vec::new(),
    }
}

/// What a caller remembers of its call, to read the answer by.
pub(super) fn exchange(message: &Message) -> Option<Exchange> {
    let (peer, match_id, player_id) = match &message.body {
        Body::GameInvitation(call) => {
            let player = call.player_id.clone()?;
            (Sender::Player(player.clone()), Some(call.match_id.clone()), Some(player))
        }
        Body::ChooseParityCall(call) => (
            Sender::Player(call.player_id.clone()),
            Some(call.match_id.clone()),
            Some(call.player_id.clone()),
        ),
        Body::GameMoveCall(call) => (
            Sender::Player(call.player_id.clone()),
            Some(call.match_id.clone()),
            Some(call.player_id.clone()),
        ),
        Body::MatchResultReport(report) => (Sender::LeagueManager, Some(report.match_id.clone()), None),
        _ => return None,
    };
    let conversation_id = message.envelope.conversation_id.clone();
    Some(Exchange { peer, conversation_id, league_id: None, match_id, player_id })
}
