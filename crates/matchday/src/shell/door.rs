//! What peers ask over HTTP: read, put to the agent, answered in the peer's own dialect. One HTTP exchange at a time;
//! what is in it is told to the journal and the record when it is over.

use super::driver::Surroundings;
use super::inbox::Arrived;
use super::journal::{Entry, Level, millis};
use super::record::kept;
use super::schemas;
use super::subject::{self, Subject};
use crate::net::body::{self, BodyError};
use crate::net::server::Answer;
use crate::store::{Direction, Exchange};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use matchday_core::agent::Content;
use matchday_core::protocol::decode::Reading;
use matchday_core::protocol::dialect::reply::{HttpReply, Part, write_error, write_reply};
use matchday_core::protocol::dialect::request::{self, Asked, ReplyTo, Requests, read_requests};
use matchday_core::protocol::dialect::{Dialect, seam};
use matchday_core::protocol::jsonrpc::{Fault, Id};
use matchday_core::protocol::messages::LeagueError;
use matchday_core::protocol::{ConversationId, Envelope, ErrorCode, MatchId, Message, Timestamp};
use serde_json::Value;
use smol_str::{SmolStr, format_smolstr};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::timeout;

/// How much of a body that is refused for its size is still read, so that its sender comes to read the refusal.
const DISCARD_MAX: usize = 1024 * 1024;

pub(super) struct Door {
    around: Arc<Surroundings>,
    on_loopback: bool,
    body_timeout: Duration,
}

/// What became of one HTTP exchange.
struct Outcome {
    subject: Subject,
    outcome: SmolStr,
    answer: Answered,
}

enum Answered {
    Reply(HttpReply),
    /// The inbox is full: the same again a little later.
    Later(HttpReply),
    /// The agent stopped before it replied.
    Gone,
}

/// A request on its way through the agent.
struct Pending {
    reply_to: ReplyTo,
    dialect: Dialect,
    subject: Subject,
    reply: Option<oneshot::Receiver<Content>>,
}

impl Door {
    pub(super) fn new(around: Arc<Surroundings>, address: SocketAddr, body_timeout: Duration) -> Self {
        Self { around, on_loopback: address.ip().is_loopback(), body_timeout }
    }

    pub(super) async fn answer(self: Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> Answer {
        if let Some(answer) = schemas::answer(&request) {
            return answer;
        }
        match (request.uri().path(), request.method()) {
            ("/mcp", &Method::POST) => self.message(request.into_body(), peer).await,
            ("/health/live", &Method::GET) => json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec()),
            ("/mcp", _) => with(bare(StatusCode::METHOD_NOT_ALLOWED), ALLOW, "POST"),
            ("/health/live", _) => with(bare(StatusCode::METHOD_NOT_ALLOWED), ALLOW, "GET"),
            _ => bare(StatusCode::NOT_FOUND),
        }
    }

    async fn message(&self, mut incoming: Incoming, peer: SocketAddr) -> Answer {
        let limits = &self.around.limits;
        let reading = body::read(&mut incoming, limits.message_bytes_max);
        let body = match timeout(self.body_timeout, reading).await {
            Ok(Ok(body)) => body,
            Ok(Err(BodyError::TooLarge(bytes))) => {
                self.refused_unread(peer, "the message is too large");
                let _in_time = timeout(self.body_timeout, body::discard(&mut incoming, DISCARD_MAX)).await;
                let refusal = request::refuse_size(bytes, limits);
                return closing(json(status(&refusal), refusal.body));
            }
            Ok(Err(BodyError::Broken)) => return closing(bare(StatusCode::BAD_REQUEST)),
            Err(_) => {
                self.refused_unread(peer, "the message did not come in time");
                return closing(bare(StatusCode::REQUEST_TIMEOUT));
            }
        };
        let at = self.around.clock.now();
        let done = self.exchange(&body, at, peer).await;
        let (status, text) = match done.answer {
            Answered::Reply(reply) => (status(&reply), reply.body),
            Answered::Later(reply) => (StatusCode::TOO_MANY_REQUESTS, reply.body),
            Answered::Gone => (StatusCode::SERVICE_UNAVAILABLE, gone()),
        };
        self.tell(at, peer, &done.subject, &done.outcome, &body, &text);
        match status {
            StatusCode::TOO_MANY_REQUESTS => with(json(status, text), RETRY_AFTER, "1"),
            StatusCode::SERVICE_UNAVAILABLE => closing(json(status, text)),
            _ => json(status, text),
        }
    }

