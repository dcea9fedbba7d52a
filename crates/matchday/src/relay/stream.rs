//! What the client of a mailbox reads: a stream of calls as newline-delimited JSON, or one answer to a long poll.

use super::open_mailbox::{Fetched, NextLine, Reading};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Body, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use matchday_net::response::with_header;
use matchday_net::server::HttpResponse;
use serde_json::json;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

/// An empty line tells the client that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long a poll waits for a call.
const POLL: Duration = Duration::from_secs(25);
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
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// A stream of the calls, until the client closes it, another takes over or `closing` turns true.
pub(super) fn stream(reading: Reading, closing: watch::Receiver<bool>) -> HttpResponse {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(send_lines(reading, sender, closing));
    lines(Response::new(LineBody(receiver).boxed()))
}

fn lines(response: HttpResponse) -> HttpResponse {
    let response = with_header(response, CONTENT_TYPE, "application/x-ndjson");
    with_header(with_header(response, CACHE_CONTROL, "no-store"), ACCEL_BUFFERING, "no")
}

async fn send_lines(reading: Reading, to: mpsc::Sender<Bytes>, mut closing: watch::Receiver<bool>) {
    let reason = tokio::select! {
        reason = send_calls(&reading, &to) => reason,
        () = to.closed() => None,
        _ = closing.wait_for(|closing| *closing) => Some("restart"),
    };
    if let Some(reason) = reason {
        let _ = to.try_send(closed(reason));
    }
}

/// Returns why the stream ends, if the client is to be told.
async fn send_calls(reading: &Reading, to: &mpsc::Sender<Bytes>) -> Option<&'static str> {
    let mut changes = reading.mailbox.changes();
    // At once, so that the client knows that nothing on the way buffers the stream.
    to.send(Bytes::from_static(b"\n")).await.ok()?;
    loop {
        changes.mark_unchanged();
        // Fetched only when it can be sent: what waits in a buffer of ours would lose its time there.
        let permit = to.reserve().await.ok()?;
        match reading.next() {
            NextLine::Call(call) => {
                permit.send(line(&call));
                continue;
            }
            NextLine::Replaced => {
                drop(permit);
                return Some("taken_over");
            }
            NextLine::Nothing => drop(permit),
        }
        tokio::select! {
            biased;
            Ok(()) = changes.changed() => {}
            () = sleep_until(Instant::now() + HEARTBEAT) => {
                to.send(Bytes::from_static(b"\n")).await.ok()?;
            }
        }
    }
}

/// All calls that wait; if there are none, the first that comes within 25 seconds.
pub(super) async fn poll(reading: Reading, mut closing: watch::Receiver<bool>) -> HttpResponse {
    let mut changes = reading.mailbox.changes();
    let until = Instant::now() + POLL;
    let mut body = Vec::new();
    let waiting = async {
        loop {
            changes.mark_unchanged();
            match reading.next() {
                NextLine::Call(call) => {
                    body.extend_from_slice(&line(&call));
                    continue;
                }
                NextLine::Replaced => return body.extend_from_slice(&closed("taken_over")),
                NextLine::Nothing if !body.is_empty() => return,
                NextLine::Nothing => {}
            }
            if !matches!(timeout_at(until, changes.changed()).await, Ok(Ok(()))) {
                return;
            }
        }
    };
    tokio::select! {
        () = waiting => {}
        _ = closing.wait_for(|closing| *closing) => {}
    }
    lines(Response::new(http_body_util::Full::new(Bytes::from(body)).boxed()))
}

fn line(call: &Fetched) -> Bytes {
    let left_ms = u64::try_from(call.left.as_millis()).unwrap_or(u64::MAX);
    let body = String::from_utf8_lossy(&call.body);
    format!("{}\n", json!({"id": call.number, "left_ms": left_ms, "body": body})).into()
}

fn closed(reason: &str) -> Bytes {
    format!("{}\n", json!({ "closed": reason })).into()
}
