//! When the bytes of a message were received, recorded where they are read from the socket, so that delays in the layers above
//! (TLS, HTTP, the scheduler) do not count.

use crate::io_hook::{Hooked, IoHook};
use crate::socket::Peek;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::Instant;

/// Bytes may have been received before the connection was accepted.
const BEFORE_ACCEPT_MAX: Duration = Duration::from_secs(600);

/// When the first and the last byte of the current message were received. Shared by the task that reads the connection and the
/// one that waits for the message; the server puts it into the extensions of each request.
#[derive(Debug)]
pub struct RxTimes {
    /// What `first` and `last` count from, in nanoseconds and from 1: 0 means none.
    base: Instant,
    first: AtomicU64,
    last: AtomicU64,
    /// Whether the last read returned bytes, so that there may be more of them.
    busy: AtomicBool,
    peek: Option<Peek>,
    /// The times of a connection over which another process forwards, and how much earlier it had received the message.
    forwarded: Option<(Arc<Self>, Duration)>,
}

impl RxTimes {
    fn new(peek: Option<Peek>) -> Self {
        let now = Instant::now();
        let none = || AtomicU64::new(0);
        let base = now.checked_sub(BEFORE_ACCEPT_MAX).unwrap_or(now);
        Self {
            base,
            first: none(),
            last: none(),
            busy: AtomicBool::new(false),
            peek,
            forwarded: None,
        }
    }

    /// The times of a message that another process had received so much earlier, and forwards over this connection.
    pub fn of_forwarded(times: &Arc<Self>, earlier: Duration) -> Arc<Self> {
        Arc::new(Self {
            forwarded: Some((Arc::clone(times), earlier)),
            ..Self::new(None)
        })
    }

    /// A new message begins.
    pub(crate) fn reset(&self) {
        self.first.store(0, Ordering::Release);
        self.last.store(0, Ordering::Release);
    }

    fn record(&self, at: Instant) {
        let since = at.saturating_duration_since(self.base).as_nanos();
        let nanos = u64::try_from(since).unwrap_or(u64::MAX).saturating_add(1);
        let _ = self
            .first
            .compare_exchange(0, nanos, Ordering::AcqRel, Ordering::Relaxed);
        self.last.store(nanos, Ordering::Release);
    }

    pub(crate) fn first(&self) -> Option<Instant> {
        self.at(self.first.load(Ordering::Acquire))
    }

    /// When the last byte that was read had been received.
    pub fn last(&self) -> Option<Instant> {
        if let Some((times, earlier)) = &self.forwarded {
            return times
                .last()
                .map(|last| last.checked_sub(*earlier).unwrap_or(last));
        }
        self.at(self.last.load(Ordering::Acquire))
    }

    /// Whether bytes have been received that may not have reached the task that waits for them.
    pub(crate) fn has_more(&self) -> bool {
        self.busy.load(Ordering::Acquire) || self.peek.as_ref().is_some_and(Peek::is_unread)
    }

    /// Whether a pooled connection can be used again: one that the peer has closed has an end of stream to be read.
    pub(crate) fn is_idle(&self) -> bool {
        self.peek.as_ref().is_none_or(Peek::is_idle)
    }

    fn at(&self, nanos: u64) -> Option<Instant> {
        nanos
            .checked_sub(1)
            .map(|nanos| self.base + Duration::from_nanos(nanos))
    }
}

/// Records receive times. `rx_time` tells when the bytes of the last read were received.
#[derive(Debug)]
pub(crate) struct RxTimeHook<T> {
    rx_time: fn(&T) -> Instant,
    times: Arc<RxTimes>,
}

pub(crate) type RxTimed<T> = Hooked<T, RxTimeHook<T>>;

impl<T> RxTimed<T> {
    pub(crate) fn wrap(
        inner: T,
        rx_time: fn(&T) -> Instant,
        peek: Option<Peek>,
    ) -> (Self, Arc<RxTimes>) {
        let times = Arc::new(RxTimes::new(peek));
        (
            Self {
                inner,
                hook: RxTimeHook {
                    rx_time,
                    times: Arc::clone(&times),
                },
            },
            times,
        )
    }
}

impl<T: AsyncRead> IoHook<T> for RxTimeHook<T> {
    fn poll_read(
        &mut self,
        mut inner: Pin<&mut T>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = inner.as_mut().poll_read(cx, buf);
        let some = buf.filled().len() > before;
        if some {
            self.times.record((self.rx_time)(&inner));
        }
        self.times.busy.store(some, Ordering::Release);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test(start_paused = true)]
    async fn the_first_and_the_last_byte_are_told_apart() {
        let (mut far, near) = tokio::io::duplex(64);
        let (mut near, times) = RxTimed::wrap(near, |_| Instant::now(), None);
        let began = Instant::now();
        let mut byte = [0];
        for _ in 0..3 {
            tokio::time::advance(Duration::from_millis(7)).await;
            far.write_all(b"x").await.unwrap();
            near.read_exact(&mut byte).await.unwrap();
        }
        assert_eq!(times.first(), Some(began + Duration::from_millis(7)));
        assert_eq!(times.last(), Some(began + Duration::from_millis(21)));
        times.reset();
        assert_eq!(
            (times.first(), times.last()),
            (None, None),
            "another answer has not come yet"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_forwarded_message_came_when_the_first_process_had_received_it() {
        let (mut far, near) = tokio::io::duplex(64);
        let (mut near, times) = RxTimed::wrap(near, |_| Instant::now(), None);
        tokio::time::advance(Duration::from_secs(5)).await;
        let forwarded = RxTimes::of_forwarded(&times, Duration::from_secs(3));
        assert_eq!(forwarded.last(), None, "nothing of it has come yet");
        far.write_all(b"x").await.unwrap();
        near.read_exact(&mut [0]).await.unwrap();
        assert_eq!(
            forwarded.last(),
            Some(Instant::now() - Duration::from_secs(3))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_came_before_the_connection_was_taken_came_then() {
        tokio::time::advance(Duration::from_secs(10)).await;
        let (mut far, near) = tokio::io::duplex(64);
        far.write_all(b"x").await.unwrap();
        let (mut near, times) =
            RxTimed::wrap(near, |_| Instant::now() - Duration::from_secs(9), None);
        near.read_exact(&mut [0]).await.unwrap();
        assert_eq!(times.last(), Some(Instant::now() - Duration::from_secs(9)));
    }

    #[tokio::test(start_paused = true)]
    async fn more_is_coming_until_nothing_is_left_to_be_read() {
        let (mut far, near) = tokio::io::duplex(64);
        let (mut near, times) = RxTimed::wrap(near, |_| Instant::now(), None);
        far.write_all(b"x").await.unwrap();
        let mut bytes = [0; 8];
        assert_eq!(near.read(&mut bytes).await.unwrap(), 1);
        assert!(times.has_more());
        let in_vain = tokio::time::timeout(Duration::from_millis(1), near.read(&mut bytes)).await;
        assert!(in_vain.is_err() && !times.has_more());
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_connection_is_no_byte() {
        let (far, near) = tokio::io::duplex(64);
        let (mut near, times) = RxTimed::wrap(near, |_| Instant::now(), None);
        drop(far);
        assert_eq!(near.read(&mut [0]).await.unwrap(), 0);
        assert_eq!(times.last(), None);
    }
}
