//! The HTTP server: accepts connections within limits, hands each request to a handler, and shuts down gracefully. Our own
//! accept loop on hyper, for the sake of receive timestamps and simulated networks.

use crate::answer_body::AnswerBody;
use crate::connection_limit::ConnectionLimit;
use crate::head_timeout::HeadTimed;
use crate::linger::linger;
use crate::proxy_protocol::{Unread, read_header, unread};
use crate::ref_counts::RefGuard;
use crate::rx_time::{RxTimed, RxTimes};
use crate::socket::PeerEnd;
use crate::tls::ServerTls;
use crate::transport::{Connection, Listener};
use crate::trusted_proxies::{TrustedProxies, client_of};
use crate::write_timeout::WriteTimed;
use bytes::Bytes;
use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, pending};
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long a shutdown waits for requests in flight.
const DRAIN_MAX: Duration = Duration::from_secs(5);
/// How long `accept` pauses after an error: usually the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Beyond so many connections, further ones wait in the accept backlog.
    pub connections_max: usize,
    /// How many of them may come from one address, loopback included, and how many requests of one client may be open that a
    /// trusted proxy passes on; beyond that: HTTP 503. `None`: a quarter of them.
    pub per_address_max: Option<usize>,
    /// Whose word counts for which client they call. Their own connections are not counted by address.
    pub trusted_proxies: TrustedProxies,
    /// For the head of a request, from its first byte on, and on a new connection from the start; also for the TLS handshake.
    pub head_timeout: Duration,
    /// How long a connection may be idle between two requests.
    pub idle_timeout: Duration,
    /// How long a connection may accept no byte of an answer that waits to be sent.
    pub write_timeout: Duration,
    pub headers_max: usize,
    pub head_bytes_max: usize,
    /// `None`: plain HTTP.
    pub tls: Option<ServerTls>,
    /// Whether a client that has closed its side is still answered. If not, its request is cancelled at once. A stream without an end
    /// ends in any case: who has left takes no place any more.
    pub half_close: bool,
    /// A gauge of the open connections.
    pub open: Arc<AtomicUsize>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            connections_max: 4096,
            per_address_max: None,
            trusted_proxies: TrustedProxies::default(),
            head_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            headers_max: 64,
            head_bytes_max: 32 * 1024,
            tls: None,
            half_close: true,
            open: Arc::default(),
        }
    }
}

impl From<usize> for ServerOptions {
    /// The defaults, with so many connections from any address.
    fn from(connections_max: usize) -> Self {
        Self {
            connections_max,
            per_address_max: Some(connections_max),
            ..Self::default()
        }
    }
}

impl ServerOptions {
    /// Lowers `connections_max` so that a quarter of the process's file descriptors is left for other uses.
    #[must_use]
    pub fn within_fd_limit(mut self, descriptors_max: usize) -> Self {
        let most = descriptors_max.saturating_sub(descriptors_max / 4).max(1);
        self.connections_max = self.connections_max.min(most);
        self
    }

    fn per_address_max(&self) -> usize {
        self.per_address_max
            .unwrap_or(self.connections_max / 4)
            .max(1)
    }
}

/// A response of a handler. Its body may be a stream without end, such as server-sent events.
pub type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// In the extensions of a response: the connection is closed instead, as if nobody had been there to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request is not answered")]
pub struct Unanswered;

