//! The serving side: takes connections, gives each request to a handler, and ends in good order. What is asked and
//! answered is the handler's part.

use super::head_timeout::HeadTimeout;
use super::places::Places;
use super::stamps::{Stamped, Stamps};
use super::tls_server::Serving;
use super::wire::{Listen, Wire};
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// What does not end by itself after this, when the server ends, is broken off.
const DRAIN_MAX: Duration = Duration::from_secs(5);
/// When the system has no more file descriptors, it may have some a little later.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// On what terms connections are taken.
#[derive(Debug, Clone)]
pub struct Terms {
    /// How many there may be at once. Whoever comes then waits.
    pub connections_max: usize,
    /// How many of them may come from one address, this machine's own too. Whoever has so many is told HTTP 503. `None`: a
    /// quarter of them.
    pub per_address_max: Option<usize>,
    /// How long a peer may take to send the head of a request, from its first byte on, and on a new connection from the
    /// start; also how long the two sides may take to agree on TLS.
    pub head_timeout: Duration,
    /// How long a connection may be idle between two requests.
    pub idle_timeout: Duration,
    pub headers_max: usize,
    pub head_bytes_max: usize,
    /// Without it, HTTP is spoken in the open.
    pub tls: Option<Serving>,
    /// Counts those that are open now, for whoever wants to know.
    pub open: Arc<AtomicUsize>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            connections_max: 4096,
            per_address_max: None,
            head_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(60),
            headers_max: 64,
            head_bytes_max: 32 * 1024,
            tls: None,
            open: Arc::default(),
        }
    }
}

impl From<usize> for Terms {
    /// The usual terms, for so many connections from wherever.
    fn from(connections_max: usize) -> Self {
        Self { connections_max, per_address_max: Some(connections_max), ..Self::default() }
    }
}

impl Terms {
    /// No more connections than a process can have that may open so many files and sockets. It needs some of them itself.
    #[must_use]
    pub fn within(mut self, descriptors_max: usize) -> Self {
        let most = descriptors_max.saturating_sub(descriptors_max / 4).max(1);
        self.connections_max = self.connections_max.min(most);
        self
    }

    fn of_one_address(&self) -> usize {
        self.per_address_max.unwrap_or(self.connections_max / 4).max(1)
    }
}

/// Its body may be a stream that goes on for as long as someone listens.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves until `closing` turns true, and then until the requests in flight are answered or have had time enough.
pub async fn serve<L, H, F, B>(
    listener: L,
    terms: impl Into<Terms>,
    handler: H,
    mut closing: watch::Receiver<bool>,
) where
    L: Listen,
    H: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let terms: Terms = terms.into();
    listener.prepare();
    let room = Arc::new(Semaphore::new(terms.connections_max));
    let places = Places::new(terms.of_one_address());
    let mut connections = JoinSet::new();
    let until_closing = closing.clone();
    let mut closed = pin!(closed(&mut closing));
    loop {
        let accepting = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (listener.accept().await, place)
        };
        tokio::select! {
            biased;
            () = &mut closed => break,
            Some(_) = connections.join_next() => {}
            (accepted, place) = accepting => match accepted {
                Ok((stream, peer)) => match places.take(peer.ip()) {
                    None => turn_off(stream),
                    Some(of_address) => {
                        let (stream, stamps) = Stamped::new(stream, L::arrived, None);
                        let caller = Caller { peer, stamps };
                        let serving =
                            connection(stream, caller, terms.clone(), handler.clone(), until_closing.clone());
                        let open = Open::one_more(&terms.open);
                        connections.spawn(async move {
                            serving.await;
                            drop((place, of_address, open));
                        });
                    }
                },
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listener);
    let _in_time = timeout(DRAIN_MAX, async { while connections.join_next().await.is_some() {} }).await;
}

/// A connection that is counted until this is dropped, also if it is broken off.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn one_more(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One more would be too many from this address. It is told as well as may be without waiting for it.
fn turn_off(mut stream: impl Wire) {
    let body = "{\"error\":\"too many connections from your address: close some, or use one again\"}";
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: \
         close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let _ = Pin::new(&mut stream).poll_write(&mut Context::from_waker(Waker::noop()), answer.as_bytes());
}

/// Who is at the other end of a connection, and when it was heard last.
struct Caller {
    peer: SocketAddr,
    stamps: Arc<Stamps>,
}

/// When the bytes of a request came: with the request, for whoever has to know.
#[derive(Debug, Clone)]
pub(crate) struct Arrival(Arc<Stamps>);

impl Arrival {
    /// When the last of those that were read had come.
    pub(crate) fn last(&self) -> Option<Instant> {
        self.0.last()
    }
}

async fn connection<H, F, B>(
    stream: impl Wire,
    caller: Caller,
    terms: Terms,
    handler: H,
    closing: watch::Receiver<bool>,
) where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    match &terms.tls {
        None => converse(stream, caller, &terms, handler, closing).await,
        // Whoever does not speak TLS, or may not come in, is no more than a connection that ends.
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(terms.head_timeout, tls.accept(stream)).await {
                converse(stream, caller, &terms, handler, closing).await;
            }
        }
    }
}

async fn converse<H, F, B>(
    stream: impl Wire,
    caller: Caller,
    terms: &Terms,
    handler: H,
    mut closing: watch::Receiver<bool>,
) where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let (stream, heads) = HeadTimeout::new(stream, terms.head_timeout);
    let service = service_fn(move |mut request: Request<Incoming>| {
        heads.completed();
        request.extensions_mut().insert(Arrival(Arc::clone(&caller.stamps)));
        let answer = handler(request, caller.peer);
        let heads = Arc::clone(&heads);
        async move {
            let answer = answer.await;
            heads.answered();
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(terms.idle_timeout)
        .max_headers(terms.headers_max)
        .max_buf_size(terms.head_bytes_max)
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // A connection that breaks is the peer's affair; whoever waits for what was asked over it learns of that.
    tokio::select! {
        biased;
        _ = connection.as_mut() => {}
        () = closed(&mut closing) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Comes back when the server is to end, or whoever could say so is gone.
async fn closed(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|&closing| closing).await;
}
