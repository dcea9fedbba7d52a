//! The HTTP endpoints `/metrics` and `/health/ready` of one agent.

use super::probe::{self, Probe};
use super::{Telemetry, exposition, metrics_page};
use http_body_util::{BodyExt, Full};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use hyper::{Method, Request, Response, StatusCode};
use matchday_net::response::{empty, json, with_header};
use matchday_net::server::HttpResponse;
use matchday_store::redact::redact_tokens;
use std::sync::Arc;

const METRICS: &str = "/metrics";
const READY: &str = "/health/ready";

#[derive(Debug, Clone)]
pub(crate) struct Endpoints {
    pub(crate) telemetry: Telemetry,
    pub(crate) probe: Arc<dyn Probe>,
}

/// Whether a path is one of these endpoints.
pub(crate) fn serves(path: &str) -> bool {
    path == METRICS || path == READY
}

impl Endpoints {
    pub(crate) async fn respond<B>(&self, request: &Request<B>) -> HttpResponse {
        match (request.uri().path(), request.method()) {
            (_, method) if method != Method::GET => {
                with_header(empty(StatusCode::METHOD_NOT_ALLOWED), ALLOW, "GET")
            }
            (METRICS, _) => metrics_response(&self.telemetry).await,
            _ => readiness_response(probe::unready_reason(&*self.probe).await),
        }
    }
}

/// The metrics of a process, if they are shown.
pub async fn metrics_response(telemetry: &Telemetry) -> HttpResponse {
    if !telemetry.metrics_shown {
        let words = "figures are not shown here: start the agent with --metrics on";
        let body = serde_json::json!({ "error": words }).to_string();
        return json(StatusCode::NOT_FOUND, body.into_bytes());
    }
    let answer = Response::new(Full::new(metrics_page::render(&telemetry.metrics).await).boxed());
    let answer = with_header(answer, CONTENT_TYPE, exposition::CONTENT_TYPE);
    with_header(answer, CACHE_CONTROL, "no-store")
}

/// 200 if the agent is ready, otherwise 503 with the reason. The reason may quote a manager, and so a token.
pub fn readiness_response(unready_reason: Option<String>) -> HttpResponse {
    let answer = match unready_reason {
        None => json(StatusCode::OK, br#"{"status":"ready"}"#.to_vec()),
        Some(why) => {
            let why = redact_tokens(why.as_bytes());
            let body = serde_json::json!({ "status": "not ready", "why": why });
            json(StatusCode::SERVICE_UNAVAILABLE, body.to_string().into_bytes())
        }
    };
    with_header(answer, CACHE_CONTROL, "no-store")
}