/// Serves until `shutdown` turns true, and then until the requests in flight are answered or [`DRAIN_MAX`] is over.
pub async fn serve<L, H, F, B>(
    listener: L,
    options: impl Into<ServerOptions>,
    handler: H,
    mut shutdown: watch::Receiver<bool>,
) where
    L: Listener,
    H: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let options: ServerOptions = options.into();
    listener.prepare();
    let slots = Arc::new(Semaphore::new(options.connections_max));
    let limit = Arc::new(ConnectionLimit::new(options.per_address_max()));
    let mut connections = JoinSet::new();
    let until_shutdown = shutdown.clone();
    let mut stopped = pin!(stopped(&mut shutdown));
    loop {
        let accepting = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (listener.accept().await, slot)
        };
        tokio::select! {
            biased;
            () = &mut stopped => break,
            Some(_) = connections.join_next() => {}
            (accepted, slot) = accepting => match accepted {
                Ok((stream, peer)) => {
                    let is_proxy = options.trusted_proxies.contains(peer.ip());
                    let place = if is_proxy { None } else { limit.try_acquire(peer.ip()) };
                    if place.is_none() && !is_proxy {
                        reject(stream);
                        continue;
                    }
                    let end = L::peer_end(&stream);
                    let (stream, rx_times) = RxTimed::wrap(stream, L::rx_time, None);
                    let caller = Caller { peer, is_proxy, place, rx_times, end, limit: Arc::clone(&limit) };
                    let serving =
                        connection(stream, caller, options.clone(), handler.clone(), until_shutdown.clone());
                    let open = OpenGauge::increment(&options.open);
                    connections.spawn(async move {
                        serving.await;
                        drop((slot, open));
                    });
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listener);
    let _in_time = timeout(DRAIN_MAX, async {
        while connections.join_next().await.is_some() {}
    })
    .await;
}

/// Counts a connection until it is dropped, also when its task is aborted.
struct OpenGauge(Arc<AtomicUsize>);

impl OpenGauge {
    fn increment(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for OpenGauge {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

const TOO_MANY: &str =
    "{\"error\":\"too many connections from your address: close some, or use one again\"}";

/// Refuses a connection beyond the limit of its address, without waiting for the socket.
fn reject(mut stream: impl Connection) {
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: \
         close\r\ncontent-length: {}\r\n\r\n{TOO_MANY}",
        TOO_MANY.len()
    );
    let _ = Pin::new(&mut stream)
        .poll_write(&mut Context::from_waker(Waker::noop()), answer.as_bytes());
}

/// The same for a request that a proxy passes on, over a connection that others use too.
fn too_many<B>() -> Response<AnswerBody<B>> {
    let mut response = Response::new(AnswerBody::Own(Full::from(TOO_MANY)));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// Who is at the other end of a connection.
struct Caller {
    peer: SocketAddr,
    is_proxy: bool,
    /// The place of the connection among those of its address, unless it is a proxy's.
    place: Option<RefGuard<IpAddr>>,
    rx_times: Arc<RxTimes>,
    /// Whether the peer has left.
    end: Option<PeerEnd>,
    limit: Arc<ConnectionLimit>,
}

impl Caller {
    /// Reads for which client a trusted proxy has connected, if it says so by the PROXY protocol. `None`: the connection is over.
    async fn read_proxy_header<S: Connection>(
        &mut self,
        stream: S,
        options: &ServerOptions,
    ) -> Option<Unread<S>> {
        if !self.is_proxy {
            return Some(unread(stream, Bytes::new()));
        }
        let (proxied_for, stream) = timeout(options.head_timeout, read_header(stream))
            .await
            .ok()?
            .ok()?;
        let Some(client) = proxied_for.and_then(client_of) else {
            return Some(stream);
        };
        self.peer = client;
        self.is_proxy = options.trusted_proxies.contains(client.ip());
        if !self.is_proxy {
            self.place = self.limit.try_acquire(client.ip());
        }
        if self.place.is_none() && !self.is_proxy {
            reject(stream);
            return None;
        }
        Some(stream)
    }
}

async fn connection<H, F, B>(
    stream: impl Connection,
    mut caller: Caller,
    options: ServerOptions,
    handler: H,
    shutdown: watch::Receiver<bool>,
) where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let stream = WriteTimed::wrap(stream, options.write_timeout);
    let Some(stream) = caller.read_proxy_header(stream, &options).await else {
        return;
    };
    match &options.tls {
        None => serve_http(stream, caller, &options, handler, shutdown).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(options.head_timeout, tls.accept(stream)).await {
                serve_http(stream, caller, &options, handler, shutdown).await;
            }
        }
    }
}

async fn serve_http<H, F, B>(
    stream: impl Connection,
    mut caller: Caller,
    options: &ServerOptions,
    handler: H,
    mut shutdown: watch::Receiver<bool>,
) where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let (mut stream, progress) = HeadTimed::wrap(stream, options.head_timeout);
    let trusted_proxies = options.trusted_proxies.clone();
    let end = caller.end.take();
    let (sending, mut streams) = watch::channel(false);
    let sending = Arc::new(sending);
    let service = service_fn(move |mut request: Request<Incoming>| {
        progress.head_complete();
        sending.send_replace(false);
        let sending = Arc::clone(&sending);
        let is_read = *request.method() == Method::GET;
        request
            .extensions_mut()
            .insert(Arc::clone(&caller.rx_times));
        let client = trusted_proxies.client(caller.peer.ip(), request.headers());
        let place = client.map(|client| caller.limit.try_acquire(client.ip()));
        let answering = match place {
            Some(None) => None,
            place => Some((
                handler(request, client.unwrap_or(caller.peer)),
                place.flatten(),
            )),
        };
        let progress = Arc::clone(&progress);
        async move {
            let response = match answering {
                None => too_many(),
                Some((response, place)) => response
                    .await
                    .map(|body| AnswerBody::of_handler(body, place)),
            };
            progress.response_sent();
            sending.send_replace(is_read && response.body().size_hint().exact().is_none());
            match response.extensions().get::<Unanswered>() {
                None => Ok(response),
                Some(unanswered) => Err(*unanswered),
            }
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.idle_timeout)
        .max_headers(options.headers_max)
        .max_buf_size(options.head_bytes_max)
        .half_close(options.half_close)
        .serve_connection(TokioIo::new(&mut stream), service);
    let has_answered = {
        let mut connection = pin!(connection);
        tokio::select! {
            biased;
            ended = connection.as_mut() => ended.map_or_else(|error| error.is_parse(), |()| true),
            () = left(&mut streams, end.as_ref()) => false,
            () = stopped(&mut shutdown) => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
                false
            }
        }
    };
    if has_answered {
        linger(stream).await;
    }
}

/// Returns when the peer has closed its side while a stream is sent to it.
async fn left(streams: &mut watch::Receiver<bool>, end: Option<&PeerEnd>) {
    let Some(end) = end else {
        return pending().await;
    };
    loop {
        if streams.wait_for(|is_stream| *is_stream).await.is_err() {
            return pending().await;
        }
        tokio::select! {
            () = end.reached() => return,
            _ = streams.wait_for(|is_stream| !is_stream) => {}
        }
    }
}

/// Returns when `shutdown` turns true or its sender is dropped.
async fn stopped(shutdown: &mut watch::Receiver<bool>) {
    let _ = shutdown.wait_for(|&shutdown| shutdown).await;
}
