//! The static files of the page, embedded in the program. A debug build reads them from the source folder if it is there, so that
//! the page can be changed without a build.

use super::response::{self, with_security_headers};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use hyper::{Response, StatusCode};
use matchday_net::server::HttpResponse;
use sha2::{Digest, Sha256};

const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/dashboard_files.rs"));

pub(super) fn answer(name: &str, headers: &HeaderMap) -> HttpResponse {
    let Some(content) = find(name) else {
        return response::error(StatusCode::NOT_FOUND, "the dashboard has no such file");
    };
    let tag = format!("\"{}\"", hex::encode(Sha256::digest(&content)));
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_known = known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
    let body = if is_known { Bytes::new() } else { content };
    let mut answer = Response::new(Full::new(body).boxed());
    if is_known {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    with_security_headers(answer)
}

fn find(name: &str) -> Option<Bytes> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if name.starts_with('.') || !name.chars().all(is_plain) {
        return None;
    }
    if cfg!(debug_assertions)
        && let Ok(content) = std::fs::read(format!("{FOLDER}/{name}"))
    {
        return Some(content.into());
    }
    FILES.iter().find(|(known, _)| *known == name).map(|(_, content)| Bytes::from_static(content))
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/dashboard");

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "json" | "webmanifest" => "application/json",
        _ => "application/octet-stream",
    }
}
