//! One HTTP exchange of league messages: submits each request to the agent, and writes the replies in the peer's dialect.

use super::{HttpService, retry_after, status};
use crate::intake::{Caller, Submitted};
use crate::message_meta::{self, MessageMeta};
use crate::telemetry::trace::Parent;
use bytes::Bytes;
use hyper::StatusCode;
use matchday_core::agent::Content;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::reply::{HttpReply, Part, write_error, write_reply};
use matchday_core::protocol::dialect::request::{self, ReplyTo, RequestContent, Requests};
use matchday_core::protocol::json::Json;
use matchday_core::protocol::jsonrpc::{Fault, Id};
use matchday_core::protocol::{ErrorCode, Timestamp};
use matchday_net::response::{json, with_close};
use matchday_net::server::HttpResponse;
use smol_str::SmolStr;
use std::time::Instant;
use tokio::sync::OwnedSemaphorePermit;

/// A finished HTTP exchange.
struct HttpExchange {
    meta: MessageMeta,
    outcome: ExchangeOutcome,
    answer: Answered,
}

/// After how many seconds to try again while the store is away.
const AWAY_SECONDS: u64 = 1;

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
    outcome: ExchangeOutcome,
    /// After how many seconds the same may fare better, if it came too soon.
    later: Option<u64>,
}

/// A request on its way through the agent.
struct Pending {
    reply_to: ReplyTo,
    dialect: Dialect,
    submitted: Submitted,
}

impl HttpService {
    pub(super) async fn league_message(
        &self,
        requests: Requests<'_>,
        body: &Bytes,
        at: Timestamp,
        caller: &Caller,
        parent: Option<Parent>,
    ) -> HttpResponse {
        let done = tokio::select! {
            biased;
            done = self.exchange(requests, at, caller) => done,
            // Nothing may be answered before it is stored; the same again is welcome once the store is back.
            why = self.intake.store_away() => {
                let body = serde_json::json!({"error": format!("the store is away ({why}): try again soon")});
                let answer = json(StatusCode::SERVICE_UNAVAILABLE, body.to_string().into_bytes());
                return retry_after(with_close(answer), AWAY_SECONDS);
            }
        };
        let (status, text, seconds) = match done.answer {
            Answered::Reply(reply) => (status(&reply), reply.body, None),
            Answered::Later(reply, seconds) => (StatusCode::TOO_MANY_REQUESTS, reply.body, Some(seconds)),
            Answered::Gone => (StatusCode::SERVICE_UNAVAILABLE, gone(), None),
        };
        self.intake.finish_exchange(at, caller.peer, &done.meta, &done.outcome, body, &text, parent);
        match (status, seconds) {
            (_, Some(seconds)) => retry_after(json(status, text), seconds),
            (StatusCode::SERVICE_UNAVAILABLE, _) => with_close(json(status, text)),
            _ => json(status, text),
        }
    }

    async fn exchange(&self, requests: Requests<'_>, at: Timestamp, caller: &Caller) -> HttpExchange {
        match requests {
            Requests::Refused(reply) => HttpExchange {
                meta: MessageMeta::default(),
                outcome: ExchangeOutcome::NotARequest,
                answer: Answered::Reply(reply),
            },
            Requests::One(request) if !self.rate_limit.admits(caller.peer.ip(), 1, Instant::now()) => {
                self.refuse_all(at, &[Ok(request)])
            }
            Requests::One(request) => {
                let Some(mut places) = self.intake.reserve(1) else {
                    return self.refuse_all(at, &[Ok(request)]);
                };
                let pending = self.submit(request, places.pop(), at, caller);
                let meta = pending.submitted.meta.clone();
                match self.reply(pending).await {
                    Some(Replied { part, outcome, later }) => {
                        let reply = HttpReply::one(part);
                        let answer = match later {
                            Some(seconds) => Answered::Later(reply, seconds),
                            None => Answered::Reply(reply),
                        };
                        HttpExchange { meta, outcome, answer }
                    }
                    None => HttpExchange { meta, outcome: ExchangeOutcome::Stopping, answer: Answered::Gone },
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
    ) -> HttpExchange {
        let count = requests.iter().filter(|request| request.is_ok()).count();
        let in_pace = self.rate_limit.admits(caller.peer.ip(), count, Instant::now());
        let Some(mut places) = self.intake.reserve(count).filter(|_| in_pace) else {
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
                        let meta = MessageMeta::named("batch");
                        return HttpExchange {
                            meta,
                            outcome: ExchangeOutcome::Stopping,
                            answer: Answered::Gone,
                        };
                    }
                },
            });
        }
        HttpExchange {
            meta: MessageMeta::named("batch"),
            outcome: ExchangeOutcome::Batch,
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
        let submitted = self.intake.submit(asked, dialect, place, at, caller);
        Pending { reply_to, dialect, submitted }
    }

    /// The reply as it goes out; `None` if the agent has stopped.
    async fn reply(&self, pending: Pending) -> Option<Replied> {
        let Pending { reply_to, dialect, submitted } = pending;
        let Some(reply) = submitted.reply else {
            let why = match submitted.meta.message_type.raw() {
                "tools/call" => "\"params.name\" names no tool that is known here",
                _ => "requests of the Model Context Protocol are taken one by one, not in a batch",
            };
            let error = Fault::MethodNotFound.because(why);
            let (part, outcome) = (write_error(&reply_to, &error), ExchangeOutcome::MethodNotFound);
            return Some(Replied { part, outcome, later: None });
        };
        let content = reply.await.ok()?;
        let part = write_reply(&reply_to, dialect, &content);
        Some(Replied {
            part,
            outcome: ExchangeOutcome::of_reply(&content),
            later: message_meta::later(&content),
        })
    }

    /// There is no room: E014 for each request, in its own form.
    fn refuse_all(&self, at: Timestamp, requests: &[Result<request::Request<'_>, Part>]) -> HttpExchange {
        let mut meta = MessageMeta::default();
        let mut parts = requests.iter().map(|request| match request {
            Err(part) => part.clone(),
            Ok(request) => {
                let field = |name: &str| match &request.asked {
                    RequestContent::Message { value, .. } => {
                        value.get(name).and_then(Json::as_str).map(SmolStr::from)
                    }
                    _ => None,
                };
                let (its_subject, error) = self.intake.busy(at, field);
                meta = its_subject;
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
        let outcome = ExchangeOutcome::Error { code: ErrorCode::RateLimited, text: None };
        HttpExchange { meta, outcome, answer: Answered::Later(reply, 1) }
    }
}

fn gone() -> Vec<u8> {
    let error = Fault::Internal.because("the agent is stopping and takes no more messages");
    HttpReply::one(write_error(&ReplyTo::Id(Id::Null), &error)).body
}