    async fn exchange(&self, body: &Bytes, at: Timestamp, peer: SocketAddr) -> Outcome {
        match read_requests(body, &self.around.limits) {
            Requests::Refused(reply) => Outcome {
                subject: Subject::default(),
                outcome: SmolStr::new_static("refused: not a request"),
                answer: Answered::Reply(reply),
            },
            Requests::One(request) => {
                let Some(mut places) = self.around.inbox.reserve(1) else {
                    return self.refuse_all(at, &[Ok(request)]);
                };
                let pending = self.submit(request, places.pop(), at, peer);
                let subject = pending.subject.clone();
                match self.reply(pending).await {
                    Some((part, outcome)) => {
                        Outcome { subject, outcome, answer: Answered::Reply(HttpReply::one(part)) }
                    }
                    None => Outcome { subject, outcome: STOPPING, answer: Answered::Gone },
                }
            }
            Requests::Batch(requests) => self.batch(requests, at, peer).await,
        }
    }

    async fn batch(
        &self,
        requests: Vec<Result<request::Request, Part>>,
        at: Timestamp,
        peer: SocketAddr,
    ) -> Outcome {
        let count = requests.iter().filter(|request| request.is_ok()).count();
        let Some(mut places) = self.around.inbox.reserve(count) else {
            return self.refuse_all(at, &requests);
        };
        let submitted: Vec<_> = requests
            .into_iter()
            .map(|request| request.map(|request| self.submit(request, places.pop(), at, peer)))
            .collect();
        let mut parts = Vec::new();
        for request in submitted {
            parts.push(match request {
                Err(part) => part,
                Ok(pending) => match self.reply(pending).await {
                    Some((part, _)) => part,
                    None => {
                        let subject = Subject::named("batch");
                        return Outcome { subject, outcome: STOPPING, answer: Answered::Gone };
                    }
                },
            });
        }
        Outcome {
            subject: Subject::named("batch"),
            outcome: SmolStr::new_static("answered"),
            answer: Answered::Reply(HttpReply::batch(parts)),
        }
    }

    fn submit(
        &self,
        request: request::Request,
        place: Option<OwnedSemaphorePermit>,
        at: Timestamp,
        peer: SocketAddr,
    ) -> Pending {
        let request::Request { reply_to, dialect, asked } = request;
        let around = &self.around;
        if asked == Asked::Discover {
            let reply = Some(schemas::discovery(&around.name()));
            return Pending { reply_to, dialect, subject: Subject::named("rpc.discover"), reply };
        }
        let (conformance, limits) = (around.conformance, around.limits);
        let foreign = match &asked {
            Asked::Foreign { method } => method.as_deref().map(SmolStr::from),
            _ => None,
        };
        let ask = seam::ask(asked, &Reading { conformance, now: at, limits, exchange: None });
        let (Some(ask), Some(place)) = (ask, place) else {
            let subject = Subject { message_type: foreign.unwrap_or_default(), ..Subject::default() };
            return Pending { reply_to, dialect, subject, reply: None };
        };
        let subject = Subject::of_ask(&ask);
        let local = self.on_loopback && peer.ip().is_loopback();
        let reply = Some(around.inbox.request(place, at, ask, dialect, local));
        Pending { reply_to, dialect, subject, reply }
    }

    /// The reply as it goes out, and in a word; `None` if the agent has stopped.
    async fn reply(&self, pending: Pending) -> Option<(Part, SmolStr)> {
        let Pending { reply_to, dialect, reply, .. } = pending;
        let Some(reply) = reply else {
            let error = Fault::MethodNotFound.because("the Model Context Protocol is not served here yet");
            return Some((write_error(&reply_to, &error), SmolStr::new_static("method not found")));
        };
        let content = reply.await.ok()?;
        Some((write_reply(&reply_to, dialect, &content), subject::outcome(&content)))
    }

