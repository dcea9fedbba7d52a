//! The client of a check: sends requests to the agent under check, with a league's timeouts, and records the
//! exchanges.

use super::exchange::{CallOutcome, Exchange, HttpAnswer, format_duration};
use super::raw_http::RawTarget;
use super::response_format;
use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderName, LOCATION};
use matchday_core::protocol::Message;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use matchday_core::protocol::dialect::call::{write_call, write_probe};
use matchday_net::client::{CallError, Client};
use matchday_runtime::Clock;
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// After so many unanswered requests in a row no more are sent.
const UNANSWERED_MAX: u32 = 2;
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// Not 1, 2, 3: an agent that counts its own ids must not match by accident.
const FIRST_ID: i64 = 4101;

#[derive(Debug)]
pub struct Probe {
    client: Client,
    pub clock: Clock,
    pub url: String,
    pub limits: Limits,
    /// When the whole check must end.
    deadline: Instant,
    /// An upper bound on every timeout.
    wait_max: Duration,
    dialect: Mutex<Dialect>,
    /// Whether the agent has understood a message in that dialect.
    understood: AtomicBool,
    /// Whether a message in the standard dialect was answered; if not, the exchange.
    standard: Mutex<Option<Result<(), Exchange>>>,
    next_id: AtomicI64,
    unanswered: AtomicU32,
}

/// The reply to a league message.
#[derive(Debug, Clone)]
pub struct Reply {
    pub exchange: Exchange,
    /// The JSON-RPC id of the request.
    pub id: i64,
    pub dialect: Dialect,
    /// The response as a league's dialect reader sees it.
    pub wire: Option<WireAnswer>,
    /// Whether the answer came as a separate request to our server.
    pub separate: bool,
    /// Whether the answer was JSON inside of a JSON text.
    pub encoded_twice: bool,
    /// Whether the agent has understood another message before.
    pub knows_others: bool,
}

impl Reply {
    pub fn is_understood(&self) -> bool {
        matches!(
            self.wire,
            Some(WireAnswer::Message(_) | WireAnswer::Refused(_) | WireAnswer::Received)
        )
    }
}

impl Probe {
    pub fn new(client: Client, url: &str, deadline: Instant, wait_max: Duration) -> Self {
        Self {
            client,
            clock: Clock::start(),
            url: url.to_owned(),
            limits: Limits::AGENT,
            deadline,
            wait_max,
            dialect: Mutex::new(Dialect::Standard),
            understood: AtomicBool::new(false),
            standard: Mutex::new(None),
            next_id: AtomicI64::new(FIRST_ID),
            unanswered: AtomicU32::new(0),
        }
    }

    pub fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_dialect(&self, dialect: Dialect) {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
    }

