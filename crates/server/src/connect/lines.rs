//! The lines of a stream, within limits of length and time: the league at the other end may be a hostile one.

use bytes::{Bytes, BytesMut};
use matchday_net::client::CallError;
use matchday_net::streaming::StreamingResponse;
use std::time::Duration;
use tokio::time::timeout;

/// The longest line: a table of thousands of players has one of a few megabytes.
pub(super) const LINE_BYTES_MAX: usize = 8 << 20;
/// How long a line may take to come whole.
const LINE_MAX: Duration = Duration::from_secs(60);

pub(super) struct Lines {
    stream: StreamingResponse,
    unread: BytesMut,
    /// So much of it has no end of a line.
    searched: usize,
}

/// Why there is no further line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoLine {
    #[error("the stream stopped")]
    Silent,
    #[error("the league has ended the stream")]
    Ended,
    #[error(transparent)]
    Cut(CallError),
    #[error("the league sends a line that is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    #[error("the league takes longer than {} seconds for a line", LINE_MAX.as_secs())]
    TooSlow,
}

impl Lines {
    pub(super) fn of(stream: StreamingResponse) -> Self {
        Self {
            stream,
            unread: BytesMut::new(),
            searched: 0,
        }
    }

    /// The next line, with its end.
    pub(super) async fn next(&mut self, silence_max: Duration) -> Result<Bytes, NoLine> {
        timeout(LINE_MAX, self.whole_line(silence_max))
            .await
            .unwrap_or(Err(NoLine::TooSlow))
    }

    async fn whole_line(&mut self, silence_max: Duration) -> Result<Bytes, NoLine> {
        loop {
            let unsearched = self.unread.get(self.searched..).unwrap_or_default();
            if let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') {
                let line = self.unread.split_to(self.searched + end + 1);
                self.searched = 0;
                return Ok(line.freeze());
            }
            self.searched = self.unread.len();
            if self.unread.len() > LINE_BYTES_MAX {
                return Err(NoLine::TooLong);
            }
            match timeout(silence_max, self.stream.next()).await {
                Err(_) => return Err(NoLine::Silent),
                Ok(None) => return Err(NoLine::Ended),
                Ok(Some(Err(why))) => return Err(NoLine::Cut(why)),
                Ok(Some(Ok(piece))) => self.unread.extend_from_slice(&piece),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_net::client::Client;
    use matchday_net::transport::Listener;
    use matchday_testkit::memory;
    use std::sync::Arc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
    use tokio::time::{Instant, sleep};

    const SILENCE: Duration = Duration::from_secs(15);

    /// The lines of a stream, and the league's end of it.
    async fn stream() -> (Lines, DuplexStream) {
        let (listener, dialer) = memory::pair();
        let client = Client::with_dialer(Arc::new(dialer));
        let deadline = Instant::now() + SILENCE;
        let opening = client.open_stream(memory::URL, Vec::new(), deadline);
        let league = async {
            let (mut league, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(league.read_u8().await.unwrap());
            }
            league.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            league
        };
        let (stream, league) = tokio::join!(opening, league);
        (Lines::of(stream.unwrap()), league)
    }

    #[tokio::test(start_paused = true)]
    async fn lines_come_whole_however_they_are_cut() {
        let (mut lines, mut league) = stream().await;
        for piece in ["\none", " line\nanother", "\n\n"] {
            league.write_all(piece.as_bytes()).await.unwrap();
            sleep(Duration::from_secs(1)).await;
        }
        for line in ["\n", "one line\n", "another\n", "\n"] {
            assert_eq!(lines.next(SILENCE).await.unwrap(), line);
        }
        assert_eq!(lines.next(SILENCE).await, Err(NoLine::Silent));
        drop(league);
        assert_eq!(lines.next(SILENCE).await, Err(NoLine::Ended));
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_that_drips_is_over_in_time() {
        let (mut lines, mut league) = stream().await;
        let began = Instant::now();
        tokio::spawn(async move {
            while league.write_all(b"x").await.is_ok() {
                sleep(Duration::from_secs(10)).await;
            }
        });
        assert_eq!(lines.next(SILENCE).await, Err(NoLine::TooSlow));
        assert_eq!(began.elapsed(), LINE_MAX);
    }
}
