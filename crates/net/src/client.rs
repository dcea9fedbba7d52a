//! The HTTP client: one request, one response, by a deadline, over http or https. Connections are pooled; redirects are never
//! followed. Our own on hyper, for the sake of receive timestamps, egress checks and simulated networks.

pub use crate::call::{CallError, CallRequest, CallResponse, CallTimings, CompletedCall};

use crate::body::{self, BodyError};
use crate::call_deadline::{self, CallProgress};
use crate::connect_error;
use crate::egress::{Egress, Target};
use crate::parsed_url::ParsedUrl;
use crate::pool::{Pool, PooledConnection};
use crate::proxy::Proxies;
use crate::rx_time::{RxTimed, RxTimes};
use crate::socket::Socket;
use crate::tls::{self, ClientTls};
use crate::transport::{Connection, Dialer};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Method;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{HeaderName, HeaderValue};
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use std::pin::Pin;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// One for the whole process: clones share the pool.
#[derive(Debug, Clone, Default)]
pub struct Client {
    pool: Arc<Pool>,
    tls: ClientTls,
    /// `None`: any address may be called.
    egress: Option<Egress>,
    head_limits: HeadLimits,
    /// `None`: the operating system's TCP.
    dialer: Option<Arc<dyn Dialer>>,
    proxies: Arc<Proxies>,
}

/// Limits on the head of a response.
#[derive(Debug, Clone, Copy)]
pub struct HeadLimits {
    pub headers_max: usize,
    pub bytes_max: usize,
}

impl Default for HeadLimits {
    fn default() -> Self {
        Self {
            headers_max: 64,
            bytes_max: 32 * 1024,
        }
    }
}

impl Client {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_tls(tls: ClientTls) -> Self {
        Self {
            tls,
            ..Self::default()
        }
    }

    pub fn with_head_limits(self, head_limits: HeadLimits) -> Self {
        Self {
            head_limits,
            ..self
        }
    }

    /// A client under an egress policy, with a pool of its own: connections that were not checked are not reused.
    pub fn with_egress(&self, egress: Egress) -> Self {
        Self {
            pool: Arc::default(),
            egress: Some(egress),
            ..self.clone()
        }
    }

    pub fn egress(&self) -> Option<&Egress> {
        self.egress.as_ref()
    }

    pub fn with_dialer(dialer: Arc<dyn Dialer>) -> Self {
        Self {
            dialer: Some(dialer),
            ..Self::default()
        }
    }

    /// A client that calls through these proxies, with a pool of its own.
    pub fn with_proxies(&self, proxies: Proxies) -> Self {
        Self {
            pool: Arc::default(),
            proxies: Arc::new(proxies),
            ..self.clone()
        }
    }

    /// The same client with a pool of its own: its first call opens a connection.
    pub fn with_new_connections(&self) -> Self {
        Self {
            pool: Arc::default(),
            ..self.clone()
        }
    }

    /// Posts `body`, and reads at most `bytes_max` of the response's body.
    pub async fn post(
        &self,
        url: &str,
        body: Bytes,
        deadline: Instant,
        bytes_max: usize,
    ) -> Result<CallResponse, CallError> {
        self.post_with(url, Vec::new(), body, deadline, bytes_max)
            .await
    }

    pub async fn post_with(
        &self,
        url: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: Bytes,
        deadline: Instant,
        bytes_max: usize,
    ) -> Result<CallResponse, CallError> {
        let request = CallRequest {
            method: Method::POST,
            headers,
            body,
        };
        self.boxed_call(url, request, deadline, bytes_max)
            .await
            .result
    }

    pub async fn get_with(
        &self,
        url: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        deadline: Instant,
        bytes_max: usize,
    ) -> Result<CallResponse, CallError> {
        let request = CallRequest {
            method: Method::GET,
            headers,
            body: Bytes::new(),
        };
        self.boxed_call(url, request, deadline, bytes_max)
            .await
            .result
    }

