//! The routes of a relay: `POST /relay` opens a mailbox, `/relay/MAILBOX/mcp` is its endpoint, and the holder of its token reads
//! `stream` or `next` and posts to `answers/ID`.

use super::Relay;
use super::open_mailbox::{Answer, OpenMailbox};
use super::{stream, timeout};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{HeaderMap, Request, Response, StatusCode, Uri};
use matchday_core::mailbox::{NotOpen, Transport};
use matchday_core::protocol::Token;
use matchday_net::bearer::bearer;
use matchday_net::body::{self, BodyError};
use matchday_net::response::{
    DISCARD_MAX, empty, json, unanswered, with_close, with_header, with_retry_after,
};
use matchday_net::rx_time::RxTimes;
use matchday_net::server::HttpResponse;
use matchday_runtime::routes::{Matched, RelayRoute, Target};
use serde_json::json;
use smol_str::SmolStr;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::time::{self, Instant};

/// The longest call or answer.
pub(super) const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// The longest name that a client gives itself.
const CLIENT_CHARS_MAX: usize = 64;

impl Relay {
    pub(crate) async fn answer(
        self: Arc<Self>,
        matched: &Matched,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> HttpResponse {
        let Target::Relay(target) = matched.route.target else { return empty(StatusCode::NOT_FOUND) };
        let mailbox = matched.value(0);
        match target {
            RelayRoute::List => self.list().await,
            RelayRoute::Open => self.open_for(request.headers(), peer).await,
            RelayRoute::Call => self.called(mailbox, request).await,
            RelayRoute::Stream => self.read_calls(mailbox, &request, Transport::Stream).await,
            RelayRoute::Next => self.read_calls(mailbox, &request, Transport::LongPoll).await,
            RelayRoute::Answer => match self.authorized(mailbox, request.headers()) {
                Ok(mailbox) => match matched.value(1).parse() {
                    Ok(call) => self.answered(&mailbox, call, request).await,
                    Err(_) => error(StatusCode::NOT_FOUND, "a call has a number"),
                },
                Err(refusal) => refusal,
            },
        }
    }

    async fn read_calls(
        &self,
        mailbox: &str,
        request: &Request<Incoming>,
        transport: Transport,
    ) -> HttpResponse {
        let mailbox = match self.authorized(mailbox, request.headers()) {
            Ok(mailbox) => mailbox,
            Err(refusal) => return refusal,
        };
        let query = ReadQuery::of(request.uri());
        let reading = mailbox.connect(query.client, transport, query.take_over, query.after);
        let Ok(reading) = reading else {
            return error(
                StatusCode::CONFLICT,
                "another client reads this mailbox: end it, or add take_over=1 to the query",
            );
        };
        match transport {
            Transport::Stream => stream::stream(reading, self.closing.subscribe()),
            Transport::LongPoll => stream::poll(reading, self.closing.subscribe()).await,
        }
    }

    /// Opens a mailbox for a client that may register.
    async fn open_for(&self, headers: &HeaderMap, peer: SocketAddr) -> HttpResponse {
        let code = bearer(headers).map(Token::new);
        let shown = code.is_some();
        match self.may_open(code).await {
            Some(true) => {}
            Some(false) => {
                let why = if shown {
                    "this join code is not one of the league: ask the operator for one"
                } else {
                    "show the join code that the operator gave you as Authorization: Bearer CODE"
                };
                return error(StatusCode::UNAUTHORIZED, why);
            }
            None => {
                let refusal =
                    error(StatusCode::SERVICE_UNAVAILABLE, "the league is being started or stopped");
                return with_close(with_retry_after(refusal, 1));
            }
        }
        match self.open_mailbox(peer.ip()).await {
            Ok((mailbox, token)) => {
                let opened = json!({
                    "mailbox": mailbox,
                    "relay_token": token.reveal(),
                    "contact_endpoint": self.contact(&mailbox),
                    "time": self.clock.now(),
                });
                json(StatusCode::CREATED, opened.to_string().into_bytes())
            }
            Err(why) => with_retry_after(error(why.status(), &why.to_string()), 60),
        }
    }

    /// The mailbox, if the request shows its token.
    fn authorized(&self, mailbox: &str, headers: &HeaderMap) -> Result<Arc<OpenMailbox>, HttpResponse> {
        let Some(mailbox) = self.mailbox(mailbox) else {
            return Err(error(StatusCode::NOT_FOUND, "there is no such mailbox: open one with POST /relay"));
        };
        let admitted = bearer(headers).is_some_and(|token| mailbox.record.token.admits(&Token::new(token)));
        match admitted {
            true => Ok(mailbox),
            false => Err(error(
                StatusCode::UNAUTHORIZED,
                "show the relay token of this mailbox as Authorization: Bearer TOKEN",
            )),
        }
    }

    /// A call to the agent. One that is not answered is a connection that fails: any HTTP answer would be a sign of life.
    async fn called(&self, mailbox: &str, request: Request<Incoming>) -> HttpResponse {
        let began = Instant::now();
        let (head, mut incoming) = request.into_parts();
        let Some(mailbox) = self.mailbox(mailbox) else { return unanswered() };
        let body = match self.read(&mut incoming).await {
            Ok(body) => body,
            // The agent never hears of it: the fault is the caller's.
            Err(refusal) => return refusal,
        };
        let deadline = began + timeout::of_call(&head.headers, &body);
        match mailbox.call(body, deadline).await {
            Ok(Answer { status, body, .. }) => {
                let mut response = Response::new(Full::new(body).boxed());
                *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
                with_header(response, hyper::header::CONTENT_TYPE, "application/json")
            }
            Err(_) => unanswered(),
        }
    }

    async fn answered(&self, mailbox: &OpenMailbox, call: u64, request: Request<Incoming>) -> HttpResponse {
        let (head, mut incoming) = request.into_parts();
        let status = parameter(&head.uri, "status");
        let failed = parameter(&head.uri, "failed").is_some_and(|value| value == "1");
        let status = match status.map_or(Ok(200), str::parse::<u16>) {
            Ok(status) if StatusCode::from_u16(status).is_ok() => status,
            _ => {
                return error(
                    StatusCode::BAD_REQUEST,
                    "status: expected the HTTP status of the agent's answer",
                );
            }
        };
        let body = match self.read(&mut incoming).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
        let received = head.extensions.get::<Arc<RxTimes>>().and_then(|times| times.last());
        let arrived = received.unwrap_or_else(Instant::now);
        let answer = (!failed).then_some(Answer { status, body, arrived });
        match mailbox.answer(call, arrived, answer) {
            Ok(()) => empty(StatusCode::NO_CONTENT),
            Err(why @ (NotOpen::Unknown | NotOpen::Late)) => error(StatusCode::GONE, &why.to_string()),
        }
    }

    async fn read(&self, incoming: &mut Incoming) -> Result<Bytes, HttpResponse> {
        let reading = body::read(incoming, MESSAGE_BYTES_MAX);
        match time::timeout(self.body_timeout, reading).await {
            Ok(Ok(body)) => Ok(body),
            Ok(Err(BodyError::TooLarge(_))) => {
                let discarding = body::discard(incoming, DISCARD_MAX);
                let _in_time = time::timeout(self.body_timeout, discarding).await;
                let why = format!("the body may have {MESSAGE_BYTES_MAX} bytes at most");
                Err(with_close(error(StatusCode::PAYLOAD_TOO_LARGE, &why)))
            }
            Ok(Err(BodyError::Broken)) => Err(with_close(empty(StatusCode::BAD_REQUEST))),
            Err(_) => Err(with_close(empty(StatusCode::REQUEST_TIMEOUT))),
        }
    }

    async fn list(self: &Arc<Self>) -> HttpResponse {
        match self.connections().await {
            Some(agents) => json(StatusCode::OK, json!({ "agents": agents }).to_string().into_bytes()),
            None => error(StatusCode::UNAUTHORIZED, "this league is not open to readers"),
        }
    }
}

/// What a client says when it begins to read.
struct ReadQuery {
    client: SmolStr,
    take_over: bool,
    after: Option<u64>,
}

impl ReadQuery {
    fn of(uri: &Uri) -> Self {
        let client = parameter(uri, "client").unwrap_or_default();
        Self {
            client: client.chars().take(CLIENT_CHARS_MAX).collect(),
            take_over: parameter(uri, "take_over").is_some_and(|value| value == "1"),
            after: parameter(uri, "after").and_then(|value| value.parse().ok()),
        }
    }
}

fn parameter<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    uri.query()?
        .split('&')
        .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value))
}

fn error(status: StatusCode, why: &str) -> HttpResponse {
    json(status, json!({ "error": why }).to_string().into_bytes())
}
