//! Between an agent and everyone else: passes requests on, and spoils one thing on the way.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use matchday_net::client::Client;
use matchday_net::server;
use serde_json::Value;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

/// What to do with an exchange: the request as it is passed on, and then its answer. A request that is made null is not
/// passed on.
#[derive(Clone, Copy)]
pub(crate) struct Spoil {
    pub(crate) request: fn(&mut Value),
    pub(crate) answer: fn(&Value, &mut Value),
}

impl Spoil {
    pub(crate) const NOTHING: Self = Self {
        request: |_| {},
        answer: |_, _| {},
    };
}

pub(crate) struct Proxy {
    pub(crate) url: String,
    _close: watch::Sender<bool>,
}

/// Stands in front of `behind`.
pub(crate) async fn proxy(behind: &str, spoil: Spoil) -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (close, closing) = watch::channel(false);
    let behind = behind.to_owned();
    let client = Client::new();
    let handler = move |request: hyper::Request<hyper::body::Incoming>, _| {
        let behind = behind.clone();
        let client = client.clone();
        async move {
            let body = request
                .into_body()
                .collect()
                .await
                .map(|body| body.to_bytes())
                .unwrap_or_default();
            let (status, body) = pass_on(&client, &behind, body, spoil).await;
            let mut response = Response::new(Full::new(body).boxed());
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
    };
    tokio::spawn(server::serve(listener, 100, handler, closing));
    Proxy { url, _close: close }
}

async fn pass_on(client: &Client, behind: &str, body: Bytes, spoil: Spoil) -> (u16, Bytes) {
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut changed = asked.clone();
    (spoil.request)(&mut changed);
    if changed.is_null() && !asked.is_null() {
        let received = serde_json::json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"status": "received"}});
        return (200, received.to_string().into());
    }
    let body = if changed == asked {
        body
    } else {
        changed.to_string().into()
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    let came = match client.post(behind, body, deadline, 1 << 20).await {
        Ok(came) => came,
        Err(_) => return (502, Bytes::new()),
    };
    match serde_json::from_slice::<Value>(&came.body) {
        // The answers of a batch are a list, and stay as they are.
        Ok(mut answer) if answer.is_object() => {
            (spoil.answer)(&asked, &mut answer);
            (came.status, answer.to_string().into())
        }
        _ => (came.status, came.body),
    }
}