    /// [`Self::call`], compiled once instead of inlined into every caller: that saves a megabyte of code.
    fn boxed_call<'a>(
        &'a self,
        url: &'a str,
        request: CallRequest,
        deadline: Instant,
        bytes_max: usize,
    ) -> Pin<Box<dyn Future<Output = CompletedCall> + Send + 'a>> {
        Box::pin(self.call(url, request, deadline, bytes_max))
    }

    /// One call, with its timings.
    pub async fn call(
        &self,
        url: &str,
        request: impl Into<CallRequest>,
        deadline: Instant,
        bytes_max: usize,
    ) -> CompletedCall {
        let progress = CallProgress::begin();
        let result = match self.pool.parse(url) {
            Err(error) => Err(error),
            Ok(url) => {
                let exchange = self.exchange(&url, request.into(), bytes_max, &progress);
                call_deadline::enforce(deadline, &progress, exchange).await
            }
        };
        CompletedCall {
            timings: progress.timings(),
            result,
        }
    }

    /// Makes a connection, sends nothing over it and closes it. `is_connected`: what is known without one.
    pub async fn reach(
        &self,
        url: &str,
        deadline: Instant,
        is_connected: Option<bool>,
    ) -> CompletedCall {
        let progress = CallProgress::begin();
        let reached = || CallResponse {
            status: 200,
            headers: hyper::HeaderMap::new(),
            body: Bytes::new(),
        };
        let result = match (is_connected, self.pool.parse(url)) {
            (Some(true), _) => Ok(reached()),
            (Some(false), _) => Err(CallError::NoConnection("the agent is absent".to_owned())),
            (None, Err(error)) => Err(error),
            (None, Ok(url)) => {
                // Boxed as in `exchange`.
                let connecting = Box::pin(async {
                    let made = self.connect(&url).await?;
                    progress.connected(Instant::now(), &made.connection.rx_times);
                    Ok(reached())
                });
                call_deadline::enforce(deadline, &progress, connecting).await
            }
        };
        CompletedCall {
            timings: progress.timings(),
            result,
        }
    }

    async fn exchange(
        &self,
        url: &ParsedUrl,
        request: CallRequest,
        bytes_max: usize,
        progress: &CallProgress,
    ) -> Result<CallResponse, CallError> {
        // Only a request of which nothing was sent is sent again: the peer may have handled any other.
        if let Some(connection) = self.pool.take(&url.origin) {
            progress.connected(progress.began, &connection.rx_times);
            if let Ok(result) = self.send(connection, url, request.clone(), bytes_max).await {
                return result;
            }
        }
        // Boxed because it is rare and large, and a future awaited in place would enlarge that of every call.
        Box::pin(self.exchange_on_new(url, request, bytes_max, progress)).await
    }

    async fn exchange_on_new(
        &self,
        url: &ParsedUrl,
        request: CallRequest,
        bytes_max: usize,
        progress: &CallProgress,
    ) -> Result<CallResponse, CallError> {
        let NewConnection {
            connection,
            failure,
        } = self.connect(url).await?;
        progress.connected(Instant::now(), &connection.rx_times);
        match self.send(connection, url, request, bytes_max).await {
            Ok(result) => result,
            // The connection's own error is more precise than the sender's.
            Err(unsent) => Err(failed(url, &failure.await.unwrap_or(unsent))),
        }
    }

    /// The outer error: the connection ended before any of the request was sent over it.
    async fn send(
        &self,
        mut connection: PooledConnection,
        url: &ParsedUrl,
        request: CallRequest,
        bytes_max: usize,
    ) -> Result<Result<CallResponse, CallError>, hyper::Error> {
        connection.sender.ready().await?;
        let response = match connection
            .sender
            .try_send_request(url.request(request))
            .await
        {
            Ok(response) => response,
            Err(mut error) => {
                let unsent = error.take_message().is_some();
                let error = error.into_error();
                return if unsent {
                    Err(error)
                } else {
                    Ok(Err(failed(url, &error)))
                };
            }
        };
        let (head, mut body) = response.into_parts();
        let body = match body::read(&mut body, bytes_max).await {
            Ok(body) => body,
            Err(BodyError::TooLarge(bytes)) => return Ok(Err(CallError::TooLarge(bytes))),
            Err(BodyError::Broken) => {
                return Ok(Err(CallError::Closed(
                    "the connection was closed in the middle of the answer",
                )));
            }
        };
        self.pool.put(&url.origin, connection);
        Ok(Ok(CallResponse {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
        }))
    }

    async fn connect(&self, url: &ParsedUrl) -> Result<NewConnection, CallError> {
        let Target { host, port, .. } = &url.target;
        let pinned = match &self.egress {
            Some(egress) => egress.resolve(&url.target).await?,
            None => None,
        };
        if let Some(dialer) = &self.dialer {
            let pinned =
                pinned.and_then(|addresses| addresses.first().map(|at| at.ip().to_string()));
            let dialled = dialer.dial(pinned.as_deref().unwrap_or(host), *port).await;
            let stream = dialled.map_err(|error| connect_error::classify(&error))?;
            let (stream, rx_times) = RxTimed::wrap(stream, |_| Instant::now(), None);
            return self.secure(stream, rx_times, url).await;
        }
        let proxy = self.proxies.proxy_for(&url.target, url.is_https);
        let connecting = match (proxy, pinned) {
            (Some(proxy), _) => TcpStream::connect((proxy.host.as_str(), proxy.port)).await,
            (None, Some(addresses)) => TcpStream::connect(addresses.as_slice()).await,
            (None, None) => TcpStream::connect((host.as_str(), *port)).await,
        };
        let mut stream = connecting.map_err(|error| match proxy {
            Some(proxy) => CallError::NoConnection(format!("the proxy {proxy:?}: {error}")),
            None => connect_error::classify(&error),
        })?;
        if let Some(proxy) = proxy {
            proxy.tunnel(&mut stream, &url.target).await?;
        }
        let socket = Socket::connected(stream);
        let peek = socket.peek();
        let (stream, rx_times) = RxTimed::wrap(socket, Socket::rx_time, Some(peek));
        self.secure(stream, rx_times, url).await
    }

    /// A connection of its own, which is not pooled.
    pub(crate) async fn connect_for_stream(
        &self,
        url: &ParsedUrl,
    ) -> Result<SendRequest<Full<Bytes>>, CallError> {
        Ok(self.connect_pooled(url).await?.0.sender)
    }

    /// A connection, and the error with which it ends.
    pub(crate) async fn connect_pooled(
        &self,
        url: &ParsedUrl,
    ) -> Result<(PooledConnection, oneshot::Receiver<hyper::Error>), CallError> {
        let NewConnection {
            connection,
            failure,
        } = self.connect(url).await?;
        Ok((connection, failure))
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Does the handshakes of TLS, for https, and of HTTP.
    async fn secure(
        &self,
        stream: impl Connection,
        rx_times: Arc<RxTimes>,
        url: &ParsedUrl,
    ) -> Result<NewConnection, CallError> {
        if !url.is_https {
            return handshake(TokioIo::new(stream), rx_times, self.head_limits).await;
        }
        let stream = self.tls.connect(&url.target.host, stream).await?;
        handshake(TokioIo::new(stream), rx_times, self.head_limits).await
    }
}

