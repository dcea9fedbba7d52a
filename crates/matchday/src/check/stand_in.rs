//! An agent of ours behind a door of its own, for the one under check to talk to: the very state machine that a league
//! runs, without a store. What it wants to send out is left unsent: a check sends what it wants to be sent.

use super::exchange::{Answered, Exchange, Outcome};
use crate::net::{body, server};
use crate::shell::Clock;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use matchday_core::agent::{self, Agent, Content, Input, RequestId};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::Reading;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::reply::{HttpReply, Part, write_error, write_reply};
use matchday_core::protocol::dialect::request::{self, Requests, read_requests};
use matchday_core::protocol::dialect::seam;
use matchday_core::protocol::jsonrpc::Fault;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

const CONNECTIONS_MAX: usize = 64;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Drives an agent of ours by hand, one request at a time.
#[derive(Debug)]
pub(crate) struct Host<A> {
    pub(crate) agent: A,
    clock: Clock,
    entropy: Entropy,
    requests: u64,
}

impl<A: Agent> Host<A> {
    pub(crate) fn new(agent: A, clock: Clock, entropy: Entropy) -> Self {
        let mut host = Self { agent, clock, entropy, requests: 0 };
        let _unsent = host.agent.handle(clock.now(), &mut host.entropy, Input::Wake);
        host
    }

    /// What the agent says to an HTTP body, and the answers themselves.
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
                        request.map_or_else(|part| part, |request| self.reply(request, &mut contents))
                    })
                    .collect::<Vec<_>>(),
            ),
        };
        (reply, contents)
    }

    fn reply(&mut self, request: request::Request, contents: &mut Vec<Content>) -> Part {
        let request::Request { reply_to, dialect, asked } = request;
        let (conformance, limits) = self.agent.reading();
        let now = self.clock.now();
        let not_here = || Fault::MethodNotFound.because("this is not served here");
        let Some(ask) = seam::ask(asked, &Reading { conformance, now, limits, exchange: None, about: None })
        else {
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
        // All that comes here comes from the agent under check.
        let client = Some(Ipv4Addr::LOCALHOST.into());
        let request =
            agent::Request { id, ask, dialect, local: true, objection: None, client, join_code: None };
        let step = self.agent.handle(self.clock.now(), &mut self.entropy, Input::Request(request));
        step.replies.into_iter().find(|reply| reply.to == id).map(|reply| reply.content)
    }
}

/// Answers what arrives at a port of ours.
pub(crate) trait Desk: Send + 'static {
    fn answer(&mut self, body: &[u8]) -> HttpReply;
}

/// A port of ours, and all that came to it. Closed when it is dropped.
#[derive(Debug)]
pub(crate) struct Booth {
    arrived: mpsc::UnboundedReceiver<Exchange>,
    _close: watch::Sender<bool>,
}

impl Booth {
    pub(crate) fn open(listener: TcpListener, desk: impl Desk) -> Self {
        let (close, closing) = watch::channel(false);
        let (tell, arrived) = mpsc::unbounded_channel();
        let desk = Arc::new(Mutex::new(desk));
        let handler = move |request, _peer| serve(Arc::clone(&desk), tell.clone(), request);
        tokio::spawn(server::serve(listener, CONNECTIONS_MAX, handler, closing));
        Self { arrived, _close: close }
    }

    /// The next that comes, with what it was answered, if something comes in time.
    pub(crate) async fn next(&mut self, within: Duration) -> Option<Exchange> {
        timeout(within, self.arrived.recv()).await.ok().flatten()
    }
}

async fn serve<D: Desk>(
    desk: Arc<Mutex<D>>,
    tell: mpsc::UnboundedSender<Exchange>,
    request: Request<Incoming>,
) -> server::Answer {
    let is_post = *request.method() == Method::POST;
    let subject = format!("{} {}", request.method(), request.uri().path());
    let limits = matchday_core::protocol::decode::Limits::AGENT;
    let reading = async { body::read(&mut request.into_body(), limits.message_bytes_max).await.ok() };
    let Some(body) = timeout(BODY_TIMEOUT, reading).await.ok().flatten().filter(|_| is_post) else {
        return with_status(StatusCode::BAD_REQUEST, Vec::new());
    };
    let reply = desk.lock().unwrap_or_else(PoisonError::into_inner).answer(&body);
    let answered = Answered {
        status: reply.status,
        content_type: None,
        location: None,
        body: Bytes::from(reply.body.clone()),
    };
    // Whoever opened the booth may have seen enough.
    let _ = tell.send(Exchange {
        subject,
        request: body,
        outcome: Outcome::Answered(answered),
        took: Duration::ZERO,
    });
    with_status(StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK), reply.body)
}

fn with_status(status: StatusCode, body: Vec<u8>) -> server::Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
