//! What peers ask over HTTP: read, put to the agent, answered in the peer's own dialect; or handed on, where it is the
//! Model Context Protocol. One HTTP exchange at a time.

use super::join_code::JoinCode;
use super::pace::Pace;
use super::reception::{Caller, Reception, Submitted};
use super::schemas;
use super::subject::{self, Subject};
use crate::dashboard::Dashboard;
use crate::mcp::{self, Mcp, Meant};
use crate::net::answer::{DISCARD_MAX, bare, closing, json, turned_away, with};
use crate::net::body::{self, BodyError};
use crate::net::guard::{Guard, Stranger};
use crate::net::server::{Answer, Arrival};
use crate::observe::trace::Parent;
use crate::observe::{self, Vitals};
use crate::seat::Seats;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, StatusCode};
use matchday_core::agent::Content;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::reply::{HttpReply, Part, write_error, write_reply};
use matchday_core::protocol::dialect::request::{self, Asked, ReplyTo, Requests, read_requests};
use matchday_core::protocol::json::Json;
use matchday_core::protocol::jsonrpc::{Fault, Id};
use matchday_core::protocol::{Body, ErrorCode, Message, Sender, Timestamp};
use serde_json::Value;
use smol_str::{SmolStr, format_smolstr};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

pub(crate) struct Door {
    reception: Arc<Reception>,
    mcp: Mcp,
    guard: Guard,
    pace: Pace,
    body_timeout: Duration,
    beside: Beside,
    /// What an operator may ask of it.
    vitals: Vitals,
}

/// What else there is at a manager's address.
pub(super) struct Beside {
    /// Those who play through it.
    pub(super) seats: Option<Arc<Seats>>,
    /// What people see in a browser.
    pub(super) dashboard: Option<Arc<Dashboard>>,
}

/// What became of one HTTP exchange.
struct Outcome {
    subject: Subject,
    outcome: SmolStr,
    answer: Answered,
}

enum Answered {
    Reply(HttpReply),
    /// Too much at once: the same again so many seconds later.
    Later(HttpReply, u64),
    /// The agent stopped before it replied.
    Gone,
}

/// What the agent says to one request.
struct Replied {
    part: Part,
    /// In a word.
    outcome: SmolStr,
    /// After how many seconds the same may fare better, if it came too soon.
    later: Option<u64>,
}

/// A request on its way through the agent.
struct Pending {
    reply_to: ReplyTo,
    dialect: Dialect,
    submitted: Submitted,
}

impl Door {
    pub(super) fn new(
        reception: Arc<Reception>,
        guard: Guard,
        pace: Pace,
        body_timeout: Duration,
        beside: Beside,
        vitals: Vitals,
    ) -> Self {
        let mcp = Mcp::new(Arc::clone(&reception), beside.seats.clone());
        Self { mcp, reception, guard, pace, body_timeout, beside, vitals }
    }

    /// Ends what streams to those who listen, and whoever plays through this address.
    pub(super) async fn close(&self) {
        if let Some(dashboard) = &self.beside.dashboard {
            dashboard.close();
        }
        if let Some(seats) = &self.beside.seats {
            seats.close().await;
        }
        self.mcp.close().await;
    }

