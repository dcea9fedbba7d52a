//! Answers as they are put together by whoever serves.

use super::body;
use super::guard::Stranger;
use super::server::Answer;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use matchday_core::protocol::dialect::reply::{HttpReply, write_error};
use matchday_core::protocol::dialect::request::ReplyTo;
use matchday_core::protocol::jsonrpc::{Fault, Id};
use std::time::Duration;
use tokio::time::timeout;

/// How much of a body that is refused is still read, so that its sender comes to read the refusal.
pub(crate) const DISCARD_MAX: usize = 1024 * 1024;

/// What a request is told that must not come in.
pub(crate) async fn turned_away(
    request: Request<Incoming>,
    stranger: &Stranger,
    body_timeout: Duration,
) -> Answer {
    let _in_time = timeout(body_timeout, body::discard(&mut request.into_body(), DISCARD_MAX)).await;
    let error = Fault::InvalidRequest.because(stranger.to_string());
    let refusal = HttpReply::one(write_error(&ReplyTo::Id(Id::Null), &error));
    closing(json(stranger.status(), refusal.body))
}

pub(crate) fn json(status: StatusCode, body: Vec<u8>) -> Answer {
    let is_empty = body.is_empty();
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    if is_empty { answer } else { with(answer, CONTENT_TYPE, "application/json") }
}

pub(crate) fn bare(status: StatusCode) -> Answer {
    json(status, Vec::new())
}

/// After this, the rest of what the peer may be sending is of no interest.
pub(crate) fn closing(answer: Answer) -> Answer {
    with(answer, CONNECTION, "close")
}

pub(crate) fn with(mut answer: Answer, name: HeaderName, value: &'static str) -> Answer {
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
    answer
}
