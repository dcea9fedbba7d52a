//! The static files of the page, embedded in the program. A debug build reads them from the source folder if it is there, so that
//! the page can be changed without a build.

use super::response::{self, with_security_headers};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use hyper::{Response, StatusCode};
use matchday_audit::{design, glossary};
use matchday_net::server::HttpResponse;
use sha2::{Digest, Sha256};

const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/dashboard_files.rs"));

pub(crate) fn answer(name: &str, headers: &HeaderMap) -> HttpResponse {
    let Some(content) = find(name) else {
        return response::error(StatusCode::NOT_FOUND, "the dashboard has no such file");
    };
    let tag = format!("\"{}\"", hex::encode(Sha256::digest(&content)));
    let known = headers
        .get(IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
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
        && let Some(content) = FOLDERS
            .iter()
            .find_map(|folder| std::fs::read(format!("{folder}/{name}")).ok())
    {
        return Some(content.into());
    }
    if name == "glossary.js" {
        return Some(glossary::script().into());
    }
    FILES
        .iter()
        .chain(DESIGN)
        .find(|(known, _)| *known == name)
        .map(|(_, content)| Bytes::from_static(content))
}

const DESIGN: &[(&str, &[u8])] = &[
    ("icon.svg", design::ICON.as_bytes()),
    ("tokens.css", design::TOKENS.as_bytes()),
    ("components.css", design::COMPONENTS.as_bytes()),
];

const FOLDERS: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/assets/dashboard"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../audit/templates"),
];

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

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_plot::{HeatMap, Line, LineChart};

    /// The value of a custom property, the first time that it is set after `from`.
    fn property<'a>(style: &'a str, from: &str, name: &str) -> &'a str {
        let after = style.split(from).nth(1).unwrap();
        let value = after
            .split(&format!("--{name}: "))
            .nth(1)
            .unwrap_or_else(|| panic!("--{name}"));
        value.split(';').next().unwrap()
    }

    /// The colour that a plot gives a class.
    fn painted<'a>(svg: &'a str, class: &str) -> &'a str {
        let after = svg
            .split(&format!("class=\"{class}\" color=\""))
            .nth(1)
            .unwrap_or_else(|| panic!("{class}"));
        after.split('"').next().unwrap()
    }

    fn in_the_dark<'a>(class: &str) -> &'a str {
        let after = matchday_plot::CSS
            .split(&format!(".plot .{class}{{color:"))
            .nth(1)
            .unwrap();
        after.split('}').next().unwrap()
    }

    #[test]
    fn pages_and_plots_have_one_palette() {
        let style = design::TOKENS;
        let lines = (0..8)
            .map(|n| Line::new(n.to_string(), vec![(0.0, 0.0), (1.0, f64::from(n))]))
            .collect();
        let lines = LineChart {
            lines,
            ..LineChart::default()
        }
        .svg();
        for number in 0..8 {
            let page = format!("s{number}");
            let plot = format!("c{number}");
            assert_eq!(property(style, ":root", &page), painted(&lines, &plot));
            assert_eq!(property(style, "scheme: dark", &page), in_the_dark(&plot));
        }
        let heat = HeatMap {
            rows: vec!["a".into()],
            columns: vec!["b".into()],
            ..HeatMap::default()
        }
        .svg();
        for (page, plot) in [
            ("heat-l2", "h2"),
            ("heat-l1", "h3"),
            ("heat-d", "h4"),
            ("heat-w1", "h5"),
            ("heat-w2", "h6"),
        ] {
            assert_eq!(property(style, ":root", page), painted(&heat, plot));
            assert_eq!(property(style, "scheme: dark", page), in_the_dark(plot));
        }
    }
}
