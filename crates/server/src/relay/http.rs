//! The routes of a relay: `POST /relay` opens a mailbox, `/relay/MAILBOX/mcp` is its endpoint, and the holder of its token reads
//! `stream` or `next` and posts to `answers/ID`.

use super::Relay;
use super::memory::{Message, Reserved};
use super::open_mailbox::{Answer, NoAnswer, OpenMailbox, Undelivered};
use super::{stream, timeout};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::{HeaderMap, Request, Response, StatusCode, Uri};
use matchday_core::mailbox::Transport;
use matchday_core::protocol::Token;
use matchday_net::bearer::bearer;
use matchday_net::body::{self, BodyError};
use matchday_net::response::{
    DISCARD_MAX, empty, json, refuse, with_close, with_header, with_retry_after,
};
use matchday_net::rx_time::RxTimes;
use matchday_net::server::HttpResponse;
use matchday_runtime::routes::{Matched, RelayRoute, Target};
use matchday_runtime::{AGENT_ABSENT, AGENT_SILENT, RELAY_ABSENCE};
use serde_json::json;
use smol_str::SmolStr;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::time::{self, Instant};

/// The longest name that a client gives itself.
const CLIENT_CHARS_MAX: usize = 64;

impl Relay {
    pub async fn answer(
        self: Arc<Self>,
        matched: &Matched,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> HttpResponse {
        let Target::Relay(target) = matched.route.target else {
            return empty(StatusCode::NOT_FOUND);
        };
        let mailbox = matched.value(0);
        match target {
            RelayRoute::List => self.list().await,
            RelayRoute::Open => self.open_for(request.headers(), peer).await,
            RelayRoute::Call => self.called(mailbox, request).await,
            RelayRoute::Stream => self.read_calls(mailbox, &request, Transport::Stream).await,
            RelayRoute::Next => {
                self.read_calls(mailbox, &request, Transport::LongPoll)
                    .await
            }
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
        let per_address_max = match self.may_open(code).await {
            Some(Some(most)) => most,
            Some(None) => {
                let why = if shown {
                    "this join code is not one of the league: ask the operator for one"
                } else {
                    "show the join code that the operator gave you as Authorization: Bearer CODE"
                };
                return error(StatusCode::UNAUTHORIZED, why);
            }
            None => {
                let refusal = error(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the league is being started or stopped",
                );
                return with_close(with_retry_after(refusal, 1));
            }
        };
        match self.open_mailbox(peer.ip(), per_address_max).await {
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
    fn authorized(
        &self,
        mailbox: &str,
        headers: &HeaderMap,
    ) -> Result<Arc<OpenMailbox>, HttpResponse> {
        let Some(mailbox) = self.mailbox(mailbox) else {
            return Err(error(
                StatusCode::NOT_FOUND,
                "there is no such mailbox: open one with POST /relay",
            ));
        };
        let admitted =
            bearer(headers).is_some_and(|token| mailbox.record.token.admits(&Token::new(token)));
        if admitted {
            Ok(mailbox)
        } else {
            Err(error(
                StatusCode::UNAUTHORIZED,
                "show the relay token of this mailbox as Authorization: Bearer TOKEN",
            ))
        }
    }

    /// A call to the agent. That it is not answered is said in a header of the relay's own: any other HTTP answer would be a
    /// sign of life.
    async fn called(&self, mailbox: &str, request: Request<Incoming>) -> HttpResponse {
        let began = Instant::now();
        let (head, mut incoming) = request.into_parts();
        let Some(mailbox) = self.mailbox(mailbox) else {
            return not_answered(AGENT_ABSENT, "there is no such mailbox");
        };
        let Some(room) = mailbox.room_for_call(self.expected_bytes(&incoming)) else {
            return not_answered(AGENT_ABSENT, "there is no room for the call");
        };
        let message = match self.read(&mut incoming, Some(room)).await {
            Ok(message) => message,
            // The agent never hears of it: the fault is the caller's.
            Err(why) => return self.refuse_unread(incoming, why).await,
        };
        if std::str::from_utf8(&message.bytes).is_err() {
            return error(StatusCode::BAD_REQUEST, "a call is JSON in UTF-8");
        }
        let deadline = began + timeout::of_call(&head.headers, &message.bytes);
        match mailbox.call(message, deadline).await {
            Ok(Answer { status, body, .. }) => {
                let mut response = Response::new(body.boxed());
                *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
                with_header(response, hyper::header::CONTENT_TYPE, "application/json")
            }
            // The agent has answered, so that its caller is told.
            Err(why @ Undelivered::TooLarge(_)) => error(StatusCode::BAD_GATEWAY, &why.to_string()),
            Err(why @ Undelivered::TimedOut) if mailbox.absent_since().is_none() => {
                not_answered(AGENT_SILENT, &why.to_string())
            }
            Err(why) => not_answered(AGENT_ABSENT, &why.to_string()),
        }
    }

    async fn answered(
        &self,
        mailbox: &OpenMailbox,
        call: u64,
        request: Request<Incoming>,
    ) -> HttpResponse {
        let Some(status) = final_status(request.uri()) else {
            let why = json!({"error": "status: expected the HTTP status of the agent's answer, 200 to 599"});
            let why = why.to_string().into_bytes();
            return refuse(request, StatusCode::BAD_REQUEST, why, self.body_timeout).await;
        };
        let room = match mailbox.room_for_answer(call, self.expected_bytes(request.body())) {
            Ok(room) => room,
            Err(why) => {
                let status = match why {
                    NoAnswer::NotOpen(_) => StatusCode::GONE,
                    NoAnswer::NoRoom => StatusCode::TOO_MANY_REQUESTS,
                };
                let why = json!({ "error": why.to_string() }).to_string().into_bytes();
                return refuse(request, status, why, self.body_timeout).await;
            }
        };
        let (head, mut incoming) = request.into_parts();
        let read = self.read(&mut incoming, room).await;
        let received = head
            .extensions
            .get::<Arc<RxTimes>>()
            .and_then(|times| times.last());
        let arrived = received.unwrap_or_else(Instant::now);
        let failed = parameter(&head.uri, "failed").is_some_and(|value| value == "1");
        let answer = match read {
            Ok(_) if failed => Err(Undelivered::NotReached),
            Ok(body) => Ok(Answer {
                status,
                body,
                arrived,
            }),
            Err(why) => {
                if let NotRead::TooLarge(bytes) = why {
                    let _ended = mailbox.answer(call, arrived, Err(Undelivered::TooLarge(bytes)));
                }
                return self.refuse_unread(incoming, why).await;
            }
        };
        match mailbox.answer(call, arrived, answer) {
            Ok(()) => empty(StatusCode::NO_CONTENT),
            Err(why) => error(StatusCode::GONE, &why.to_string()),
        }
    }

    /// How long a body may become: as long as it says, or as it may be.
    fn expected_bytes(&self, incoming: &Incoming) -> usize {
        let announced = incoming
            .size_hint()
            .exact()
            .and_then(|bytes| usize::try_from(bytes).ok());
        announced
            .unwrap_or(usize::MAX)
            .min(self.settings.message_bytes_max)
    }

    /// Reads a call or an answer into the room that was reserved for it.
    async fn read(
        &self,
        incoming: &mut Incoming,
        room: Option<Reserved>,
    ) -> Result<Message, NotRead> {
        let reading = body::read(incoming, self.settings.message_bytes_max);
        match time::timeout(self.body_timeout, reading).await {
            Ok(Ok(body)) => Ok(Message::read(&body, room)),
            Ok(Err(BodyError::TooLarge(bytes))) => Err(NotRead::TooLarge(bytes)),
            Ok(Err(BodyError::Broken)) => Err(NotRead::Broken),
            Err(_) => Err(NotRead::Late),
        }
    }

    async fn refuse_unread(&self, mut incoming: Incoming, why: NotRead) -> HttpResponse {
        with_close(match why {
            NotRead::TooLarge(_) => {
                let discarding = body::discard(&mut incoming, DISCARD_MAX);
                let _in_time = time::timeout(self.body_timeout, discarding).await;
                let why = format!(
                    "the body may have {} bytes at most",
                    self.settings.message_bytes_max
                );
                error(StatusCode::PAYLOAD_TOO_LARGE, &why)
            }
            NotRead::Broken => empty(StatusCode::BAD_REQUEST),
            NotRead::Late => empty(StatusCode::REQUEST_TIMEOUT),
        })
    }

    async fn list(self: &Arc<Self>) -> HttpResponse {
        match self.connections().await {
            Some(agents) => json(
                StatusCode::OK,
                json!({ "agents": agents }).to_string().into_bytes(),
            ),
            None => error(
                StatusCode::UNAUTHORIZED,
                "this league is not open to readers",
            ),
        }
    }
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy)]
enum NotRead {
    /// With its size, as far as known.
    TooLarge(usize),
    Broken,
    Late,
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
    uri.query()?.split('&').find_map(|pair| {
        pair.split_once('=')
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| value)
    })
}

/// The status of the agent's answer. An interim one (1xx) would be taken for the beginning of another response.
fn final_status(uri: &Uri) -> Option<u16> {
    let status = parameter(uri, "status").map_or(Ok(200), str::parse);
    status.ok().filter(|status| (200..=599).contains(status))
}

/// The agent has not answered.
fn not_answered(absence: &'static str, why: &str) -> HttpResponse {
    let response = error(StatusCode::SERVICE_UNAVAILABLE, why);
    with_close(with_header(response, RELAY_ABSENCE, absence))
}

fn error(status: StatusCode, why: &str) -> HttpResponse {
    json(status, json!({ "error": why }).to_string().into_bytes())
}
