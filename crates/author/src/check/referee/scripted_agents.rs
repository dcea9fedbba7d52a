//! Scripted servers for a referee to call: a manager and players. Every request is recorded with its time.

use crate::check::ack_server;
use crate::check::exchange::{CallOutcome, Exchange, HttpAnswer};
use crate::check::fake_agent::{RECORDED_BYTES_MAX, RECORDED_OVERHEAD};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use matchday_core::protocol::Endpoint;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::request::{ReplyTo, Requests, read_requests};
use matchday_net::{body, server};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

/// Longer than any check.
const FOR_EVER: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recipient {
    Manager,
    /// The match id and the side.
    Player(String, Side),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

#[derive(Debug, Clone)]
pub(super) enum ScriptedReply {
    Say(Value),
    /// After a delay.
    Later(Duration, Value),
    Received,
    Silence,
    Fail,
}

#[derive(Debug, Clone)]
pub(super) struct ReceivedMessage {
    pub(super) at: Instant,
    pub(super) recipient: Recipient,
    /// The message type in capitals, as lenient agents read it.
    kind: String,
    pub(super) message: Value,
    pub(super) exchange: Exchange,
}

impl ReceivedMessage {
    pub(super) fn message_type(&self) -> &str {
        &self.kind
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.message.get(key).and_then(Value::as_str)
    }
}

/// The message type in capitals.
pub(super) fn kind_of(message: &Value) -> String {
    message
        .get("message_type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_ascii_uppercase()
}

/// Everything received, in order.
pub(super) type Log = Arc<Mutex<Vec<ReceivedMessage>>>;

/// Chooses a reply from the message and the number of earlier messages of its type.
pub(super) type Script = dyn Fn(&Value, usize) -> ScriptedReply + Send + Sync;

/// Closed when dropped.
#[derive(Debug)]
pub(super) struct ScriptedServer {
    pub(super) endpoint: Endpoint,
    _close: watch::Sender<bool>,
}

pub(super) async fn open(
    recipient: Recipient,
    log: Log,
    script: Arc<Script>,
) -> anyhow::Result<ScriptedServer> {
    serve(
        TcpListener::bind("127.0.0.1:0").await?,
        recipient,
        log,
        script,
    )
}

pub(super) fn serve(
    listener: TcpListener,
    recipient: Recipient,
    log: Log,
    script: Arc<Script>,
) -> anyhow::Result<ScriptedServer> {
    let endpoint = Endpoint::parse(&format!("http://{}/mcp", listener.local_addr()?))?;
    let (close, closing) = watch::channel(false);
    let handler = move |request, _| {
        answer(
            recipient.clone(),
            Arc::clone(&log),
            Arc::clone(&script),
            request,
        )
    };
    tokio::spawn(server::serve(listener, 64, handler, closing));
    Ok(ScriptedServer {
        endpoint,
        _close: close,
    })
}

async fn answer(
    recipient: Recipient,
    log: Log,
    script: Arc<Script>,
    request: Request<hyper::body::Incoming>,
) -> server::HttpResponse {
    let most = Limits::AGENT.message_bytes_max;
    let Ok(body) = body::read(&mut request.into_body(), most).await else {
        return http_reply(StatusCode::BAD_REQUEST, String::new());
    };
    let message = ack_server::message_in(&body).unwrap_or_default();
    let before = {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let received = ReceivedMessage {
            at: Instant::now(),
            recipient: recipient.clone(),
            kind: kind_of(&message),
            message: message.clone(),
            exchange: Exchange::none(""),
        };
        let before = log
            .iter()
            .filter(|other| {
                other.recipient == recipient && other.message_type() == received.message_type()
            })
            .count();
        let place = log.len();
        let kept: usize = log
            .iter()
            .map(|other| other.exchange.request.len() + RECORDED_OVERHEAD)
            .sum();
        if kept < RECORDED_BYTES_MAX {
            log.push(received);
        }
        (before, place)
    };
    let reply = script(&message, before.0);
    let (status, text) = match &reply {
        ScriptedReply::Say(result) | ScriptedReply::Later(_, result) => {
            (200, wrapped(&body, result))
        }
        ScriptedReply::Received => (200, wrapped(&body, &json!({"status": "received"}))),
        ScriptedReply::Fail => (500, String::new()),
        ScriptedReply::Silence => (0, String::new()),
    };
    let pause = match reply {
        ScriptedReply::Later(pause, _) => pause,
        ScriptedReply::Silence => FOR_EVER,
        _ => Duration::ZERO,
    };
    let outcome = match reply {
        ScriptedReply::Silence => CallOutcome::Unknown("we did not answer".to_owned()),
        _ => CallOutcome::Answered(HttpAnswer {
            status,
            content_type: None,
            location: None,
            body: Bytes::from(text.clone()),
        }),
    };
    let exchange = Exchange {
        subject: String::new(),
        request: body,
        outcome,
        took: Duration::ZERO,
    };
    if let Some(received) = log
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_mut(before.1)
    {
        received.exchange = exchange;
    }
    tokio::time::sleep(pause).await;
    http_reply(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), text)
}

/// Wraps a result in the form that the request asks for.
fn wrapped(body: &[u8], result: &Value) -> String {
    match read_requests(body, &Limits::AGENT) {
        Requests::One(request) => match request.reply_to {
            ReplyTo::Id(id) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
            ReplyTo::Body | ReplyTo::Nobody => result.to_string(),
        },
        _ => result.to_string(),
    }
}

fn http_reply(status: StatusCode, text: String) -> server::HttpResponse {
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
