//! When the bytes of an answer came, noted where they are read from the socket: whatever is done with them afterwards,
//! and however long that takes, changes nothing about it. Touches nothing but the socket it is put around.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// When the first and the last byte of the present answer were read. Shared by whoever reads and whoever waits.
#[derive(Debug)]
pub(super) struct Stamps {
    /// What the others are counted from, in nanoseconds and from 1, so that 0 is none.
    base: Instant,
    first: AtomicU64,
    last: AtomicU64,
}

impl Stamps {
    fn new() -> Self {
        Self { base: Instant::now(), first: AtomicU64::new(0), last: AtomicU64::new(0) }
    }

    /// What comes from here on belongs to another answer.
    pub(super) fn begin(&self) {
        self.first.store(0, Ordering::Release);
        self.last.store(0, Ordering::Release);
    }

    fn note(&self, at: Instant) {
        let since = at.saturating_duration_since(self.base).as_nanos();
        let stamp = u64::try_from(since).unwrap_or(u64::MAX).saturating_add(1);
        let _ = self.first.compare_exchange(0, stamp, Ordering::AcqRel, Ordering::Relaxed);
        self.last.store(stamp, Ordering::Release);
    }

    pub(super) fn first(&self) -> Option<Instant> {
        self.at(self.first.load(Ordering::Acquire))
    }

    pub(super) fn last(&self) -> Option<Instant> {
        self.at(self.last.load(Ordering::Acquire))
    }

    fn at(&self, stamp: u64) -> Option<Instant> {
        stamp.checked_sub(1).map(|nanos| self.base + std::time::Duration::from_nanos(nanos))
    }
}

/// A connection that notes when something comes in.
#[derive(Debug)]
pub(super) struct Stamped<T> {
    inner: T,
    stamps: Arc<Stamps>,
}

impl<T> Stamped<T> {
    pub(super) fn new(inner: T) -> (Self, Arc<Stamps>) {
        let stamps = Arc::new(Stamps::new());
        (Self { inner, stamps: Arc::clone(&stamps) }, stamps)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Stamped<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.stamps.note(Instant::now());
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Stamped<T> {
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
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test(start_paused = true)]
    async fn the_first_and_the_last_byte_are_told_apart() {
        let (mut far, near) = tokio::io::duplex(64);
        let (mut near, stamps) = Stamped::new(near);
        let began = Instant::now();
        let mut byte = [0];
        for _ in 0..3 {
            tokio::time::advance(Duration::from_millis(7)).await;
            far.write_all(b"x").await.unwrap();
            near.read_exact(&mut byte).await.unwrap();
        }
        assert_eq!(stamps.first(), Some(began + Duration::from_millis(7)));
        assert_eq!(stamps.last(), Some(began + Duration::from_millis(21)));
        stamps.begin();
        assert_eq!((stamps.first(), stamps.last()), (None, None), "another answer has not come yet");
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_connection_is_no_byte() {
        let (far, near) = tokio::io::duplex(64);
        let (mut near, stamps) = Stamped::new(near);
        drop(far);
        assert_eq!(near.read(&mut [0]).await.unwrap(), 0);
        assert_eq!(stamps.last(), None);
    }
}