/// Why an established connection failed before the response began.
pub(crate) fn failed(url: &ParsedUrl, error: &hyper::Error) -> CallError {
    if error.is_parse_too_large() {
        return CallError::Unusable("the head of the answer is too large");
    }
    match tls::error_text(&url.target.host, error) {
        Some(why) => CallError::NoConnection(why),
        None if error.is_parse() => CallError::NoConnection(error.to_string()),
        None => CallError::Closed("the connection was closed without an answer"),
    }
}

fn no_connection(error: impl std::fmt::Display) -> CallError {
    CallError::NoConnection(error.to_string())
}

struct NewConnection {
    connection: PooledConnection,
    /// The error with which the connection ended, if any.
    failure: oneshot::Receiver<hyper::Error>,
}

async fn handshake<T>(
    stream: T,
    rx_times: Arc<RxTimes>,
    limits: HeadLimits,
) -> Result<NewConnection, CallError>
where
    T: Read + Write + Send + Unpin + 'static,
{
    let (sender, connection) = http1::Builder::new()
        .max_headers(limits.headers_max)
        .max_buf_size(limits.bytes_max)
        .handshake(stream)
        .await
        .map_err(no_connection)?;
    let (report, failure) = oneshot::channel();
    // The task ends when the sender is dropped or the peer closes the connection.
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            let _ = report.send(error);
        }
    });
    Ok(NewConnection {
        connection: PooledConnection { sender, rx_times },
        failure,
    })
}
