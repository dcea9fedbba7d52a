//! What the client of a mailbox reads: a stream of calls as newline-delimited JSON, or the answer to a long poll. Either is made
//! as the client reads it, so that one who does not read holds a few kilobytes of this process.

use super::open_mailbox::{NextPiece, Reading};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Body, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use matchday_core::mailbox::Transport;
use matchday_net::response::with_header;
use matchday_net::server::HttpResponse;
use serde_json::json;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

/// An empty line tells the client that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long a poll waits for a call.
const POLL: Duration = Duration::from_secs(25);
/// A poll that has sent so much ends with the line that it is at.
const POLL_BYTES_MAX: usize = 1 << 20;
/// How long a client has to take the line that says why its stream ends.
const CLOSED_MAX: Duration = Duration::from_secs(1);
/// Tells nginx not to buffer the stream.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A response body that ends when its sender is dropped.
struct LineBody(mpsc::Receiver<Bytes>);

impl Body for LineBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// A stream of the calls, until the client closes it, another takes over or `closing` turns true.
pub(super) fn stream(reading: Reading, closing: watch::Receiver<bool>) -> HttpResponse {
    lines(reading, Transport::Stream, closing)
}

/// The calls that wait; if there are none, the first that comes within 25 seconds.
pub(super) async fn poll(reading: Reading, mut closing: watch::Receiver<bool>) -> HttpResponse {
    tokio::select! {
        _ = timeout(POLL, reading.has_next()) => {}
        _ = closing.wait_for(|closing| *closing) => {}
    }
    lines(reading, Transport::LongPoll, closing)
}

fn lines(reading: Reading, transport: Transport, closing: watch::Receiver<bool>) -> HttpResponse {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(send_lines(reading, transport, sender, closing));
    let response = Response::new(LineBody(receiver).boxed());
    let response = with_header(response, CONTENT_TYPE, "application/x-ndjson");
    with_header(
        with_header(response, CACHE_CONTROL, "no-store"),
        ACCEL_BUFFERING,
        "no",
    )
}

async fn send_lines(
    reading: Reading,
    transport: Transport,
    to: mpsc::Sender<Bytes>,
    mut closing: watch::Receiver<bool>,
) {
    let mut is_mid_line = false;
    let reason = tokio::select! {
        biased;
        () = to.closed() => None,
        () = reading.replaced() => Some("taken_over"),
        _ = closing.wait_for(|closing| *closing) => Some("restart"),
        reason = send_calls(&reading, transport, &to, &mut is_mid_line) => reason,
    };
    // What it was sending is let go of, whether or not its client reads on.
    drop(reading);
    if let Some(reason) = reason.filter(|_| !is_mid_line) {
        let _ = to.send_timeout(closed(reason), CLOSED_MAX).await;
    }
}

/// Returns why the stream ends, if the client is to be told.
async fn send_calls(
    reading: &Reading,
    transport: Transport,
    to: &mpsc::Sender<Bytes>,
    is_mid_line: &mut bool,
) -> Option<&'static str> {
    let is_poll = transport == Transport::LongPoll;
    if !is_poll {
        // At once, so that the client knows that nothing on the way buffers the stream.
        to.send(Bytes::from_static(b"\n")).await.ok()?;
    }
    let mut sent = 0;
    loop {
        // Fetched only when it can be sent: what waits in a buffer of ours would lose its time there.
        let permit = to.reserve().await.ok()?;
        match reading.next() {
            NextPiece::Piece { text, ends_line } => {
                *is_mid_line = !ends_line;
                sent += text.len();
                permit.send(text);
                if is_poll && ends_line && sent >= POLL_BYTES_MAX {
                    return None;
                }
                continue;
            }
            NextPiece::Replaced => return Some("taken_over"),
            NextPiece::Nothing if is_poll => return None,
            NextPiece::Nothing => drop(permit),
        }
        tokio::select! {
            biased;
            () = reading.has_next() => {}
            () = sleep(HEARTBEAT) => to.send(Bytes::from_static(b"\n")).await.ok()?,
        }
    }
}

fn closed(reason: &str) -> Bytes {
    format!("{}\n", json!({ "closed": reason })).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::memory::Message;
    use crate::relay::open_mailbox::tests::mailbox;
    use std::sync::Arc;
    use tokio::time::Instant;

    #[tokio::test]
    async fn a_poll_ends_with_the_line_that_exceeds_its_length() {
        const BYTES: usize = 300_000;
        let mailbox = mailbox();
        for _ in 0..5 {
            let mailbox = Arc::clone(&mailbox);
            let message = Message::own(vec![b' '; BYTES].into());
            tokio::spawn(async move {
                mailbox
                    .call(message, Instant::now() + Duration::from_secs(600))
                    .await
            });
        }
        tokio::task::yield_now().await;
        let (_close, closing) = watch::channel(false);
        let mut lengths = Vec::new();
        let mut after = None;
        while lengths.len() < 2 {
            let reading = mailbox
                .connect("a".into(), Transport::LongPoll, false, after)
                .unwrap();
            let body = poll(reading, closing.clone())
                .await
                .into_body()
                .collect()
                .await
                .unwrap()
                .to_bytes();
            let lines: Vec<serde_json::Value> = body
                .split_inclusive(|byte| *byte == b'\n')
                .map(|line| serde_json::from_slice(line).unwrap())
                .collect();
            after = lines.last().unwrap()["id"].as_u64();
            lengths.push(lines.len());
        }
        assert_eq!(
            lengths,
            [4, 1],
            "a megabyte and the rest of a line, then what is left"
        );
    }
}
