//! What travels between hosts: values as they are, or the bytes that HTTP would carry, read and written by the same
//! functions as in the program.

use super::agent_id::AgentId;
use matchday_core::agent::{Answer, Ask, Content};
use matchday_core::driver::Understood;
use matchday_core::protocol::decode::{Conformance, Exchange, Limits, Reading, decode};
use matchday_core::protocol::dialect::answer::read_answer;
use matchday_core::protocol::dialect::call::{write_call, write_probe};
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{ReplyTo, Requests, read_requests};
use matchday_core::protocol::dialect::{Dialect, decode_wire};
use matchday_core::protocol::{Body, Message, PlayerId, Query, QueryRequest, Sender, Timestamp};
use serde_json::Value;

/// In which form messages travel in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// As values, without any encoding: fast.
    Typed,
    /// As the bytes that HTTP would carry, encoded and decoded by the program's own functions.
    Json,
}

/// What a call carries.
#[derive(Debug, Clone)]
pub(super) enum Packet {
    Message(Message),
    Ask(Ask),
    /// The body of an HTTP request.
    Bytes(Vec<u8>),
}

/// What comes back.
#[derive(Debug, Clone)]
pub(super) enum Response {
    Answer(Answer),
    /// An HTTP response.
    Http(HttpReply),
    /// The peer does not know the method.
    MethodNotFound,
}

/// How the reply to a request is to be written.
#[derive(Debug, Clone)]
pub(super) enum ReplyForm {
    AsIs,
    Http(ReplyTo, Dialect),
}

/// A request as the agent is to see it.
#[derive(Debug)]
pub(super) struct DecodedRequest {
    pub ask: Ask,
    pub dialect: Dialect,
    pub back: ReplyForm,
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
    pub(super) fn of(
        who: AgentId,
        conformance: Conformance,
        now: Timestamp,
        about: Option<PlayerId>,
    ) -> Self {
        let limits = match who {
            AgentId::Manager => Limits::MANAGER,
            _ => Limits::AGENT,
        };
        Self {
            conformance,
            limits,
            now,
            about,
        }
    }

    fn reading<'a>(&'a self, exchange: Option<&'a Exchange>) -> Reading<'a> {
        let about = self.about.as_ref();
        Reading {
            conformance: self.conformance,
            now: self.now,
            limits: self.limits,
            exchange,
            about,
        }
    }

    /// Reads a request; what cannot be put to an agent comes back as the response to send.
    pub(super) fn unpack(
        &self,
        packet: Packet,
        dialect: Dialect,
    ) -> Result<DecodedRequest, HttpReply> {
        let as_is = |ask| {
            Ok(DecodedRequest {
                ask,
                dialect,
                back: ReplyForm::AsIs,
            })
        };
        let bytes = match packet {
            Packet::Message(message) => return as_is(Ask::Message(Ok(message.into()))),
            Packet::Ask(ask) => return as_is(ask),
            Packet::Bytes(bytes) => bytes,
        };
        let request = match read_requests(&bytes, &self.limits) {
            Requests::One(request) => request,
            Requests::Refused(reply) => return Err(reply),
            Requests::Batch(_) => {
                return Err(HttpReply {
                    status: 500,
                    body: Vec::new(),
                });
            }
        };
        let Some(ask) = decode_wire::ask(request.asked, &self.reading(None)) else {
            return Err(HttpReply {
                status: 500,
                body: Vec::new(),
            });
        };
        let back = ReplyForm::Http(request.reply_to, request.dialect);
        Ok(DecodedRequest {
            ask,
            dialect: request.dialect,
            back,
        })
    }

    /// Reads what came back to a call.
    pub(super) fn answer(
        &self,
        back: Response,
        exchange: Option<&Exchange>,
    ) -> (Answer, Understood) {
        let answer = match back {
            Response::Answer(answer) => answer,
            Response::MethodNotFound => Answer::NotUnderstood("the method is not known".into()),
            Response::Http(HttpReply { status, body }) => decode_wire::answer(
                read_answer(status, &body, &self.limits),
                &self.reading(exchange),
            ),
        };
        let understood = Understood::of(&answer);
        (answer, understood)
    }

    pub(super) fn message(&self, value: &Value, exchange: Option<&Exchange>) -> Answer {
        Answer::Message(decode(value, &self.reading(exchange)))
    }
}

impl Wire {
    /// Wraps what a call carries.
    pub(super) fn pack(self, packet: Packet, dialect: Dialect, number: usize) -> Packet {
        let id = i64::try_from(number).unwrap_or(i64::MAX);
        match (self, packet) {
            (Self::Json, Packet::Message(message)) => {
                Packet::Bytes(write_call(dialect, id, &message))
            }
            (
                Self::Json,
                Packet::Ask(Ask::Query(QueryRequest {
                    query: Query::Ping, ..
                })),
            ) => Packet::Bytes(write_probe(id)),
            (_, packet) => packet,
        }
    }
}

impl ReplyForm {
    /// Wraps a reply.
    pub(super) fn pack(&self, content: Content) -> Response {
        match self {
            Self::Http(to, dialect) => {
                Response::Http(HttpReply::one(write_reply(to, *dialect, &content)))
            }
            Self::AsIs => Response::Answer(match content {
                Content::Message(message) => Answer::Message(Ok(message.into())),
                Content::Data(_) | Content::Received => Answer::Received,
            }),
        }
    }
}

/// What a caller remembers of its call, to read the answer by.
pub(super) fn exchange(message: &Message) -> Option<Exchange> {
    let (peer, match_id, player_id) = match &message.body {
        Body::GameInvitation(call) => {
            let player = call.player_id.clone()?;
            (
                Sender::Player(player.clone()),
                Some(call.match_id.clone()),
                Some(player),
            )
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
        Body::MatchResultReport(report) => {
            (Sender::LeagueManager, Some(report.match_id.clone()), None)
        }
        _ => return None,
    };
    let conversation_id = message.envelope.conversation_id.clone();
    Some(Exchange {
        peer,
        conversation_id,
        league_id: None,
        match_id,
        player_id,
    })
}
