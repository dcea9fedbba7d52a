//! The end of a connection on which the peer may still be sending.

use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

/// How long a connection stays open after our last word.
const LINGER_MAX: Duration = Duration::from_secs(1);
const DISCARDED_MAX: u64 = 4 << 20;

/// Ends our side, and reads on until the peer has ended its own: if we closed at once, a peer that is still sending would get a reset,
/// and on Windows lose what we have answered with it.
pub(crate) async fn linger(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let _ = stream.shutdown().await;
    let mut rest = stream.take(DISCARDED_MAX);
    let mut discarded = tokio::io::sink();
    let _in_time = timeout(LINGER_MAX, tokio::io::copy(&mut rest, &mut discarded)).await;
}
