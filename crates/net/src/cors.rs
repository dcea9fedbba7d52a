//! CORS: web pages of allowed origins may call, and read the responses. Whether an origin is allowed is for [`origin_check`](crate::origin_check)
//! to say, before.

use crate::response::{empty, with_header};
use crate::server::HttpResponse;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderMap, HeaderValue, ORIGIN, VARY,
};
use hyper::{Method, StatusCode};

/// What a page may send. A list, because `*` does not cover `Authorization`.
const HEADERS: &str = "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, \
                       mcp-name, traceparent";
/// What a page may read beyond the headers that it always may.
const EXPOSED: &str = "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after";

/// The response to a preflight request; `None` if this is none.
pub fn preflight(method: &Method, headers: &HeaderMap) -> Option<HttpResponse> {
    let is_preflight =
        *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let origin = headers.get(ORIGIN).filter(|_| is_preflight)?;
    let response = with_header(
        empty(StatusCode::NO_CONTENT),
        ACCESS_CONTROL_ALLOW_METHODS,
        "GET, POST, DELETE",
    );
    let response = with_header(response, ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    Some(allow(
        with_header(response, ACCESS_CONTROL_MAX_AGE, "600"),
        origin,
    ))
}

/// Lets pages of this origin read the response.
pub fn allow(mut response: HttpResponse, origin: &HeaderValue) -> HttpResponse {
    response
        .headers_mut()
        .insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    response
        .headers_mut()
        .append(VARY, HeaderValue::from_static("origin"));
    with_header(response, ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED)
}
