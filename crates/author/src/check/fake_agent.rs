//! A fake agent: the real state machine, driven in memory without a store, behind an HTTP server that records
//! requests. Its outbox is discarded: a check sends its own messages.

use super::exchange::{CallOutcome, Exchange, HttpAnswer};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use matchday_core::agent::{self, Content, DecodeHints, Input, RequestId};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::Reading;
use matchday_core::protocol::dialect::reply::{HttpReply, Part, write_error, write_reply};
use matchday_core::protocol::dialect::request::{self, Requests, read_requests};
use matchday_core::protocol::dialect::{Dialect, decode_wire};
use matchday_core::protocol::jsonrpc::Fault;
use matchday_net::{body, server};
use matchday_runtime::Clock;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

const CONNECTIONS_MAX: usize = 64;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// How much is recorded of what an agent sends: an agent that floods the check is answered, and the rest is forgotten.
pub(crate) const RECORDED_BYTES_MAX: usize = 16 << 20;
/// What recording a message takes beside its bytes.
pub(crate) const RECORDED_OVERHEAD: usize = 1024;

/// Drives an agent in memory, one request at a time.
#[derive(Debug)]
pub(crate) struct FakeAgent<A> {
    pub agent: A,
    clock: Clock,
    entropy: Entropy,
    requests: u64,
}

impl<A: DecodeHints> FakeAgent<A> {
    pub(crate) fn new(agent: A, clock: Clock, entropy: Entropy) -> Self {
        let mut agent = Self {
            agent,
            clock,
            entropy,
            requests: 0,
        };
        let _unsent = agent
            .agent
            .handle(clock.now(), &mut agent.entropy, Input::Wake);
        agent
    }

    /// The HTTP reply to a body, and the contents of its answers.
    pub(crate) fn answer(&mut self, body: &[u8]) -> (HttpReply, Vec<Content>) {
        let (_, limits) = self.agent.reading();
        let mut contents = Vec::new();
        let reply = match read_requests(body, &limits) {
            Requests::Refused(reply) => reply,
            Requests::One(request) => HttpReply::one(self.reply(request, &mut contents)),
            Requests::Batch(requests) => HttpReply::batch(
                requests
                    .into_iter()
                    .map(|request| {
                        request
                            .map_or_else(|part| part, |request| self.reply(request, &mut contents))
                    })
                    .collect::<Vec<_>>(),
            ),
        };
        (reply, contents)
    }

    fn reply(&mut self, request: request::Request, contents: &mut Vec<Content>) -> Part {
        let request::Request {
            reply_to,
            dialect,
            asked,
        } = request;
        let (conformance, limits) = self.agent.reading();
        let now = self.clock.now();
        let not_here = || Fault::MethodNotFound.because("this is not served here");
        let Some(ask) = decode_wire::ask(
            asked,
            &Reading {
                conformance,
                now,
                limits,
                exchange: None,
                about: None,
            },
        ) else {
            return write_error(&reply_to, &not_here());
        };
        match self.put(ask, dialect) {
            Some(content) => {
                let part = write_reply(&reply_to, dialect, &content);
                contents.push(content);
                part
            }
            None => write_error(&reply_to, &not_here()),
        }
    }

    fn put(&mut self, ask: agent::Ask, dialect: Dialect) -> Option<Content> {
        self.requests += 1;
        let id = RequestId(self.requests);
        // All requests come from the agent under check.
        let client = Some(Ipv4Addr::LOCALHOST.into());
        let request = agent::Request {
            id,
            ask,
            dialect,
            local: true,
            objection: None,
            client,
            join_code: None,
        };
        let step = self
            .agent
            .handle(self.clock.now(), &mut self.entropy, Input::Request(request));
        step.replies
            .into_iter()
            .find(|reply| reply.to == id)
            .map(|reply| reply.content)
    }
}

/// Answers the requests to a [`FakeServer`].
pub(crate) trait Responder: Send + 'static {
    fn answer(&mut self, body: &[u8]) -> HttpReply;
}

/// A server that records its exchanges. Closed when dropped.
#[derive(Debug)]
pub(crate) struct FakeServer {
    exchanges: mpsc::UnboundedReceiver<Exchange>,
    _close: watch::Sender<bool>,
}

impl FakeServer {
    pub(crate) fn start(listener: TcpListener, responder: impl Responder) -> Self {
        let (close, closing) = watch::channel(false);
        let (recorder, exchanges) = mpsc::unbounded_channel();
        let responder = Arc::new(Mutex::new(responder));
        let recorder = Arc::new(Recorder {
            exchanges: recorder,
            bytes_left: RECORDED_BYTES_MAX.into(),
        });
        let handler =
            move |request, _peer| serve(Arc::clone(&responder), Arc::clone(&recorder), request);
        tokio::spawn(server::serve(listener, CONNECTIONS_MAX, handler, closing));
        Self {
            exchanges,
            _close: close,
        }
    }

    /// The next exchange, if one comes in time.
    pub(crate) async fn next(&mut self, within: Duration) -> Option<Exchange> {
        timeout(within, self.exchanges.recv()).await.ok().flatten()
    }
}

/// Records exchanges, up to a number of bytes.
struct Recorder {
    exchanges: mpsc::UnboundedSender<Exchange>,
    bytes_left: AtomicUsize,
}

impl Recorder {
    fn record(&self, exchange: Exchange) {
        let bytes = exchange.request.len() + RECORDED_OVERHEAD;
        let take = |left: usize| left.checked_sub(bytes);
        if self
            .bytes_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
        {
            // The receiver may have been dropped.
            let _ = self.exchanges.send(exchange);
        }
    }
}

async fn serve<D: Responder>(
    responder: Arc<Mutex<D>>,
    recorder: Arc<Recorder>,
    request: Request<Incoming>,
) -> server::HttpResponse {
    let is_post = *request.method() == Method::POST;
    let subject = format!("{} {}", request.method(), request.uri().path());
    let limits = matchday_core::protocol::decode::Limits::AGENT;
    let reading = async {
        body::read(&mut request.into_body(), limits.message_bytes_max)
            .await
            .ok()
    };
    let Some(body) = timeout(BODY_TIMEOUT, reading)
        .await
        .ok()
        .flatten()
        .filter(|_| is_post)
    else {
        return with_status(StatusCode::BAD_REQUEST, Vec::new());
    };
    let reply = responder
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .answer(&body);
    let answered = HttpAnswer {
        status: reply.status,
        content_type: None,
        location: None,
        body: Bytes::from(reply.body.clone()),
    };
    recorder.record(Exchange {
        subject,
        request: body,
        outcome: CallOutcome::Answered(answered),
        took: Duration::ZERO,
    });
    with_status(
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK),
        reply.body,
    )
}

fn with_status(status: StatusCode, body: Vec<u8>) -> server::HttpResponse {
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
