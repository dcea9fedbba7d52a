//! Responses without an end that is known: read piece by piece, over a connection of their own.

use crate::call::{CallError, CallRequest};
use crate::client::Client;
use crate::parsed_url::ParsedUrl;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{HeaderName, HeaderValue};
use tokio::time::{Instant, timeout_at};

/// A response whose body is read piece by piece. The connection is closed when it is dropped.
#[derive(Debug)]
pub struct StreamingResponse {
    pub status: u16,
    body: Incoming,
    /// The connection ends when its sender is dropped.
    _sender: SendRequest<http_body_util::Full<Bytes>>,
}

impl Client {
    /// Begins to GET a stream. The deadline is that of the response's head.
    pub async fn open_stream(
        &self,
        url: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        deadline: Instant,
    ) -> Result<StreamingResponse, CallError> {
        let url = ParsedUrl::parse(url)?;
        let opening = async {
            let mut sender = self.connect_for_stream(&url).await?;
            let request = url.request(CallRequest {
                method: Method::GET,
                headers,
                body: Bytes::new(),
            });
            let broken = |error: hyper::Error| CallError::NoConnection(error.to_string());
            let response = sender.send_request(request).await.map_err(broken)?;
            let (head, body) = response.into_parts();
            Ok(StreamingResponse {
                status: head.status.as_u16(),
                body,
                _sender: sender,
            })
        };
        timeout_at(deadline, opening)
            .await
            .unwrap_or(Err(CallError::TimedOut))
    }
}

impl StreamingResponse {
    /// The next piece of the body; `None` at its end.
    pub async fn next(&mut self) -> Option<Result<Bytes, CallError>> {
        loop {
            let frame = match self.body.frame().await? {
                Ok(frame) => frame,
                Err(_) => return Some(Err(CallError::Closed("the stream was cut"))),
            };
            if let Ok(data) = frame.into_data() {
                return Some(Ok(data));
            }
        }
    }
}
