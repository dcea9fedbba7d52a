//! A stream without an end takes no place once its client has left, though nothing is written to it.

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame, Incoming};
use matchday_net::server::{self, ServerOptions};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

/// Sends one piece and then nothing, and tells when it is dropped.
struct Endless {
    first: Option<Bytes>,
    dropped: mpsc::UnboundedSender<()>,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
            None => Poll::Pending,
        }
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        let _ = self.dropped.send(());
    }
}

/// A server whose answers have no end, until the last value is dropped.
async fn endless() -> (SocketAddr, mpsc::UnboundedReceiver<()>, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::unbounded_channel();
    let (close, closing) = watch::channel(false);
    let handler = move |_: hyper::Request<Incoming>, _| {
        let body = Endless {
            first: Some(Bytes::from_static(b"begun")),
            dropped: tell.clone(),
        };
        async move { Response::new(body) }
    };
    let options = ServerOptions::default();
    tokio::spawn(async move { server::serve(listener, options, handler, closing).await });
    (address, told, close)
}

/// A client that has received the beginning.
async fn listening(address: SocketAddr) -> TcpStream {
    let mut client = TcpStream::connect(address).await.unwrap();
    let request = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    client.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"begun\r\n") {
        client.read_buf(&mut answer).await.unwrap();
    }
    client
}

const AT_ONCE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_stream_whose_client_has_left_ends_at_once() {
    let (address, mut dropped, _close) = endless().await;
    drop(listening(address).await);
    timeout(AT_ONCE, dropped.recv()).await.unwrap();
}

// Windows tells of the end of a connection only once its bytes were read: the stream ends when it cannot be written to.
#[cfg(unix)]
#[tokio::test]
async fn a_stream_whose_client_left_bytes_unread_ends_at_once() {
    let (address, mut dropped, _close) = endless().await;
    let mut client = listening(address).await;
    client.write_all(b"what nobody reads").await.unwrap();
    client.shutdown().await.unwrap();
    timeout(AT_ONCE, dropped.recv()).await.unwrap();
}

#[tokio::test]
async fn a_stream_whose_client_is_there_and_silent_goes_on() {
    let (address, mut dropped, _close) = endless().await;
    let staying = listening(address).await;
    drop(listening(address).await);
    timeout(AT_ONCE, dropped.recv()).await.unwrap();
    assert!(dropped.try_recv().is_err(), "the other one goes on");
    drop(staying);
}
