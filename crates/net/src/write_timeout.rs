//! Closes connections whose client reads nothing: a write fails once the socket has accepted no byte for so long. An answer that is
//! read slowly, and a stream without an end, last for as long as some bytes go on.

use crate::io_hook::{Hooked, IoHook};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

#[derive(Debug)]
pub(crate) struct WriteTimeout {
    limit: Duration,
    /// Runs while bytes wait for the socket.
    timer: Option<Pin<Box<Sleep>>>,
}

pub(crate) type WriteTimed<T> = Hooked<T, WriteTimeout>;

impl<T> WriteTimed<T> {
    pub(crate) fn wrap(inner: T, limit: Duration) -> Self {
        Self {
            inner,
            hook: WriteTimeout { limit, timer: None },
        }
    }
}

impl<T> IoHook<T> for WriteTimeout {
    fn written(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    const WITHIN: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_write_of_which_nobody_reads_a_byte_is_over_in_time() {
        let (_peer, ours) = duplex(16);
        let mut stream = WriteTimed::wrap(ours, WITHIN);
        let began = Instant::now();
        let error = stream.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(
            (error.kind(), began.elapsed()),
            (io::ErrorKind::TimedOut, WITHIN)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_and_a_stream_that_has_nothing_to_send_are_waited_for() {
        let (mut peer, ours) = duplex(16);
        let mut stream = WriteTimed::wrap(ours, WITHIN);
        let reading = tokio::spawn(async move {
            let mut bytes = [0; 8];
            for _ in 0..12 {
                sleep(WITHIN - Duration::from_secs(1)).await;
                peer.read_exact(&mut bytes).await.unwrap();
            }
            peer
        });
        stream.write_all(&[0; 64]).await.unwrap();
        sleep(WITHIN * 3).await;
        stream.write_all(&[0; 32]).await.unwrap();
        drop(reading.await.unwrap());
    }
}