    pub fn fresh_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The timeout for a request to which a league would give `within`.
    pub fn timeout(&self, within: Duration) -> Duration {
        within
            .min(self.wait_max)
            .min(self.deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether the time for the whole check is up.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Whether the agent has stopped answering.
    pub fn is_silent(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) >= UNANSWERED_MAX
    }

    pub async fn send(&self, subject: &str, body: impl Into<Bytes>, within: Duration) -> Exchange {
        let request = body.into();
        let unknown = |why: &str| Exchange {
            subject: subject.to_owned(),
            request: request.clone(),
            outcome: CallOutcome::Unknown(why.to_owned()),
            took: Duration::ZERO,
        };
        if self.is_silent() {
            return unknown("the agent had stopped answering by then");
        }
        let waited = self.timeout(within);
        if waited.is_zero() {
            return unknown("the time limit of the check was reached");
        }
        let exchange = self.post(subject, request.clone(), waited).await;
        match &exchange.outcome {
            CallOutcome::Failed(CallError::TimedOut) if waited < within => {
                let took = exchange.took;
                let why = format!(
                    "no answer within the {} that this check waits",
                    format_duration(waited)
                );
                Exchange {
                    outcome: CallOutcome::Unknown(why),
                    took,
                    ..exchange
                }
            }
            // A dropped connection counts as an answer if the agent accepts a new one.
            CallOutcome::Failed(CallError::NoConnection(_) | CallError::Closed(_))
                if self.listens().await =>
            {
                exchange
            }
            CallOutcome::Failed(
                CallError::TimedOut
                | CallError::NoConnection(_)
                | CallError::Closed(_)
                | CallError::NoRoute(_),
            ) => {
                self.unanswered.fetch_add(1, Ordering::Relaxed);
                exchange
            }
            _ => {
                self.unanswered.store(0, Ordering::Relaxed);
                exchange
            }
        }
    }

    async fn listens(&self) -> bool {
        match RawTarget::of(&self.url) {
            Some(target) => target.connect().await.is_ok(),
            None => false,
        }
    }

    /// Servers close a connection after an error, also while another request is on its way over it: whether the agent
    /// answers is judged by a new connection.
    async fn post(&self, subject: &str, request: Bytes, within: Duration) -> Exchange {
        let first = self
            .post_by(&self.client, &self.url, subject, request.clone(), within)
            .await;
        let left = within.saturating_sub(first.took);
        if left.is_zero() || !matches!(first.outcome, CallOutcome::Failed(CallError::Closed(_))) {
            return first;
        }
        let fresh = self.client.with_new_connections();
        let second = self
            .post_by(&fresh, &self.url, subject, request, left)
            .await;
        if second.answered().is_some() {
            second
        } else {
            first
        }
    }

    async fn post_by(
        &self,
        client: &Client,
        url: &str,
        subject: &str,
        request: Bytes,
        within: Duration,
    ) -> Exchange {
        let began = Instant::now();
        let most = self.limits.message_bytes_max;
        let received = client
            .post(url, request.clone(), began + within, most)
            .await;
        let outcome = match received {
            Ok(received) => CallOutcome::Answered(HttpAnswer {
                status: received.status,
                content_type: header(&received.headers, CONTENT_TYPE),
                location: header(&received.headers, LOCATION),
                body: received.body,
            }),
            Err(error) => CallOutcome::Failed(error),
        };
        Exchange {
            subject: subject.to_owned(),
            request,
            outcome,
            took: began.elapsed(),
        }
    }

    /// Sends a ping to another URL.
    pub async fn ping_at(&self, url: &str) -> Exchange {
        let body = write_probe(self.fresh_id()).into();
        self.post_by(&self.client, url, "ping", body, PING_TIMEOUT)
            .await
    }

    /// Sends a ping, also after too many unanswered requests.
    pub async fn ping(&self) -> Exchange {
        // By a new connection: one that is open may be served for a while by a server that has ended.
        let fresh = self.client.with_new_connections();
        let body = write_probe(self.fresh_id()).into();
        let exchange = self
            .post_by(&fresh, &self.url, "ping", body, PING_TIMEOUT)
            .await;
        if exchange.answered().is_some() {
            self.unanswered.store(0, Ordering::Relaxed);
        }
        exchange
    }

    /// Whether the standard dialect was understood, if another one is spoken: if not, the message that was not.
    pub fn standard(&self) -> Option<Result<(), Exchange>> {
        self.standard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note_standard(&self, result: Result<(), Exchange>) {
        *self.standard.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    /// Sends a league message in the dialect last understood. If the agent does not understand it, tries the other
    /// dialects, as a league does; if none is understood, returns the first reply.
    pub async fn send_message(&self, message: &Message, within: Duration) -> Reply {
        self.send_in_dialects(message, within, None).await
    }

    /// The same, after changing fields of the message so that it may be invalid.
    pub async fn send_altered(
        &self,
        message: &Message,
        within: Duration,
        alter: &Alter<'_>,
    ) -> Reply {
        self.send_in_dialects(message, within, Some(alter)).await
    }

    async fn send_in_dialects(
        &self,
        message: &Message,
        within: Duration,
        alter: Option<&Alter<'_>>,
    ) -> Reply {
        let spoken = self.dialect();
        let first = self.attempt(spoken, message, within, alter).await;
        if first.is_understood() {
            self.understood.store(true, Ordering::Relaxed);
            return first;
        }
        // An agent that has understood this dialect before fails for another reason.
        let is_known = self.understood.load(Ordering::Relaxed);
        match first.wire {
            Some(WireAnswer::MethodNotFound) => {}
            Some(_) if !is_known => {}
            _ => return first,
        }
        self.in_other_dialects(&first, message, within, alter, Reply::is_understood)
            .await
            .unwrap_or(first)
    }

    /// Sends a message in every dialect but that of `first`, until one is answered as wanted, which is spoken from then on.
    async fn in_other_dialects(
        &self,
        first: &Reply,
        message: &Message,
        within: Duration,
        alter: Option<&Alter<'_>>,
        is_wanted: impl Fn(&Reply) -> bool,
    ) -> Option<Reply> {
        let others =
            std::iter::successors(Some(first.dialect.next()), |dialect| Some(dialect.next()));
        for dialect in others.take_while(|dialect| *dialect != first.dialect) {
            let reply = self.attempt(dialect, message, within, alter).await;
            if is_wanted(&reply) {
                if first.dialect == Dialect::Standard {
                    self.note_standard(Err(first.exchange.clone()));
                }
                self.set_dialect(dialect);
                self.understood.store(true, Ordering::Relaxed);
                return Some(reply);
            }
            reply.wire.as_ref()?;
        }
        None
    }

    /// Sends a message to which an agent owes an answer. One that only acknowledges it may not have understood it: the
    /// other dialects are tried, and the one that it answers in is spoken from then on.
    pub async fn find_dialect(&self, message: &Message, within: Duration) -> Reply {
        let is_answer = |reply: &Reply| {
            matches!(
                reply.wire,
                Some(WireAnswer::Message(_) | WireAnswer::Refused(_))
            )
        };
        let spoken = self.dialect();
        if spoken != Dialect::Standard {
            let standard = self.attempt(Dialect::Standard, message, within, None).await;
            self.note_standard(if is_answer(&standard) {
                Ok(())
            } else {
                Err(standard.exchange)
            });
        }
        let first = self.send_message(message, within).await;
        if first.wire != Some(WireAnswer::Received) {
            return first;
        }
        self.in_other_dialects(&first, message, within, None, is_answer)
            .await
            .unwrap_or(first)
    }

    async fn attempt(
        &self,
        dialect: Dialect,
        message: &Message,
        within: Duration,
        alter: Option<&Alter<'_>>,
    ) -> Reply {
        let id = self.fresh_id();
        let body = write_call(dialect, id, message);
        let body = match alter {
            Some(alter) => altered(body, dialect, alter),
            None => body,
        };
        let exchange = self.send(message.message_type().name(), body, within).await;
        let read = |came: &HttpAnswer| read_answer(came.status, &came.body, &self.limits);
        let wire = exchange.answered().map(read);
        let mut reply = Reply {
            exchange,
            id,
            dialect,
            wire,
            separate: false,
            encoded_twice: false,
            knows_others: self.understood.load(Ordering::Relaxed),
        };
        if !matches!(reply.wire, Some(WireAnswer::Message(_)))
            && let Some(message) = reply
                .exchange
                .json()
                .and_then(response_format::encoded_twice)
        {
            reply.encoded_twice = true;
            reply.wire = Some(WireAnswer::Message(message.into()));
        }
        reply
    }
}

pub type Alter<'a> = dyn Fn(&mut Map<String, Value>) + Sync + 'a;

/// Changes the league message inside a request body, and the method if the dialect derives it from the message type.
fn altered(body: Vec<u8>, dialect: Dialect, alter: &Alter<'_>) -> Vec<u8> {
    let Ok(mut request) = serde_json::from_slice::<Value>(&body) else {
        return body;
    };
    let place = ["/params/message", "/params/arguments", "/params", ""]
        .into_iter()
        .find(|place| {
            request
                .pointer(place)
                .is_some_and(|held| held.get("message_type").is_some())
        });
    let Some(message) = place.and_then(|place| request.pointer_mut(place)?.as_object_mut()) else {
        return body;
    };
    let before = message.get("message_type").cloned();
    alter(message);
    let after = message.get("message_type").cloned();
    if let Some(Value::String(kind)) = after.filter(|after| Some(after) != before.as_ref()) {
        let (place, name) = match dialect {
            Dialect::TypeAsMethod => ("/method", kind),
            Dialect::Standard | Dialect::ToolsCall if kind == "MATCH_ASSIGNMENT" => (
                if dialect == Dialect::Standard {
                    "/method"
                } else {
                    "/params/name"
                },
                "assign_match".to_owned(),
            ),
            Dialect::ToolsCall => ("/params/name", kind.to_ascii_lowercase()),
            Dialect::Standard | Dialect::LowerTypeAsMethod => {
                ("/method", kind.to_ascii_lowercase())
            }
            // These do not derive a method from the type.
            Dialect::HandleMessage
            | Dialect::McpMessage
            | Dialect::ProtocolMessage
            | Dialect::Bare => ("", kind),
        };
        if let Some(method) = request.pointer_mut(place).filter(|_| !place.is_empty()) {
            *method = name.into();
        }
    }
    serde_json::to_vec(&request).unwrap_or(body)
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
