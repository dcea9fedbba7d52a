//! Proxies between an agent and a league. Here is what they share: reading a request, finding its message, forwarding,
//! replying, dropping the connection.

pub mod manager;
pub mod player;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use matchday_net::client::Client;
use matchday_net::{body, server};
use serde_json::{Map, Value};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

pub(super) const MESSAGE_BYTES_MAX: usize = 1 << 20;
const CONNECTIONS_MAX: usize = 256;
const FORWARD_MAX: Duration = Duration::from_secs(30);

pub(super) type Reply = Response<BoxBody<Bytes, io::Error>>;

#[derive(Debug, Clone)]
pub(super) struct ProxiedRequest {
    pub(super) body: Bytes,
    pub(super) json: Value,
    pub(super) message_type: String,
    pub(super) match_id: Option<String>,
}

impl ProxiedRequest {
    /// Reads the body. `None` if it is incomplete or too long.
    pub(super) async fn read(request: Request<Incoming>) -> Option<Self> {
        let body = body::read(&mut request.into_body(), MESSAGE_BYTES_MAX)
            .await
            .ok()?;
        Some(Self::of(body))
    }

    fn of(body: Bytes) -> Self {
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        let message = message_in(&json);
        let text = |key: &str| {
            message
                .and_then(|message| message.get(key)?.as_str())
                .map(str::to_owned)
        };
        let method = || {
            json.get("method")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let message_type = text("message_type").unwrap_or_else(method);
        Self {
            match_id: text("match_id"),
            message_type,
            body,
            json,
        }
    }

    /// Whether it requires a join or a move as its answer.
    pub(super) fn needs_decision(&self) -> bool {
        is_invitation(&self.message_type) || is_choice(&self.message_type)
    }
}

/// Serves until `closing` turns true. Incomplete requests are dropped.
pub(super) async fn serve<R>(
    listener: TcpListener,
    closing: watch::Receiver<bool>,
    answer: impl Fn(ProxiedRequest) -> R + Clone + Send + Sync + 'static,
) where
    R: Future<Output = Reply> + Send + 'static,
{
    let handler = move |request, _| {
        let answer = answer.clone();
        async move {
            match ProxiedRequest::read(request).await {
                Some(request) => answer(request).await,
                None => drop_connection(),
            }
        }
    };
    server::serve(listener, CONNECTIONS_MAX, handler, closing).await;
}

/// Posts a body. Returns the reply to pass on, and its JSON.
pub(super) async fn forward(client: &Client, url: &str, body: Bytes) -> (Reply, Value) {
    match client
        .post(url, body, Instant::now() + FORWARD_MAX, MESSAGE_BYTES_MAX)
        .await
    {
        Ok(received) => {
            let answer = serde_json::from_slice(&received.body).unwrap_or_default();
            (reply(received.status, received.body), answer)
        }
        Err(_) => (drop_connection(), Value::Null),
    }
}

pub(super) fn is_invitation(message_type: &str) -> bool {
    message_type == "GAME_INVITATION"
}

pub(super) fn is_choice(message_type: &str) -> bool {
    matches!(message_type, "CHOOSE_PARITY_CALL" | "GAME_MOVE_CALL")
}

/// The league message in a request or response, in any wrapping.
pub(super) fn message_in(json: &Value) -> Option<&Map<String, Value>> {
    let object = json.as_object()?;
    if object.contains_key("message_type") {
        return Some(object);
    }
    [
        "params",
        "result",
        "response",
        "message",
        "arguments",
        "structuredContent",
    ]
    .into_iter()
    .find_map(|key| message_in(object.get(key)?))
}

pub(super) fn message_mut(json: &mut Value) -> Option<&mut Map<String, Value>> {
    let path = [
        "params",
        "result",
        "response",
        "message",
        "arguments",
        "structuredContent",
    ];
    if json.get("message_type").is_some() {
        return json.as_object_mut();
    }
    let key = path
        .into_iter()
        .find(|key| json.get(*key).and_then(message_in).is_some())?;
    message_mut(json.get_mut(key)?)
}

pub(super) fn reply(status: u16, body: impl Into<Bytes>) -> Reply {
    let body = Full::new(body.into())
        .map_err(|never| match never {})
        .boxed();
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Drops the connection instead of answering.
pub(super) fn drop_connection() -> Reply {
    Response::new(FailingBody.boxed())
}

/// A body that fails at its first byte.
struct FailingBody;

impl Body for FailingBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_is_found_in_any_wrapping() {
        let message = json!({"message_type": "GAME_OVER", "match_id": "R1M1"});
        for wrapped in [
            message.clone(),
            json!({"jsonrpc": "2.0", "method": "x", "params": message}),
            json!({"params": {"message": message}}),
            json!({"method": "tools/call", "params": {"name": "x", "arguments": message}}),
            json!({"result": {"structuredContent": message}}),
        ] {
            let request = ProxiedRequest::of(wrapped.to_string().into());
            assert_eq!(
                (request.message_type.as_str(), request.match_id.as_deref()),
                ("GAME_OVER", Some("R1M1"))
            );
            let mut wrapped = wrapped;
            message_mut(&mut wrapped)
                .unwrap()
                .insert("match_id".into(), json!("R2M1"));
            assert_eq!(message_in(&wrapped).unwrap()["match_id"], "R2M1");
        }
    }

    #[test]
    fn what_is_no_message_goes_by_its_method() {
        assert_eq!(
            ProxiedRequest::of(r#"{"method":"ping"}"#.into()).message_type,
            "ping"
        );
        assert_eq!(ProxiedRequest::of("garbage".into()).message_type, "");
    }
}
