//! `/metrics` and `/health/ready`, answered for one agent of a process.

use super::probe::{self, Probe};
use super::{Observed, exposition, page};
use crate::net::answer::{bare, json, with};
use crate::net::server::Answer;
use crate::shell::redacted;
use http_body_util::{BodyExt, Full};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use hyper::{Method, Request, Response, StatusCode};
use std::sync::Arc;

const METRICS: &str = "/metrics";
const READY: &str = "/health/ready";

/// What can be seen of an agent from outside.
#[derive(Debug, Clone)]
pub(crate) struct Vitals {
    pub(crate) observed: Observed,
    pub(crate) probe: Arc<dyn Probe>,
}

/// Whether a request is for what is answered here.
pub(crate) fn is_asked(path: &str) -> bool {
    path == METRICS || path == READY
}

impl Vitals {
    pub(crate) async fn answer<B>(&self, request: &Request<B>) -> Answer {
        match (request.uri().path(), request.method()) {
            (_, method) if method != Method::GET => with(bare(StatusCode::METHOD_NOT_ALLOWED), ALLOW, "GET"),
            (METRICS, _) => figures(&self.observed).await,
            _ => readiness(probe::lacks(&*self.probe).await),
        }
    }
}

/// The figures of a process, if they are shown.
pub(crate) async fn figures(observed: &Observed) -> Answer {
    if !observed.metrics_shown {
        let words = "figures are not shown here: start the agent with --metrics on";
        let body = serde_json::json!({ "error": words }).to_string();
        return json(StatusCode::NOT_FOUND, body.into_bytes());
    }
    let answer = Response::new(Full::new(page::page(&observed.metrics).await).boxed());
    let answer = with(answer, CONTENT_TYPE, exposition::CONTENT_TYPE);
    with(answer, CACHE_CONTROL, "no-store")
}

/// 200 if nothing is lacking, otherwise 503 with what is. A manager's own words may be among them, and so a token.
pub(crate) fn readiness(lacks: Option<String>) -> Answer {
    let answer = match lacks {
        None => json(StatusCode::OK, br#"{"status":"ready"}"#.to_vec()),
        Some(why) => {
            let why = redacted(why.as_bytes());
            let body = serde_json::json!({ "status": "not ready", "why": why });
            json(StatusCode::SERVICE_UNAVAILABLE, body.to_string().into_bytes())
        }
    };
    with(answer, CACHE_CONTROL, "no-store")
}
