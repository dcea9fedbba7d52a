//! An HTTP peer that answers as it is told, to misbehave in ways that our agents do not.

use crate::address::free_port;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use matchday_net::server;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;

/// What a peer answers with, and after how long.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub body: String,
    pub after: Duration,
}

/// Not a status of HTTP: the server ends.
const DEAD: u16 = 0;

impl Answer {
    pub fn new(status: u16, body: impl ToString) -> Self {
        Self {
            status,
            body: body.to_string(),
            after: Duration::ZERO,
        }
    }

    pub fn json(body: &Value) -> Self {
        Self::new(200, body)
    }

    /// The last that is heard of the peer.
    pub fn dead() -> Self {
        Self::new(DEAD, "")
    }

    pub fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }
}

/// What to answer to the JSON of a request: a status, a body, and after how long.
pub type Rule = fn(&Value) -> (u16, Value, Duration);

/// A server that runs for as long as it is kept.
pub struct FakePeer {
    pub address: SocketAddr,
    _close: Arc<watch::Sender<bool>>,
}

impl FakePeer {
    /// Starts one that answers each request by its body.
    pub async fn start(answer: impl Fn(&[u8]) -> Answer + Send + Sync + 'static) -> Self {
        let listener = free_port().await;
        let address = listener.local_addr().unwrap();
        let (close, closing) = watch::channel(false);
        let close = Arc::new(close);
        let answer = Arc::new(answer);
        let kill = Arc::downgrade(&close);
        let handler = move |request: hyper::Request<hyper::body::Incoming>, _| {
            let kill = kill.clone();
            let answer = Arc::clone(&answer);
            async move {
                let body = request
                    .into_body()
                    .collect()
                    .await
                    .map(|body| body.to_bytes())
                    .unwrap_or_default();
                let answer = answer(&body);
                if answer.status == DEAD {
                    kill.upgrade().inspect(|close| close.send(true).unwrap());
                    // The caller must not reach it again after this answer.
                    while TcpStream::connect(address).await.is_ok() {
                        tokio::task::yield_now().await;
                    }
                    return Response::default();
                }
                tokio::time::sleep(answer.after).await;
                let mut response = Response::new(Full::new(Bytes::from(answer.body)));
                *response.status_mut() = StatusCode::from_u16(answer.status).unwrap();
                response
                    .headers_mut()
                    .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                response
            }
        };
        tokio::spawn(server::serve(listener, 100, handler, closing));
        Self {
            address,
            _close: close,
        }
    }

    pub async fn by_rule(rule: Rule) -> Self {
        Self::start(move |body| {
            let (status, answer, after) = rule(&serde_json::from_slice(body).unwrap_or_default());
            Answer::new(status, answer).after(after)
        })
        .await
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}
