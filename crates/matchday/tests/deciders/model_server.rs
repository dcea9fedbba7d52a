//! A server of models that answers as it is told, and remembers how it was asked.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Response, StatusCode};
use matchday_net::server;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub(crate) struct ModelServer {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<ModelRequest>>>,
    retry_after: Arc<Mutex<Option<&'static str>>>,
    _close: watch::Sender<bool>,
}

#[derive(Debug, Clone)]
pub(crate) struct ModelRequest {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// What the server answers: to the first request, to the second, and so on; to all others the last.
pub(crate) type Answers<'a> = &'a [(u16, &'a str, Duration)];

impl ModelServer {
    pub(crate) async fn start(answers: Answers<'_>) -> Self {
        let answers: Arc<[_]> = answers
            .iter()
            .map(|(status, text, pause)| (*status, (*text).to_owned(), *pause))
            .collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (close, closing) = watch::channel(false);
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noting = Arc::clone(&asked);
        let retry_after = Arc::<Mutex<Option<&'static str>>>::default();
        let wait = Arc::clone(&retry_after);
        let handler = move |request: hyper::Request<hyper::body::Incoming>, _| {
            let asked = Arc::clone(&noting);
            let answers = Arc::clone(&answers);
            let wait = *wait.lock().unwrap();
            async move {
                let path = request.uri().path().to_owned();
                let headers = request.headers().clone();
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let body = serde_json::from_slice(&body).unwrap();
                let number = {
                    let mut asked = asked.lock().unwrap();
                    asked.push(ModelRequest {
                        path,
                        headers,
                        body,
                    });
                    asked.len() - 1
                };
                let (status, text, pause) = answers[number.min(answers.len() - 1)].clone();
                tokio::time::sleep(pause).await;
                let mut response = Response::new(Full::new(Bytes::from(text)));
                *response.status_mut() = StatusCode::from_u16(status).unwrap();
                if let Some(seconds) = wait {
                    let value = HeaderValue::from_static(seconds);
                    response.headers_mut().insert(RETRY_AFTER, value);
                }
                response
            }
        };
        tokio::spawn(server::serve(listener, 100, handler, closing));
        Self {
            address,
            asked,
            retry_after,
            _close: close,
        }
    }

    /// Adds `Retry-After` to every answer.
    pub(crate) fn says_retry_after(&self, seconds: &'static str) {
        *self.retry_after.lock().unwrap() = Some(seconds);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }
}
