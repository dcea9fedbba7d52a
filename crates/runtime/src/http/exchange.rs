//! One HTTP exchange of league messages: submits each request to the agent, and writes the replies in the peer's dialect.

use super::{HttpService, STOPPING_SECONDS, status};
use crate::intake::{Caller, Submitted, TOO_MANY, field_of};
use crate::message_meta::{self, MessageMeta};
use crate::telemetry::trace::Parent;
use bytes::Bytes;
use hyper::StatusCode;
use matchday_core::agent::Content;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::reply::{HttpReply, Part, write_error, write_reply};
use matchday_core::protocol::dialect::request::{self, ReplyTo, Requests};
use matchday_core::protocol::jsonrpc::{Fault, Id};
use matchday_core::protocol::{ErrorCode, Timestamp};
use matchday_net::response::{json, unavailable, with_close, with_retry_after};
use matchday_net::server::HttpResponse;
use std::time::Instant;
use tokio::sync::OwnedSemaphorePermit;

/// A finished HTTP exchange.
struct HttpExchange {
    meta: MessageMeta,
    outcome: ExchangeOutcome,
    answer: Answered,
}

/// How many bytes the answers to a batch may have before the rest of it is refused.
const BATCH_ANSWER_BYTES_MAX: usize = 1 << 20;
/// How many requests of a batch are with the agent at once.
const BATCH_STEP: usize = 8;
const BATCH_TOO_LONG: &str = "the answers to the requests before it in this batch fill a megabyte: send it by itself, or in another batch";

