//! The bearer token of a request.

use hyper::header::{AUTHORIZATION, HeaderMap};

/// The token of `Authorization: Bearer TOKEN`; `None` for another scheme.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