    pub(crate) async fn answer(self: Arc<Self>, mut request: Request<Incoming>, peer: SocketAddr) -> Answer {
        if let Err(stranger) = self.guard.admit(request.version(), request.uri(), request.headers()) {
            return Box::pin(self.turn_away(request, peer, &stranger)).await;
        }
        if JoinCode::is_in(request.uri()) && self.reception.name() == Sender::LeagueManager {
            JoinCode::take_out_of(&mut request);
        }
        if let Some(answer) = schemas::answer(&request) {
            return answer;
        }
        if observe::is_asked(request.uri().path()) {
            return Box::pin(self.vitals.answer(&request)).await;
        }
        if let Some(dashboard) = self.beside.dashboard.as_ref().filter(|_| Dashboard::is_its(request.uri())) {
            return Box::pin(self.show(dashboard, request, peer)).await;
        }
        if let Some(seats) = self.beside.seats.as_ref().filter(|_| Seats::is_seats(request.uri())) {
            // What the seats answer may pass through a door such as this one.
            return Box::pin(seats.answer(request, peer)).await;
        }
        match (request.uri().path(), request.method()) {
            ("/mcp", &Method::POST) => self.message(request, peer).await,
            ("/mcp", &Method::GET | &Method::DELETE) => Box::pin(self.mcp.other(request, peer)).await,
            ("/health/live", &Method::GET) => json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec()),
            ("/checkpoint", &Method::GET) => Box::pin(self.checkpoint(peer)).await,
            ("/mcp", _) => with(bare(StatusCode::METHOD_NOT_ALLOWED), ALLOW, self.mcp.methods()),
            ("/health/live" | "/checkpoint", _) => with(bare(StatusCode::METHOD_NOT_ALLOWED), ALLOW, "GET"),
            _ => bare(StatusCode::NOT_FOUND),
        }
    }

    async fn show(&self, dashboard: &Arc<Dashboard>, request: Request<Incoming>, peer: SocketAddr) -> Answer {
        if !self.pace.admits(peer.ip(), 1, Instant::now()) {
            self.reception.refused_unread(peer, "its address asks too much");
            return later(bare(StatusCode::TOO_MANY_REQUESTS), 1);
        }
        dashboard.answer(request, peer, Some(&self.reception)).await
    }

    /// The latest checkpoint, as the text that it is.
    async fn checkpoint(&self, peer: SocketAddr) -> Answer {
        if !self.pace.admits(peer.ip(), 1, Instant::now()) {
            return later(bare(StatusCode::TOO_MANY_REQUESTS), 1);
        }
        let (status, text) = match self.reception.checkpoint(peer).await {
            Ok(Content::Data(data)) => match data.get("checkpoint").and_then(Value::as_str) {
                Some(note) => (StatusCode::OK, note.to_owned()),
                None => (StatusCode::NOT_FOUND, "no checkpoint has been signed yet\n".to_owned()),
            },
            Ok(Content::Message(Message { body: Body::LeagueError(error), .. })) => match error.error_code {
                ErrorCode::TokenMissing => {
                    (StatusCode::UNAUTHORIZED, "this league is not open to readers\n".to_owned())
                }
                ErrorCode::RateLimited => return later(bare(StatusCode::TOO_MANY_REQUESTS), 1),
                _ => (StatusCode::NOT_FOUND, "only a manager has checkpoints\n".to_owned()),
            },
            Ok(_) => (StatusCode::NOT_FOUND, "there are no checkpoints here\n".to_owned()),
            Err(_) => return closing(bare(StatusCode::SERVICE_UNAVAILABLE)),
        };
        let mut answer = Answer::new(Full::new(Bytes::from(text)).boxed());
        *answer.status_mut() = status;
        with(answer, CONTENT_TYPE, "text/plain; charset=utf-8")
    }

    async fn turn_away(&self, request: Request<Incoming>, peer: SocketAddr, stranger: &Stranger) -> Answer {
        self.reception.refused_unread(peer, &stranger.to_string());
        turned_away(request, stranger, self.body_timeout).await
    }

    async fn message(&self, request: Request<Incoming>, peer: SocketAddr) -> Answer {
        let (head, mut incoming) = request.into_parts();
        let limits = self.reception.limits();
        let reading = body::read(&mut incoming, limits.message_bytes_max);
        let body = match timeout(self.body_timeout, reading).await {
            Ok(Ok(body)) => body,
            Ok(Err(BodyError::TooLarge(bytes))) => {
                self.reception.refused_unread(peer, "the message is too large");
                let _in_time = timeout(self.body_timeout, body::discard(&mut incoming, DISCARD_MAX)).await;
                let refusal = request::refuse_size(bytes, limits);
                return closing(json(status(&refusal), refusal.body));
            }
            Ok(Err(BodyError::Broken)) => return closing(bare(StatusCode::BAD_REQUEST)),
            Err(_) => {
                self.reception.refused_unread(peer, "the message did not come in time");
                return closing(bare(StatusCode::REQUEST_TIMEOUT));
            }
        };
        let requests = read_requests(&body, limits);
        match mcp::meant(&requests, &head.headers, &body) {
            Some(_) if !self.pace.admits(peer.ip(), 1, Instant::now()) => {
                self.reception.refused_unread(peer, "its address asks too much");
                later(bare(StatusCode::TOO_MANY_REQUESTS), 1)
            }
            // Rare, and much larger than what is common: whatever is awaited in place makes every answer as large.
            Some(meant) => Box::pin(self.hand_on(head, body, meant, peer)).await,
            None => {
                let at = self.reception.arrival(head.extensions.get::<Arrival>());
                let caller = Caller { peer, join_code: JoinCode::of(&head.extensions) };
                self.league_message(requests, &body, at, &caller, parent(&head.headers)).await
            }
        }
    }

    /// To the Model Context Protocol. What it asks of the agent in turn is told of when it is asked.
    async fn hand_on(&self, head: Parts, body: Bytes, meant: Meant, peer: SocketAddr) -> Answer {
        let at = self.reception.now();
        let subject = Subject { message_type: meant.method.clone().into(), ..Subject::default() };
        let answer = self.mcp.post(head, body, &meant, peer).await;
        if !meant.is_told() {
            let status = answer.status().as_u16();
            let refused = if answer.status().is_success() { "" } else { "refused: " };
            self.reception.note(at, peer, &subject, &format_smolstr!("{refused}HTTP {status}"));
        }
        answer
    }

    async fn league_message(
        &self,
        requests: Requests<'_>,
        body: &Bytes,
        at: Timestamp,
        caller: &Caller,
        parent: Option<Parent>,
    ) -> Answer {
        let done = self.exchange(requests, at, caller).await;
        let (status, text, seconds) = match done.answer {
            Answered::Reply(reply) => (status(&reply), reply.body, None),
            Answered::Later(reply, seconds) => (StatusCode::TOO_MANY_REQUESTS, reply.body, Some(seconds)),
            Answered::Gone => (StatusCode::SERVICE_UNAVAILABLE, gone(), None),
        };
        self.reception.tell(at, caller.peer, &done.subject, &done.outcome, body, &text, parent);
        match (status, seconds) {
            (_, Some(seconds)) => later(json(status, text), seconds),
            (StatusCode::SERVICE_UNAVAILABLE, _) => closing(json(status, text)),
            _ => json(status, text),
        }
    }

    async fn exchange(&self, requests: Requests<'_>, at: Timestamp, caller: &Caller) -> Outcome {
        match requests {
            Requests::Refused(reply) => Outcome {
                subject: Subject::default(),
                outcome: SmolStr::new_static("refused: not a request"),
                answer: Answered::Reply(reply),
            },
            Requests::One(request) if !self.pace.admits(caller.peer.ip(), 1, Instant::now()) => {
                self.refuse_all(at, &[Ok(request)])
            }
            Requests::One(request) => {
                let Some(mut places) = self.reception.reserve(1) else {
                    return self.refuse_all(at, &[Ok(request)]);
                };
                let pending = self.submit(request, places.pop(), at, caller);
                let subject = pending.submitted.subject.clone();
                match self.reply(pending).await {
                    Some(Replied { part, outcome, later }) => {
                        let reply = HttpReply::one(part);
                        let answer = match later {
                            Some(seconds) => Answered::Later(reply, seconds),
                            None => Answered::Reply(reply),
                        };
                        Outcome { subject, outcome, answer }
                    }
                    None => Outcome { subject, outcome: STOPPING, answer: Answered::Gone },
                }
            }
            Requests::Batch(requests) => Box::pin(self.batch(requests, at, caller)).await,
        }
    }

    async fn batch(
        &self,
        requests: Vec<Result<request::Request<'_>, Part>>,
        at: Timestamp,
        caller: &Caller,
    ) -> Outcome {
        let count = requests.iter().filter(|request| request.is_ok()).count();
        let in_pace = self.pace.admits(caller.peer.ip(), count, Instant::now());
        let Some(mut places) = self.reception.reserve(count).filter(|_| in_pace) else {
            return self.refuse_all(at, &requests);
        };
        let submitted: Vec<_> = requests
            .into_iter()
            .map(|request| request.map(|request| self.submit(request, places.pop(), at, caller)))
            .collect();
        let mut parts = Vec::new();
        for request in submitted {
            parts.push(match request {
                Err(part) => part,
                Ok(pending) => match self.reply(pending).await {
                    Some(replied) => replied.part,
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
        request: request::Request<'_>,
        place: Option<OwnedSemaphorePermit>,
        at: Timestamp,
        caller: &Caller,
    ) -> Pending {
        let request::Request { reply_to, dialect, asked } = request;
        let submitted = self.reception.submit(asked, dialect, place, at, caller);
        Pending { reply_to, dialect, submitted }
    }

    /// The reply as it goes out; `None` if the agent has stopped.
    async fn reply(&self, pending: Pending) -> Option<Replied> {
        let Pending { reply_to, dialect, submitted } = pending;
        let Some(reply) = submitted.reply else {
            let why = match submitted.subject.message_type.raw() {
                "tools/call" => "\"params.name\" names no tool that is known here",
                _ => "requests of the Model Context Protocol are taken one by one, not in a batch",
            };
            let error = Fault::MethodNotFound.because(why);
            let (part, outcome) = (write_error(&reply_to, &error), SmolStr::new_static("method not found"));
            return Some(Replied { part, outcome, later: None });
        };
        let content = reply.await.ok()?;
        let part = write_reply(&reply_to, dialect, &content);
        Some(Replied { part, outcome: subject::outcome(&content), later: subject::later(&content) })
    }

    /// There is no room: E014 for each request, in its own form.
    fn refuse_all(&self, at: Timestamp, requests: &[Result<request::Request<'_>, Part>]) -> Outcome {
        let mut subject = Subject::default();
        let mut parts = requests.iter().map(|request| match request {
            Err(part) => part.clone(),
            Ok(request) => {
                let field = |name: &str| match &request.asked {
                    Asked::Message { value, .. } => value.get(name).and_then(Json::as_str).map(SmolStr::from),
                    _ => None,
                };
                let (its_subject, error) = self.reception.busy(at, field);
                subject = its_subject;
                let content = Content::Message(error);
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
        Outcome { subject, outcome, answer: Answered::Later(reply, 1) }
    }
}

/// What called, in its trace, if it says so.
fn parent(headers: &HeaderMap) -> Option<Parent> {
    Parent::parse(headers.get("traceparent")?.to_str().ok()?)
}

/// The same, with the word when to come again.
fn later(mut answer: Answer, seconds: u64) -> Answer {
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    answer
}

const STOPPING: SmolStr = SmolStr::new_static("stopping");

fn gone() -> Vec<u8> {
    let error = Fault::Internal.because("the agent is stopping and takes no more messages");
    HttpReply::one(write_error(&ReplyTo::Id(Id::Null), &error)).body
}

fn status(reply: &HttpReply) -> StatusCode {
    StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
