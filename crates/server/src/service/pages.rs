//! The pages of a service: a shell that its script fills from the API, since what a viewer may see depends on a token that only the
//! script has.

use crate::dashboard::with_security_headers;
use askama::Template;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use matchday_audit::template::rendered;
use matchday_core::game::GAMES;
use matchday_core::league::Format;
use matchday_net::server::HttpResponse;

#[derive(Template)]
#[template(path = "service.html")]
struct ServicePage {
    /// From the page to the root of the service.
    root: &'static str,
    games: Vec<&'static str>,
    formats: Vec<&'static str>,
}

pub(super) fn page(root: &'static str) -> HttpResponse {
    let page = rendered(&ServicePage {
        root,
        games: GAMES.iter().map(|game| game.name).collect(),
        formats: Format::ALL.iter().map(|format| format.name()).collect(),
    });
    let mut answer = Response::new(Full::new(Bytes::from(page)).boxed());
    let headers = answer.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    with_security_headers(answer)
}