    /// There is no room: E014 for each request, in its own form.
    fn refuse_all(&self, at: Timestamp, requests: &[Result<request::Request, Part>]) -> Outcome {
        let mut subject = Subject::default();
        let mut parts = requests.iter().map(|request| match request {
            Err(part) => part.clone(),
            Ok(request) => {
                let field = |name| match &request.asked {
                    Asked::Message { value, .. } => {
                        value.get(name).and_then(Value::as_str).map(SmolStr::from)
                    }
                    _ => None,
                };
                let conversation = field("conversation_id").unwrap_or(SmolStr::new_static("conv-error"));
                subject = Subject {
                    message_type: field("message_type").unwrap_or_default(),
                    conversation_id: Some(conversation.clone()),
                    match_id: field("match_id"),
                };
                let envelope = Envelope::new(self.around.name(), at, ConversationId::new(conversation));
                let code = ErrorCode::RateLimited;
                let words = "too many messages are waiting here: send it again in a second";
                let error = LeagueError::new(code, words, field("message_type"), None);
                let content = Content::Message(Message::new(envelope, error));
                write_reply(&request.reply_to, request.dialect, &content)
            }
        });
        let reply = match requests {
            [_] => parts.next().map(HttpReply::one),
            _ => Some(HttpReply::batch(parts.by_ref())),
        };
        drop(parts);
        let reply = reply.unwrap_or_else(|| HttpReply::batch([]));
        let outcome = SmolStr::new_static("E014 RATE_LIMITED");
        Outcome { subject, outcome, answer: Answered::Later(reply) }
    }

    fn tell(
        &self,
        at: Timestamp,
        peer: SocketAddr,
        subject: &Subject,
        outcome: &SmolStr,
        request: &Bytes,
        answer: &[u8],
    ) {
        let around = &self.around;
        let done_at = around.clock.now();
        around.journal.note(|| {
            let kind = &subject.message_type;
            let kind = if kind.is_empty() { "a request" } else { kind.as_str() };
            let answer_ms = millis(at, done_at);
            let refused = outcome.starts_with('E') || outcome.starts_with("refused");
            let level = if refused { Level::Warning } else { Level::Info };
            let message = format!("{kind} from {peer}: {outcome} ({answer_ms:.1} ms)");
            Entry::new(done_at, around.name(), "message_received", message)
                .about(subject)
                .level(level)
                .detail("from", peer.to_string())
                .detail("outcome", outcome.as_str())
                .detail("answer_ms", answer_ms)
        });
        if around.record_exchanges {
            around.inbox.put(Arrived::Exchange(Exchange {
                at,
                done_at: Some(done_at),
                agent: around.name().id().into(),
                direction: Direction::In,
                peer: format_smolstr!("{peer}"),
                message_type: subject.message_type.clone(),
                conversation_id: ConversationId::new(subject.conversation_id.clone().unwrap_or_default()),
                match_id: subject.match_id.clone().map(MatchId::new),
                request: kept(request, subject.match_id.is_some()),
                answer: Some(kept(answer, subject.match_id.is_some())),
                outcome: outcome.to_string(),
            }));
        }
    }

    fn refused_unread(&self, peer: SocketAddr, why: &str) {
        let around = &self.around;
        around.journal.note(|| {
            let message = format!("a request from {peer} was refused: {why}");
            Entry::new(around.clock.now(), around.name(), "message_refused", message)
                .level(Level::Warning)
                .detail("from", peer.to_string())
        });
    }
}

const STOPPING: SmolStr = SmolStr::new_static("stopping");

fn gone() -> Vec<u8> {
    let error = Fault::Internal.because("the agent is stopping and takes no more messages");
    HttpReply::one(write_error(&ReplyTo::Id(Id::Null), &error)).body
}

fn status(reply: &HttpReply) -> StatusCode {
    StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn json(status: StatusCode, body: Vec<u8>) -> Answer {
    let is_empty = body.is_empty();
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    if is_empty { answer } else { with(answer, CONTENT_TYPE, "application/json") }
}

fn bare(status: StatusCode) -> Answer {
    json(status, Vec::new())
}

/// After this, the rest of what the peer may be sending is of no interest.
fn closing(answer: Answer) -> Answer {
    with(answer, CONNECTION, "close")
}

fn with(mut answer: Answer, name: HeaderName, value: &'static str) -> Answer {
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
    answer
}