/// After how many seconds to try again while the store is unavailable.
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
        requests: Requests,
        body: &Bytes,
        at: Timestamp,
        caller: &Caller,
        parent: Option<Parent>,
    ) -> HttpResponse {
        let done = tokio::select! {
            biased;
            done = self.exchange(requests, at, caller) => done,
            // Nothing may be answered before it is stored; the same again is welcome once the store is available again.
            // Anyone may ask, and why it is away may say where it is.
            () = self.intake.store_unavailable() => {
                let body = br#"{"error":"the store is unavailable: try again soon"}"#;
                return with_close(unavailable(body.to_vec(), AWAY_SECONDS));
            }
        };
        let (status, text, seconds) = match done.answer {
            Answered::Reply(reply) => (status(&reply), reply.body, None),
            Answered::Later(reply, seconds) => {
                (StatusCode::TOO_MANY_REQUESTS, reply.body, Some(seconds))
            }
            Answered::Gone => (
                StatusCode::SERVICE_UNAVAILABLE,
                gone(),
                Some(STOPPING_SECONDS),
            ),
        };
        self.intake
            .finish_exchange(at, caller, &done.meta, &done.outcome, body, &text, parent);
        match (status, seconds) {
            (StatusCode::SERVICE_UNAVAILABLE, Some(seconds)) => {
                with_close(unavailable(text, seconds))
            }
            (_, Some(seconds)) => with_retry_after(json(status, text), seconds),
            (_, None) => json(status, text),
        }
    }

    async fn exchange(&self, requests: Requests, at: Timestamp, caller: &Caller) -> HttpExchange {
        match requests {
            Requests::Refused(reply) => HttpExchange {
                meta: MessageMeta::default(),
                outcome: ExchangeOutcome::NotARequest,
                answer: Answered::Reply(reply),
            },
            Requests::One(request)
                if !self
                    .rate_limiter
                    .admits(caller.peer.ip(), 1, Instant::now()) =>
            {
                self.refuse_all(at, &[Ok(request)])
            }
            Requests::One(request) => {
                let Some(mut places) = self.intake.reserve(1) else {
                    return self.refuse_all(at, &[Ok(request)]);
                };
                let pending = self.submit(request, places.pop(), at, caller);
                let meta = pending.submitted.meta.clone();
                match self.reply(pending).await {
                    Some(Replied {
                        part,
                        outcome,
                        later,
                    }) => {
                        let reply = HttpReply::one(part);
                        let answer = match later {
                            Some(seconds) => Answered::Later(reply, seconds),
                            None => Answered::Reply(reply),
                        };
                        HttpExchange {
                            meta,
                            outcome,
                            answer,
                        }
                    }
                    None => HttpExchange {
                        meta,
                        outcome: ExchangeOutcome::Stopping,
                        answer: Answered::Gone,
                    },
                }
            }
            Requests::Batch(requests) => Box::pin(self.batch(requests, at, caller)).await,
        }
    }

    async fn batch(
        &self,
        requests: Vec<Result<request::Request, Part>>,
        at: Timestamp,
        caller: &Caller,
    ) -> HttpExchange {
        let count = requests.iter().filter(|request| request.is_ok()).count();
        let in_pace = self
            .rate_limiter
            .admits(caller.peer.ip(), count, Instant::now());
        let Some(mut places) = self.intake.reserve(count).filter(|_| in_pace) else {
            return self.refuse_all(at, &requests);
        };
        let meta = MessageMeta::named("batch");
        let mut parts = Vec::new();
        let mut bytes = 0;
        let mut requests = requests.into_iter();
        while requests.len() > 0 && bytes <= BATCH_ANSWER_BYTES_MAX {
            let submitted: Vec<_> = requests
                .by_ref()
                .take(BATCH_STEP)
                .map(|request| {
                    request.map(|request| self.submit(request, places.pop(), at, caller))
                })
                .collect();
            for request in submitted {
                let part = match request {
                    Err(part) => part,
                    Ok(pending) => match self.reply(pending).await {
                        Some(replied) => replied.part,
                        None => {
                            let outcome = ExchangeOutcome::Stopping;
                            return HttpExchange {
                                meta,
                                outcome,
                                answer: Answered::Gone,
                            };
                        }
                    },
                };
                bytes += part.bytes();
                parts.push(part);
            }
        }
        // What was not asked has changed nothing.
        parts.extend(requests.map(|request| match request {
            Err(part) => part,
            Ok(request) => self.refuse(at, &request, BATCH_TOO_LONG).1,
        }));
        let answer = Answered::Reply(HttpReply::batch(parts));
        HttpExchange {
            meta,
            outcome: ExchangeOutcome::Batch,
            answer,
        }
    }

    fn submit(
        &self,
        request: request::Request,
        place: Option<OwnedSemaphorePermit>,
        at: Timestamp,
        caller: &Caller,
    ) -> Pending {
        let request::Request {
            reply_to,
            dialect,
            asked,
        } = request;
        let submitted = self.intake.submit(asked, dialect, place, at, caller);
        Pending {
            reply_to,
            dialect,
            submitted,
        }
    }

    /// The reply as it goes out; `None` if the agent has stopped.
    async fn reply(&self, pending: Pending) -> Option<Replied> {
        let Pending {
            reply_to,
            dialect,
            submitted,
        } = pending;
        let Some(reply) = submitted.reply else {
            let why = match submitted.meta.message_type.raw() {
                "tools/call" => "\"params.name\" names no tool that is known here",
                _ => "requests of the Model Context Protocol are taken one by one, not in a batch",
            };
            let error = Fault::MethodNotFound.because(why);
            let part = write_error(&reply_to, &error);
            let outcome = ExchangeOutcome::MethodNotFound;
            return Some(Replied {
                part,
                outcome,
                later: None,
            });
        };
        let content = reply.await.ok()?.content;
        let part = write_reply(&reply_to, dialect, &content);
        Some(Replied {
            part,
            outcome: ExchangeOutcome::of_reply(&content),
            later: message_meta::later(&content),
        })
    }

    /// There is no room: E014 for each request, in its own form.
    fn refuse_all(
        &self,
        at: Timestamp,
        requests: &[Result<request::Request, Part>],
    ) -> HttpExchange {
        let mut meta = MessageMeta::default();
        let mut parts = requests.iter().map(|request| match request {
            Err(part) => part.clone(),
            Ok(request) => {
                let (its_subject, part) = self.refuse(at, request, TOO_MANY);
                meta = its_subject;
                part
            }
        });
        let reply = match requests {
            [_] => parts.next().map(HttpReply::one),
            _ => Some(HttpReply::batch(parts.by_ref())),
        };
        drop(parts);
        let reply = reply.unwrap_or_else(|| HttpReply::batch([]));
        let outcome = ExchangeOutcome::Error {
            code: ErrorCode::RateLimited,
            text: None,
        };
        HttpExchange {
            meta,
            outcome,
            answer: Answered::Later(reply, 1),
        }
    }

    /// E014 in these words, in the form of the request.
    fn refuse(
        &self,
        at: Timestamp,
        request: &request::Request,
        words: &str,
    ) -> (MessageMeta, Part) {
        let (meta, error) = self
            .intake
            .busy(at, words, |name| field_of(&request.asked, name));
        (
            meta,
            write_reply(&request.reply_to, request.dialect, &Content::Message(error)),
        )
    }
}

fn gone() -> Vec<u8> {
    let error = Fault::Internal.because("the agent is stopping and accepts no more messages");
    HttpReply::one(write_error(&ReplyTo::Id(Id::Null), &error)).body
}
