//! Answers of the dashboard: what they say, and what every one of them tells a browser to forbid.

use crate::net::answer::with;
use crate::net::server::Answer;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Response, StatusCode};
use serde_json::json;

/// Nothing but our own files may run, be shown or be called, and nobody may put the page into another.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

const EVERYWHERE: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The same, with what every answer of the dashboard tells a browser.
pub(super) fn dressed(mut answer: Answer) -> Answer {
    for (name, value) in EVERYWHERE {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

pub(super) fn data(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()).boxed());
    *answer.status_mut() = status;
    let answer = with(answer, CONTENT_TYPE, "application/json");
    dressed(with(answer, CACHE_CONTROL, "no-store"))
}

/// What went wrong, in a sentence for people.
pub(super) fn error(status: StatusCode, why: &str) -> Answer {
    let answer = data(status, json!({ "error": why }).to_string());
    match status {
        StatusCode::UNAUTHORIZED => with(answer, WWW_AUTHENTICATE, "Bearer"),
        _ => answer,
    }
}

pub(super) fn later(why: &str, seconds: u64) -> Answer {
    let mut answer = error(StatusCode::TOO_MANY_REQUESTS, why);
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    answer
}

pub(super) fn not_allowed(methods: &'static str) -> Answer {
    let why = format!("this address takes {methods} alone");
    with(error(StatusCode::METHOD_NOT_ALLOWED, &why), ALLOW, methods)
}
