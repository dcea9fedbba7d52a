//! Passes a request on to another server over pooled connections, and its response back piece by piece, as a reverse proxy does.

use crate::call::CallError;
use crate::client::{Client, failed};
use crate::parsed_url::ParsedUrl;
use crate::pool::{Pool, PooledConnection};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use hyper::{Method, Request, Response, Uri};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, timeout_at};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// A request whose body has come whole, so that it can be sent again.
#[derive(Debug, Clone)]
pub struct ForwardRequest {
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// Without those of one connection: see [`end_to_end`].
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct ForwardError {
    /// Whether the other server may have read it.
    pub sent: bool,
    pub error: CallError,
}

/// The headers that are for the other end and not for one connection (RFC 9110, 7.6.1).
pub fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let hop_by_hop = [
        CONNECTION,
        KEEP_ALIVE,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    let passes = |name: &HeaderName| !hop_by_hop.contains(name) && !named.contains(name);
    headers
        .iter()
        .filter(|(name, _)| passes(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

impl Client {
    /// Sends a request to the server at `origin` (`https://host:port`). The deadline is that of the response's head.
    pub async fn forward(
        &self,
        origin: &str,
        request: ForwardRequest,
        deadline: Instant,
    ) -> Result<Response<ForwardedBody>, ForwardError> {
        let unsent = |error: CallError| ForwardError { sent: false, error };
        let url = ParsedUrl::parse(origin).map_err(unsent)?;
        let sending = async {
            let mut request = to_send(request);
            // Only a request of which nothing was sent is sent again without a word.
            while let Some(connection) = self.pool().take(&url.origin) {
                match self.forward_over(connection, &url, request).await {
                    Ok(response) => return Ok(response),
                    Err(Broken::Unsent(returned)) => request = *returned,
                    Err(Broken::Sent(error)) => return Err(lost(&url, &error)),
                }
            }
            let (connection, failure) = self.connect_pooled(&url).await.map_err(unsent)?;
            match self.forward_over(connection, &url, request).await {
                Ok(response) => Ok(response),
                Err(Broken::Unsent(_)) => Err(unsent(CallError::Closed(
                    "the connection was closed before the request",
                ))),
                // The connection's own error is more precise than the sender's.
                Err(Broken::Sent(error)) => Err(lost(&url, &failure.await.unwrap_or(error))),
            }
        };
        let late = || ForwardError {
            sent: true,
            error: CallError::TimedOut,
        };
        timeout_at(deadline, sending)
            .await
            .unwrap_or_else(|_| Err(late()))
    }

    async fn forward_over(
        &self,
        mut connection: PooledConnection,
        url: &ParsedUrl,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<ForwardedBody>, Broken> {
        if connection.sender.ready().await.is_err() {
            return Err(Broken::Unsent(Box::new(request)));
        }
        match connection.sender.try_send_request(request).await {
            Ok(response) => Ok(response.map(|body| ForwardedBody {
                body,
                pooled: Some((connection, Arc::clone(self.pool()), url.origin.clone())),
            })),
            Err(mut error) => match error.take_message() {
                Some(request) => Err(Broken::Unsent(Box::new(request))),
                None => Err(Broken::Sent(error.into_error())),
            },
        }
    }
}

/// A connection that ended before a response began.
enum Broken {
    /// Before any of the request was sent over it.
    Unsent(Box<Request<Full<Bytes>>>),
    Sent(hyper::Error),
}

/// With TLS 1.3 a server refuses a client's certificate after the client has sent its request, which it does not read then.
fn lost(url: &ParsedUrl, error: &hyper::Error) -> ForwardError {
    let error = failed(url, error);
    ForwardError {
        sent: !matches!(error, CallError::NoConnection(_)),
        error,
    }
}

fn to_send(request: ForwardRequest) -> Request<Full<Bytes>> {
    let ForwardRequest {
        method,
        uri,
        mut headers,
        body,
    } = request;
    // It came whole, and hyper says how long it is.
    headers.remove(CONTENT_LENGTH);
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    request
}

/// The body of a response as it comes. Its connection can be used again once it has come whole.
#[derive(Debug)]
pub struct ForwardedBody {
    body: Incoming,
    pooled: Option<(PooledConnection, Arc<Pool>, Box<str>)>,
}

/// The other server has gone in the middle of its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the response was cut")]
pub struct Cut;

impl Body for ForwardedBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() || self.body.is_end_stream() {
            self.put_back();
        }
        Poll::Ready(frame.map(|frame| frame.map_err(|_| Cut)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl ForwardedBody {
    fn put_back(&mut self) {
        if let Some((connection, pool, origin)) = self.pooled.take() {
            pool.put(&origin, connection);
        }
    }
}

impl Drop for ForwardedBody {
    /// A body without bytes is not polled; one that was left in the middle ends its connection.
    fn drop(&mut self) {
        if self.body.is_end_stream() {
            self.put_back();
        }
    }
}
