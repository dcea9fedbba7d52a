//! Closes half-open connections (slowloris): the head of a request has a time limit from its first byte on, and on a new
//! connection from the start. A connection that is idle between two requests has hyper's own limit.

use crate::io_hook::{Hooked, IoHook};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Which part of a request the connection is at, as the server reports it.
#[derive(Debug, Default)]
pub(crate) struct RequestProgress {
    heads: AtomicUsize,
    answering: AtomicBool,
}

impl RequestProgress {
    /// What is read now is the body.
    pub(crate) fn head_complete(&self) {
        self.answering.store(true, Ordering::Release);
        self.heads.fetch_add(1, Ordering::AcqRel);
    }

    /// What is read now is the next head.
    pub(crate) fn response_sent(&self) {
        self.answering.store(false, Ordering::Release);
    }
}

/// Lets reads fail once a head has taken too long.
#[derive(Debug)]
pub(crate) struct HeadTimeout {
    progress: Arc<RequestProgress>,
    limit: Duration,
    /// The number of complete heads at the last read.
    heads_seen: usize,
    began: Option<Instant>,
    /// Created only for a head that is not there at once, which is rare.
    timer: Option<Pin<Box<Sleep>>>,
}

pub(crate) type HeadTimed<T> = Hooked<T, HeadTimeout>;

impl<T> HeadTimed<T> {
    pub(crate) fn wrap(inner: T, limit: Duration) -> (Self, Arc<RequestProgress>) {
        let progress = Arc::<RequestProgress>::default();
        let began = Some(Instant::now());
        let hook = HeadTimeout {
            progress: Arc::clone(&progress),
            limit,
            heads_seen: 0,
            began,
            timer: None,
        };
        (Self { inner, hook }, progress)
    }
}

impl HeadTimeout {
    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(began) = self.began else {
            return false;
        };
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(began + self.limit)));
        timer.as_mut().poll(cx).is_ready()
    }
}

impl<T: AsyncRead> IoHook<T> for HeadTimeout {
    fn poll_read(
        &mut self,
        inner: Pin<&mut T>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let heads = self.progress.heads.load(Ordering::Acquire);
        if heads != self.heads_seen {
            (self.heads_seen, self.began, self.timer) = (heads, None, None);
        }
        let before = buf.filled().len();
        // Bytes that were received are read first, however late it is: the peer must not pay for our delay.
        let read = inner.poll_read(cx, buf);
        if self.progress.answering.load(Ordering::Acquire) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::timeout;

    const WITHIN: Duration = Duration::from_secs(5);

    /// How long it takes until a read fails for want of time.
    async fn until_over(stream: &mut HeadTimed<tokio::io::DuplexStream>) -> Duration {
        let began = Instant::now();
        let error = stream.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_comes_is_over_in_time() {
        let (_peer, ours) = duplex(64);
        let (mut stream, _progress) = HeadTimed::wrap(ours, WITHIN);
        assert_eq!(until_over(&mut stream).await, WITHIN);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_may_be_idle_between_two_requests_but_not_within_a_head() {
        let (mut peer, ours) = duplex(64);
        let (mut stream, progress) = HeadTimed::wrap(ours, WITHIN);
        peer.write_all(b"first").await.unwrap();
        stream.read_exact(&mut [0; 5]).await.unwrap();
        progress.head_complete();
        let waiting = timeout(WITHIN * 3, stream.read(&mut [0; 8])).await;
        assert!(
            waiting.is_err(),
            "a body has a limit of its own: {waiting:?}"
        );
        progress.response_sent();
        let waiting = timeout(WITHIN * 3, stream.read(&mut [0; 8])).await;
        assert!(waiting.is_err(), "between two requests: {waiting:?}");
        peer.write_all(b"s").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 1);
        assert_eq!(until_over(&mut stream).await, WITHIN);
    }
}
