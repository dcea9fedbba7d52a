//! Clients that ask for a long answer and do not read it.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Body, Frame, Incoming};
use matchday_net::client::Client;
use matchday_net::server::{self, ServerOptions};
use matchday_net::tls::{PeerIdentity, TrustedPeers};
use matchday_net::transport::{Dialer, Listener};
use matchday_testkit::memory;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// A body without an end, of pieces with a pause before each. Says when it is dropped.
struct Endless {
    piece: Bytes,
    pause: Duration,
    sleeping: Pin<Box<tokio::time::Sleep>>,
    _dropped: mpsc::Sender<()>,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.sleeping.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        let next = Instant::now() + self.pause;
        self.sleeping.as_mut().reset(next);
        Poll::Ready(Some(Ok(Frame::data(self.piece.clone()))))
    }
}

/// A server of such a body. The receiver is closed once the body was dropped.
fn serving(
    listener: impl Listener,
    options: ServerOptions,
    piece: &'static [u8],
    pause: Duration,
) -> (mpsc::Receiver<()>, watch::Sender<bool>) {
    let (dropped, until_dropped) = mpsc::channel(1);
    let dropped = std::sync::Mutex::new(Some(dropped));
    let dropped = std::sync::Arc::new(dropped);
    let handler = move |_: hyper::Request<Incoming>, _: SocketAddr| {
        let dropped = dropped.lock().unwrap().take().expect("one request");
        async move {
            let piece = Bytes::from_static(piece);
            Response::new(
                Endless {
                    piece,
                    pause,
                    sleeping: Box::pin(sleep(Duration::ZERO)),
                    _dropped: dropped,
                }
                .boxed(),
            )
        }
    };
    let (close, closing) = watch::channel(false);
    tokio::spawn(async move { server::serve(listener, options, handler, closing).await });
    (until_dropped, close)
}

static PIECE: [u8; 100_000] = [b'x'; 100_000];
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[tokio::test(start_paused = true)]
async fn an_answer_of_which_nothing_is_read_is_given_up_and_its_memory_with_it() {
    let (listener, dialer) = memory::pair();
    let options = ServerOptions {
        write_timeout: WRITE_TIMEOUT,
        ..ServerOptions::default()
    };
    let (mut until_dropped, _close) = serving(listener, options, &PIECE, Duration::ZERO);
    let mut stream = dialer.dial("", 80).await.unwrap();
    let began = Instant::now();
    stream.write_all(REQUEST).await.unwrap();
    assert_eq!(until_dropped.recv().await, None);
    assert_eq!(began.elapsed().as_secs(), WRITE_TIMEOUT.as_secs());
    let mut rest = Vec::new();
    let _ = timeout(WRITE_TIMEOUT, stream.read_to_end(&mut rest))
        .await
        .expect("the connection has ended");
}

#[tokio::test(start_paused = true)]
async fn a_stream_with_long_pauses_and_a_slow_reader_are_not_cut() {
    let (listener, dialer) = memory::pair();
    let options = ServerOptions {
        write_timeout: WRITE_TIMEOUT,
        ..ServerOptions::default()
    };
    let (mut until_dropped, _close) =
        serving(listener, options, b": still here\n\n", WRITE_TIMEOUT * 4);
    let mut stream = dialer.dial("", 80).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let mut received = Vec::new();
    while String::from_utf8_lossy(&received)
        .matches("still here")
        .count()
        < 5
    {
        assert!(stream.read_buf(&mut received).await.unwrap() > 0);
    }
    assert!(
        until_dropped
            .try_recv()
            .is_err_and(|error| error == mpsc::error::TryRecvError::Empty)
    );

    let (listener, dialer) = memory::pair();
    let options = ServerOptions {
        write_timeout: WRITE_TIMEOUT,
        ..ServerOptions::default()
    };
    let (mut until_dropped, _close) = serving(listener, options, &PIECE, Duration::ZERO);
    let mut stream = dialer.dial("", 80).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let mut few = [0; 1000];
    for _ in 0..50 {
        sleep(WRITE_TIMEOUT - Duration::from_secs(1)).await;
        stream.read_exact(&mut few).await.unwrap();
    }
    assert!(
        until_dropped
            .try_recv()
            .is_err_and(|error| error == mpsc::error::TryRecvError::Empty)
    );
}

#[tokio::test]
async fn with_tls_too() {
    let identity = PeerIdentity::generate().unwrap();
    let trusted = TrustedPeers::default();
    trusted.set([identity.certificate().to_vec()]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let options = ServerOptions {
        write_timeout: Duration::from_millis(200),
        tls: Some(identity.server(&trusted).unwrap()),
        ..ServerOptions::default()
    };
    let (mut until_dropped, _close) = serving(listener, options, &PIECE, Duration::ZERO);
    let client = Client::with_tls(identity.client(&trusted).unwrap());
    let _unread = client
        .open_stream(&url, Vec::new(), crate::place::soon())
        .await
        .unwrap();
    let gone = timeout(Duration::from_secs(60), until_dropped.recv()).await;
    assert_eq!(gone, Ok(None), "its connection was not given up");
}
