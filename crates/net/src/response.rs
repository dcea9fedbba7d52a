//! Building blocks for the responses of handlers.

use crate::body;
use crate::server::{HttpResponse, Unanswered};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Request, Response, StatusCode};
use std::time::Duration;
use tokio::time::timeout;

/// How much of the body of a refused request is still read, so that its sender gets to read the response.
pub const DISCARD_MAX: usize = 1024 * 1024;

/// Refuses a request without looking at its body, and closes the connection.
pub async fn refuse(
    request: Request<Incoming>,
    status: StatusCode,
    json_body: Vec<u8>,
    body_timeout: Duration,
) -> HttpResponse {
    let _in_time = timeout(
        body_timeout,
        body::discard(&mut request.into_body(), DISCARD_MAX),
    )
    .await;
    with_close(json(status, json_body))
}

/// A browser takes it for JSON, whatever is in it.
pub fn json(status: StatusCode, body: impl Into<Bytes>) -> HttpResponse {
    let body = body.into();
    let is_empty = body.is_empty();
    let mut response = Response::new(Full::new(body).boxed());
    *response.status_mut() = status;
    if is_empty {
        return response;
    }
    let response = with_header(response, CONTENT_TYPE, "application/json");
    with_header(response, X_CONTENT_TYPE_OPTIONS, "nosniff")
}

pub fn empty(status: StatusCode) -> HttpResponse {
    json(status, Bytes::new())
}

/// The connection is closed without an answer.
pub fn unanswered() -> HttpResponse {
    let mut response = empty(StatusCode::BAD_GATEWAY);
    response.extensions_mut().insert(Unanswered);
    with_close(response)
}

/// HTTP 503: the same request is welcome again after so many seconds.
pub fn unavailable(json_body: Vec<u8>, retry_after_s: u64) -> HttpResponse {
    with_retry_after(
        json(StatusCode::SERVICE_UNAVAILABLE, json_body),
        retry_after_s,
    )
}

/// Says after how many seconds the same request may fare better.
pub fn with_retry_after(mut response: HttpResponse, seconds: u64) -> HttpResponse {
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// The connection ends after this response.
pub fn with_close(response: HttpResponse) -> HttpResponse {
    with_header(response, CONNECTION, "close")
}

pub fn with_header(
    mut response: HttpResponse,
    name: HeaderName,
    value: &'static str,
) -> HttpResponse {
    response
        .headers_mut()
        .insert(name, HeaderValue::from_static(value));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_takes_json_for_json_alone() {
        let answer = json(StatusCode::OK, "{}");
        assert_eq!(answer.headers()[CONTENT_TYPE], "application/json");
        assert_eq!(answer.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(
            empty(StatusCode::NOT_FOUND).headers().is_empty(),
            "nothing is not of any type"
        );
    }
}
