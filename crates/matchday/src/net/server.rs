//! The serving side: takes connections, gives each request to a handler, and ends in good order. What is asked and
//! answered is the handler's part.

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
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long a peer may take to send the head of a request; also how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
const HEADERS_MAX: usize = 64;
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// What does not end by itself after this, when the server ends, is broken off.
const DRAIN_MAX: Duration = Duration::from_secs(5);
/// When the system has no more file descriptors, it may have some a little later.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Its body may be a stream that goes on for as long as someone listens.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves until `closing` turns true, and then until the requests in flight are answered or have had time enough.
pub async fn serve<H, F, B>(
    listener: TcpListener,
    connections_max: usize,
    handler: H,
    mut closing: watch::Receiver<bool>,
) where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let room = Arc::new(Semaphore::new(connections_max));
    let mut connections = JoinSet::new();
    let until_closing = closing.clone();
    let mut closed = pin!(closed(&mut closing));
    loop {
        let accepting = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (listener.accept().await, place)
        };
        tokio::select! {
            () = &mut closed => break,
            Some(_) = connections.join_next() => {}
            (accepted, place) = accepting => match accepted {
                Ok((stream, peer)) => {
                    let serving = connection(stream, peer, handler.clone(), until_closing.clone());
                    connections.spawn(async move {
                        serving.await;
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listener);
    let _in_time = timeout(DRAIN_MAX, async { while connections.join_next().await.is_some() {} }).await;
}

async fn connection<H, F, B>(
    stream: TcpStream,
    peer: SocketAddr,
    handler: H,
    mut closing: watch::Receiver<bool>,
) where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // Without this, an answer may wait for 40 ms for the next packet to travel with.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let answer = handler(request, peer);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // A connection that breaks is the peer's affair; whoever waits for what was asked over it learns of that.
    tokio::select! {
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
