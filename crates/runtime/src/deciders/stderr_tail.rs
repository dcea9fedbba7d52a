//! The end of a program's standard error: what it says of itself.

use super::parse_move::excerpt;
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of the end of its standard error is kept.
const ERRORS_MAX: usize = 4 * 1024;

/// Reads to the end, and keeps the last bytes.
pub(super) async fn read_tail(
    from: Option<&mut (impl AsyncRead + Unpin)>,
    into: &mut Vec<u8>,
) -> std::io::Result<()> {
    let Some(from) = from else {
        return Ok(());
    };
    let mut piece = [0; ERRORS_MAX];
    loop {
        let count = from.read(&mut piece).await?;
        if count == 0 {
            return Ok(());
        }
        into.extend_from_slice(piece.get(..count).unwrap_or_default());
        into.drain(..into.len().saturating_sub(ERRORS_MAX));
    }
}

/// The last line, which usually names the error.
pub(super) fn last_line(errors: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(errors);
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(excerpt)
}
