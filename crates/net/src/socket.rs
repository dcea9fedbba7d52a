//! A TCP socket that reads bytes together with their receive timestamp, where the system has one: the kernel's time counts, not
//! the time of the read, which is later when this process was busy or stopped.

use matchday_os::rx_time::{self, RxTimestamps};
use matchday_os::tcp;
use socket2::SockRef;
use std::io;
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

#[derive(Debug)]
pub struct Socket {
    stream: Arc<TcpStream>,
    /// When the bytes of the last read were received.
    rx_time: Instant,
    rx_timestamps: RxTimestamps,
}

/// Looks whether a socket that another task reads has unread bytes (MSG_PEEK).
#[derive(Debug, Clone)]
pub(crate) struct Peek(Weak<TcpStream>);

/// Sees that the peer has closed its side of a connection that nobody reads: while an answer without an end is sent, no request is
/// read. It keeps the socket open, and is to be dropped with it.
#[derive(Debug)]
pub struct PeerEnd(Arc<TcpStream>);

/// How often a connection with unread bytes is looked at, where the system does not tell of its end before they are read.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How long bytes of ours may stay unacknowledged.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(30);

/// How long bytes may have waited on a connection in the accept backlog.
const BACKLOG_MAX: Duration = Duration::from_secs(300);

/// What the connections that are accepted here begin with. The kernel timestamps bytes also while they are in the accept backlog.
pub(crate) fn prepare(listener: &TcpListener) {
    rx_time::enable(listener);
    tcp::end_unacknowledged(listener, UNACKNOWLEDGED_MAX);
}

impl Socket {
    /// A connection that we have just opened, on which nothing can have been received yet.
    pub(crate) fn connected(stream: TcpStream) -> Self {
        Self::new(stream, Instant::now())
    }

    /// A connection from the accept backlog, where it may have waited together with the bytes sent over it.
    pub(crate) fn accepted(stream: TcpStream) -> Self {
        let now = Instant::now();
        Self::new(stream, now.checked_sub(BACKLOG_MAX).unwrap_or(now))
    }

    fn new(stream: TcpStream, empty_at: Instant) -> Self {
        // Nagle's algorithm and delayed ACK together may hold a response back for 40 ms.
        let _ = stream.set_nodelay(true);
        Self {
            rx_timestamps: RxTimestamps::new(&stream, empty_at),
            stream: Arc::new(stream),
            rx_time: Instant::now(),
        }
    }

    pub(crate) fn rx_time(&self) -> Instant {
        self.rx_time
    }

    pub(crate) fn peek(&self) -> Peek {
        Peek(Arc::downgrade(&self.stream))
    }

    pub(crate) fn peer_end(&self) -> PeerEnd {
        PeerEnd(Arc::clone(&self.stream))
    }
}

impl PeerEnd {
    /// Returns once the peer has closed its side, or the connection is broken.
    pub(crate) async fn reached(&self) {
        loop {
            match self.0.ready(Interest::READABLE).await {
                Ok(ready) if !ready.is_read_closed() => {}
                _ => return,
            }
            let peek = || SockRef::from(&*self.0).peek(&mut [MaybeUninit::uninit()]);
            match self.0.try_io(Interest::READABLE, peek) {
                // The readiness was out of date, and is cleared by this.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // A request that is not read yet, or the end of TLS.
                Ok(1..) => sleep(LOOK_AGAIN).await,
                Ok(0) | Err(_) => return,
            }
        }
    }
}

impl Peek {
    /// Whether bytes have been received and not been read yet.
    pub(crate) fn is_unread(&self) -> bool {
        self.peeked()
            .is_some_and(|bytes| bytes.is_ok_and(|bytes| bytes > 0))
    }

    /// Whether the connection is open and has no unread bytes.
    pub(crate) fn is_idle(&self) -> bool {
        self.peeked().is_some_and(|bytes| {
            bytes.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        })
    }

    /// `None` if the socket has been dropped. Never waits: tokio's sockets are in non-blocking mode.
    fn peeked(&self) -> Option<io::Result<usize>> {
        self.0
            .upgrade()
            .map(|stream| SockRef::from(&*stream).peek(&mut [MaybeUninit::uninit()]))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self {
            stream,
            rx_timestamps,
            rx_time,
        } = &mut *self;
        *rx_time = ready!(rx_timestamps.poll_read(stream, cx, buf))?;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        write(&self.stream, cx, || self.stream.try_write(buf))
    }

    /// Nothing is buffered here.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(shut_down(&self.stream))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        write(&self.stream, cx, || self.stream.try_write_vectored(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

fn write(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    attempt: impl Fn() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(cx))?;
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            written => return Poll::Ready(written),
        }
    }
}

fn shut_down(stream: &TcpStream) -> io::Result<()> {
    match SockRef::from(stream).shutdown(Shutdown::Write) {
        // The other side may have closed it already.
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        done => done,
    }
}
