//! The calling side of a check: sends to the agent, waits as long as a league would, keeps what came. It knows how
//! agents are called, and nothing of what they should answer.

use super::exchange::{Answered, Exchange, Outcome, seconds};
use super::raw::Place;
use crate::net::client::{CallError, Client};
use crate::shell::Clock;
use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderName, LOCATION};
use matchday_core::protocol::Message;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use matchday_core::protocol::dialect::call::{write_call, write_probe};
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// After so many questions in a row without an answer nobody is asked any more.
const MISSES_MAX: u32 = 2;
/// How long we wait for a sign of life.
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// Our ids are not 1, 2, 3: an agent that counts by itself must not echo the right one by chance.
const FIRST_ID: i64 = 4101;

#[derive(Debug)]
pub(crate) struct Probe {
    client: Client,
    pub(crate) clock: Clock,
    pub(crate) url: String,
    pub(crate) limits: Limits,
    /// When the whole check must be over.
    end: Instant,
    /// The longest that anything is waited for, if that is less than a league would wait.
    patience: Duration,
    dialect: Mutex<Dialect>,
    next_id: AtomicI64,
    misses: AtomicU32,
}

/// How a league message of ours fared.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) exchange: Exchange,
    /// The JSON-RPC id that it was sent under.
    pub(crate) id: i64,
    pub(crate) dialect: Dialect,
    /// What a league makes of the answer, if there was one.
    pub(crate) wire: Option<WireAnswer<'static>>,
    /// Whether the answer came by a message of its own, to a port of ours.
    pub(crate) apart: bool,
}

