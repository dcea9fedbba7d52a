//! Closes half-open connections: from its first byte on, and on a new connection from the start, the head of a request has
//! so much time to be complete. A connection that is idle between two requests is not concerned. Touches nothing but the
//! connection it is put around.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// What the server tells the connection of its requests.
#[derive(Debug, Default)]
pub(super) struct Heads {
    complete: AtomicUsize,
    answering: AtomicBool,
}

impl Heads {
    /// A head is complete; what comes now is the body of the request.
    pub(super) fn completed(&self) {
        self.answering.store(true, Ordering::Release);
        self.complete.fetch_add(1, Ordering::AcqRel);
    }

    /// What comes now is the next head.
    pub(super) fn answered(&self) {
        self.answering.store(false, Ordering::Release);
    }
}

/// A connection whose reads fail once a head has taken too long.
#[derive(Debug)]
pub(super) struct HeadTimeout<T> {
    inner: T,
    heads: Arc<Heads>,
    within: Duration,
    /// How many heads had been complete at the last read.
    seen: usize,
    began: Option<Instant>,
    /// Made only for a head that does not come at once, which is the exception.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<T> HeadTimeout<T> {
    pub(super) fn new(inner: T, within: Duration) -> (Self, Arc<Heads>) {
        let heads = Arc::<Heads>::default();
        let began = Some(Instant::now());
        (Self { inner, heads: Arc::clone(&heads), within, seen: 0, began, timer: None }, heads)
    }

    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(began) = self.began else { return false };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(began + self.within)));
        timer.as_mut().poll(cx).is_ready()
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for HeadTimeout<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let complete = self.heads.complete.load(Ordering::Acquire);
        if complete != self.seen {
            (self.seen, self.began, self.timer) = (complete, None, None);
        }
        let before = buf.filled().len();
        // Bytes that have come are read first, however late it is: the time is the peer's, not ours.
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        if self.heads.answering.load(Ordering::Acquire) {
            return read;
        }
        if buf.filled().len() > before && self.began.is_none() {
            self.began = Some(Instant::now());
        }
        if read.is_pending() && self.is_over(cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for HeadTimeout<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::timeout;

    const WITHIN: Duration = Duration::from_secs(5);

    /// How long it takes until a read fails for want of time.
    async fn until_over(stream: &mut HeadTimeout<tokio::io::DuplexStream>) -> Duration {
        let began = Instant::now();
        let error = stream.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_comes_is_over_in_time() {
        let (_peer, ours) = duplex(64);
        let (mut stream, _heads) = HeadTimeout::new(ours, WITHIN);
        assert_eq!(until_over(&mut stream).await, WITHIN);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_may_be_idle_between_two_requests_but_not_within_a_head() {
        let (mut peer, ours) = duplex(64);
        let (mut stream, heads) = HeadTimeout::new(ours, WITHIN);
        peer.write_all(b"first").await.unwrap();
        stream.read_exact(&mut [0; 5]).await.unwrap();
        heads.completed();
        let waiting = timeout(WITHIN * 3, stream.read(&mut [0; 8])).await;
        assert!(waiting.is_err(), "a body has a limit of its own: {waiting:?}");
        heads.answered();
        let waiting = timeout(WITHIN * 3, stream.read(&mut [0; 8])).await;
        assert!(waiting.is_err(), "between two requests: {waiting:?}");
        peer.write_all(b"s").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 1);
        assert_eq!(until_over(&mut stream).await, WITHIN);
    }
}
