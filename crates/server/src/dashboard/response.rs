//! HTTP responses of the dashboard, all with security headers.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    HeaderValue, REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Response, StatusCode};
use matchday_net::response::{json, with_header, with_retry_after};
use matchday_net::server::HttpResponse;
use serde_json::json;

/// After how many seconds a request that could not be answered may be made again.
pub const RETRY_SECONDS: u64 = 2;

/// Only our own files may run, be shown or be called, and no other page may frame this one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

const SECURITY_HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Adds the headers that every response of the dashboard has.
pub(crate) fn with_security_headers(mut answer: HttpResponse) -> HttpResponse {
    for (name, value) in SECURITY_HEADERS {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}

pub(super) fn data(status: StatusCode, body: impl Into<Bytes>) -> HttpResponse {
    with_security_headers(with_header(json(status, body), CACHE_CONTROL, "no-store"))
}

/// A file to be saved. Ids of leagues are plain letters and digits.
pub(super) fn download(name: &str, kind: &'static str, body: Bytes) -> HttpResponse {
    let answer = with_header(Response::new(Full::new(body).boxed()), CONTENT_TYPE, kind);
    let mut answer = with_header(answer, CACHE_CONTROL, "no-store");
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        answer.headers_mut().insert(CONTENT_DISPOSITION, value);
    }
    with_security_headers(answer)
}

/// An error with a sentence for people.
pub(super) fn error(status: StatusCode, why: &str) -> HttpResponse {
    let answer = data(status, json!({ "error": why }).to_string());
    match status {
        StatusCode::UNAUTHORIZED => with_header(answer, WWW_AUTHENTICATE, "Bearer"),
        StatusCode::SERVICE_UNAVAILABLE => with_retry_after(answer, RETRY_SECONDS),
        _ => answer,
    }
}

pub(super) fn rate_limited(why: &str, seconds: u64) -> HttpResponse {
    with_retry_after(error(StatusCode::TOO_MANY_REQUESTS, why), seconds)
}