impl Probe {
    pub(crate) fn new(client: Client, url: &str, end: Instant, patience: Duration) -> Self {
        Self {
            client,
            clock: Clock::start(),
            url: url.to_owned(),
            limits: Limits::AGENT,
            end,
            patience,
            dialect: Mutex::new(Dialect::Standard),
            next_id: AtomicI64::new(FIRST_ID),
            misses: AtomicU32::new(0),
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn speak(&self, dialect: Dialect) {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
    }

    pub(crate) fn fresh_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// How long something is waited for that a league would wait `within` for.
    pub(crate) fn longest(&self, within: Duration) -> Duration {
        within.min(self.patience).min(self.end.saturating_duration_since(Instant::now()))
    }

    /// Sends a body as it is.
    pub(crate) async fn send(&self, subject: &str, body: impl Into<Bytes>, within: Duration) -> Exchange {
        let request = body.into();
        let unknown = |why: &str| Exchange {
            subject: subject.to_owned(),
            request: request.clone(),
            outcome: Outcome::Unknown(why.to_owned()),
            took: Duration::ZERO,
        };
        if self.misses.load(Ordering::Relaxed) >= MISSES_MAX {
            return unknown("the agent had stopped answering by then");
        }
        let waited = self.longest(within);
        if waited.is_zero() {
            return unknown("the time for the whole check was up");
        }
        let exchange = self.post(subject, request.clone(), waited).await;
        match &exchange.outcome {
            Outcome::Failed(CallError::TimedOut) if waited < within => {
                let took = exchange.took;
                let why = format!("no answer within the {} that this check waits", seconds(waited));
                Exchange { outcome: Outcome::Unknown(why), took, ..exchange }
            }
            // A connection that breaks off is an answer of a kind, as long as the next one is taken.
            Outcome::Failed(CallError::NoConnection(_) | CallError::Closed(_)) if self.listens().await => {
                exchange
            }
            Outcome::Failed(
                CallError::TimedOut
                | CallError::NoConnection(_)
                | CallError::Closed(_)
                | CallError::NoRoute(_),
            ) => {
                self.misses.fetch_add(1, Ordering::Relaxed);
                exchange
            }
            _ => {
                self.misses.store(0, Ordering::Relaxed);
                exchange
            }
        }
    }

    /// Whether connections are taken at all.
    async fn listens(&self) -> bool {
        match Place::of(&self.url) {
            Some(place) => place.connect().await.is_ok(),
            None => false,
        }
    }

    async fn post(&self, subject: &str, request: Bytes, within: Duration) -> Exchange {
        let began = Instant::now();
        let most = self.limits.message_bytes_max;
        let received = self.client.post(&self.url, request.clone(), began + within, most).await;
        let outcome = match received {
            Ok(received) => Outcome::Answered(Answered {
                status: received.status,
                content_type: header(&received.headers, CONTENT_TYPE),
                location: header(&received.headers, LOCATION),
                body: received.body,
            }),
            Err(error) => Outcome::Failed(error),
        };
        Exchange { subject: subject.to_owned(), request, outcome, took: began.elapsed() }
    }

    /// Whether anyone is there, however silent they have been so far.
    pub(crate) async fn ping(&self) -> Exchange {
        let exchange = self.post("ping", write_probe(self.fresh_id()).into(), PING_TIMEOUT).await;
        if exchange.answered().is_some() {
            self.misses.store(0, Ordering::Relaxed);
        }
        exchange
    }

    /// Sends a league message in the dialect that the agent understands; if it does not know that one, in each other
    /// until one is understood, as a league does. If none is, the first answer stands.
    pub(crate) async fn tell(&self, message: &Message, within: Duration) -> Reply {
        self.converse(message, within, None).await
    }

    /// The same, with the message changed in ways that no message of ours could be.
    pub(crate) async fn tell_altered(&self, message: &Message, within: Duration, alter: &Alter<'_>) -> Reply {
        self.converse(message, within, Some(alter)).await
    }

    async fn converse(&self, message: &Message, within: Duration, alter: Option<&Alter<'_>>) -> Reply {
        let spoken = self.dialect();
        let first = self.attempt(spoken, message, within, alter).await;
        if first.wire != Some(WireAnswer::MethodNotFound) {
            return first;
        }
        let others = std::iter::successors(Some(spoken.next()), |dialect| Some(dialect.next()));
        for dialect in others.take_while(|dialect| *dialect != spoken) {
            let reply = self.attempt(dialect, message, within, alter).await;
            match &reply.wire {
                Some(WireAnswer::Message(_) | WireAnswer::Refused(_) | WireAnswer::Received) => {
                    self.speak(dialect);
                    return reply;
                }
                Some(_) => {}
                None => break,
            }
        }
        first
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
        let read = |came: &Answered| read_answer(came.status, &came.body, &self.limits).into_owned();
        let wire = exchange.answered().map(read);
        Reply { exchange, id, dialect, wire, apart: false }
    }
}

/// A change to a league message on its way out.
pub(crate) type Alter<'a> = dyn Fn(&mut Map<String, Value>) + Sync + 'a;

/// Changes the league message in a request body, wherever the dialect puts it, and the method with its type.
fn altered(body: Vec<u8>, dialect: Dialect, alter: &Alter<'_>) -> Vec<u8> {
    let Ok(mut request) = serde_json::from_slice::<Value>(&body) else {
        return body;
    };
    let place = ["/params/message", "/params/arguments", "/params", ""]
        .into_iter()
        .find(|place| request.pointer(place).is_some_and(|held| held.get("message_type").is_some()));
    let Some(message) = place.and_then(|place| request.pointer_mut(place)?.as_object_mut()) else {
        return body;
    };
    let before = message.get("message_type").cloned();
    alter(message);
    let after = message.get("message_type").cloned();
    if let Some(Value::String(kind)) = after.filter(|after| Some(after) != before.as_ref()) {
        let (place, name) = match dialect {
            Dialect::TypeAsMethod => ("/method", kind),
            Dialect::ToolsCall => ("/params/name", kind.to_ascii_lowercase()),
            Dialect::Standard | Dialect::LowerTypeAsMethod => ("/method", kind.to_ascii_lowercase()),
            // One method for everything, or none at all.
            Dialect::HandleMessage | Dialect::McpMessage | Dialect::ProtocolMessage | Dialect::Bare => {
                ("", kind)
            }
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
