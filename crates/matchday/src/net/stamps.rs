//! When the bytes of a message came, noted where they are read from the socket: whatever is done with them afterwards,
//! and however long that takes, changes nothing about it. Touches nothing but the connection it is put around.

use super::socket::Peek;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// Bytes may have come before we had taken the connection.
const EARLIER_MAX: Duration = Duration::from_secs(600);

/// When the first and the last byte of the present message came. Shared by whoever reads and whoever waits.
#[derive(Debug)]
pub(crate) struct Stamps {
    /// What the others are counted from, in nanoseconds and from 1, so that 0 is none.
    base: Instant,
    first: AtomicU64,
    last: AtomicU64,
    /// Whether bytes were read since it was last found that there are no more.
    busy: AtomicBool,
    peek: Option<Peek>,
}

impl Stamps {
    fn new(peek: Option<Peek>) -> Self {
        let (now, none) = (Instant::now(), || AtomicU64::new(0));
        let base = now.checked_sub(EARLIER_MAX).unwrap_or(now);
        Self { base, first: none(), last: none(), busy: AtomicBool::new(false), peek }
    }

    /// What comes from here on belongs to another message.
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

    pub(crate) fn last(&self) -> Option<Instant> {
        self.at(self.last.load(Ordering::Acquire))
    }

    /// Whether there are bytes that have come and may not have reached whoever waits for them.
    pub(super) fn is_more_coming(&self) -> bool {
        self.busy.load(Ordering::Acquire) || self.peek.as_ref().is_some_and(Peek::is_unread)
    }

    /// Whether a kept connection can take another request: on one that the peer has closed there is an end to be read.
    pub(super) fn is_idle(&self) -> bool {
        self.peek.as_ref().is_none_or(Peek::is_idle)
    }

    fn at(&self, stamp: u64) -> Option<Instant> {
        stamp.checked_sub(1).map(|nanos| self.base + Duration::from_nanos(nanos))
    }
}

/// A connection that notes when something comes in.
#[derive(Debug)]
pub(super) struct Stamped<T> {
    inner: T,
    /// When the bytes that were read last had come.
    arrived: fn(&T) -> Instant,
    stamps: Arc<Stamps>,
}

impl<T> Stamped<T> {
    pub(super) fn new(inner: T, arrived: fn(&T) -> Instant, peek: Option<Peek>) -> (Self, Arc<Stamps>) {
        let stamps = Arc::new(Stamps::new(peek));
        (Self { inner, arrived, stamps: Arc::clone(&stamps) }, stamps)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Stamped<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        let some = buf.filled().len() > before;
        if some {
            self.stamps.note((self.arrived)(&self.inner));
        }
        self.stamps.busy.store(some, Ordering::Release);
        read
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
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test(start_paused = true)]
    async fn the_first_and_the_last_byte_are_told_apart() {
        let (mut far, near) = tokio::io::duplex(64);
        let (mut near, stamps) = Stamped::new(near, |_| Instant::now(), None);
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
    async fn what_came_before_the_connection_was_taken_came_then() {
        tokio::time::advance(Duration::from_secs(10)).await;
        let (mut far, near) = tokio::io::duplex(64);
        far.write_all(b"x").await.unwrap();
        let (mut near, stamps) = Stamped::new(near, |_| Instant::now() - Duration::from_secs(9), None);
        near.read_exact(&mut [0]).await.unwrap();
        assert_eq!(stamps.last(), Some(Instant::now() - Duration::from_secs(9)));
    }

    #[tokio::test(start_paused = true)]
    async fn more_is_coming_until_nothing_is_left_to_be_read() {
        let (mut far, near) = tokio::io::duplex(64);
        let (mut near, stamps) = Stamped::new(near, |_| Instant::now(), None);
        far.write_all(b"x").await.unwrap();
        let mut bytes = [0; 8];
        assert_eq!(near.read(&mut bytes).await.unwrap(), 1);
        assert!(stamps.is_more_coming());
        let in_vain = tokio::time::timeout(Duration::from_millis(1), near.read(&mut bytes)).await;
        assert!(in_vain.is_err() && !stamps.is_more_coming());
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_connection_is_no_byte() {
        let (far, near) = tokio::io::duplex(64);
        let (mut near, stamps) = Stamped::new(near, |_| Instant::now(), None);
        drop(far);
        assert_eq!(near.read(&mut [0]).await.unwrap(), 0);
        assert_eq!(stamps.last(), None);
    }
}
