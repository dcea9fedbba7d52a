//! The HTTP endpoints `/metrics` and `/health/ready` of one agent.

use super::probe::{self, Probe};
use super::{Telemetry, exposition, metrics_page};
use http_body_util::{BodyExt, Full};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::{Response, StatusCode};
use matchday_net::response::{json, unavailable, with_header};
use matchday_net::server::HttpResponse;
use matchday_store::redact::redact_tokens;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub(crate) struct Endpoints {
    pub(crate) telemetry: Telemetry,
    pub(crate) probe: Arc<dyn Probe>,
}

impl Endpoints {
    pub(crate) async fn metrics(&self) -> HttpResponse {
        metrics_response(&self.telemetry).await
    }

    pub(crate) async fn ready(&self) -> HttpResponse {
        readiness_response(probe::unready_reason(&*self.probe).await)
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
            unavailable(body.to_string().into_bytes(), 1)
        }
    };
    with_header(answer, CACHE_CONTROL, "no-store")
}
