//! Those whom a referee talks to: a manager and players behind ports of ours, which answer by their parts. Everything that
//! comes is kept, with its time.

use crate::check::exchange::{Answered, Exchange, Outcome};
use crate::check::receiver;
use crate::net::{body, server};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use matchday_core::protocol::Endpoint;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::request::{ReplyTo, Requests, read_requests};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

/// Longer than any check.
const FOR_EVER: Duration = Duration::from_secs(600);

/// Who was spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Manager,
    /// In this match, as A or B.
    Player(String, Side),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

/// What comes back.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    Say(Value),
    /// The same, after a while.
    Later(Duration, Value),
    Received,
    Silence,
    Fail,
}

/// Something that came to one of ours.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) at: Instant,
    pub(super) part: Part,
    pub(super) message: Value,
    pub(super) exchange: Exchange,
}

impl Seen {
    pub(super) fn kind(&self) -> &str {
        self.message.get("message_type").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.message.get(key).and_then(Value::as_str)
    }
}

/// All that came to any of ours, in order.
pub(super) type Log = Arc<Mutex<Vec<Seen>>>;

/// How one of ours answers: the message, and how many of its kind came before.
pub(super) type Script = dyn Fn(&Value, usize) -> Deed + Send + Sync;

/// A port of ours. Closed when it is dropped.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) endpoint: Endpoint,
    _close: watch::Sender<bool>,
}

pub(super) async fn open(part: Part, log: Log, script: Arc<Script>) -> anyhow::Result<Door> {
    serve(TcpListener::bind("127.0.0.1:0").await?, part, log, script)
}

pub(super) fn serve(
    listener: TcpListener,
    part: Part,
    log: Log,
    script: Arc<Script>,
) -> anyhow::Result<Door> {
    let endpoint = Endpoint::parse(&format!("http://{}/mcp", listener.local_addr()?))?;
    let (close, closing) = watch::channel(false);
    let handler = move |request, _| answer(part.clone(), Arc::clone(&log), Arc::clone(&script), request);
    tokio::spawn(server::serve(listener, 64, handler, closing));
    Ok(Door { endpoint, _close: close })
}

async fn answer(
    part: Part,
    log: Log,
    script: Arc<Script>,
    request: Request<hyper::body::Incoming>,
) -> server::Answer {
    let most = Limits::AGENT.message_bytes_max;
    let Ok(body) = body::read(&mut request.into_body(), most).await else {
        return reply(StatusCode::BAD_REQUEST, String::new());
    };
    let message = receiver::message_in(&body).unwrap_or_default();
    let before = {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = Seen {
            at: Instant::now(),
            part: part.clone(),
            message: message.clone(),
            exchange: Exchange::none(""),
        };
        let before = log.iter().filter(|other| other.part == part && other.kind() == seen.kind()).count();
        let place = log.len();
        log.push(seen);
        (before, place)
    };
    let deed = script(&message, before.0);
    let (status, text) = match &deed {
        Deed::Say(result) | Deed::Later(_, result) => (200, wrapped(&body, result)),
        Deed::Received => (200, wrapped(&body, &json!({"status": "received"}))),
        Deed::Fail => (500, String::new()),
        Deed::Silence => (0, String::new()),
    };
    let pause = match deed {
        Deed::Later(pause, _) => pause,
        Deed::Silence => FOR_EVER,
        _ => Duration::ZERO,
    };
    let outcome = match deed {
        Deed::Silence => Outcome::Unknown("we did not answer".to_owned()),
        _ => Outcome::Answered(Answered {
            status,
            content_type: None,
            location: None,
            body: Bytes::from(text.clone()),
        }),
    };
    let exchange = Exchange { subject: String::new(), request: body, outcome, took: Duration::ZERO };
    if let Some(seen) = log.lock().unwrap_or_else(PoisonError::into_inner).get_mut(before.1) {
        seen.exchange = exchange;
    }
    tokio::time::sleep(pause).await;
    reply(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), text)
}

/// A result in the form in which the request came.
fn wrapped(body: &[u8], result: &Value) -> String {
    match read_requests(body, &Limits::AGENT) {
        Requests::One(request) => match request.reply_to {
            ReplyTo::Id(id) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
            ReplyTo::Body | ReplyTo::Nobody => result.to_string(),
        },
        _ => result.to_string(),
    }
}

fn reply(status: StatusCode, text: String) -> server::Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
