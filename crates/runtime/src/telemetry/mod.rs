//! What an operator sees of a running process: metrics for Prometheus, readiness, and traces by OpenTelemetry. Reads
//! `/proc/self`, and sends traces where a setting says.
//!
//! - `labels`: the closed sets of label values; `instruments`: counters and histograms
//! - `metrics`: the metrics of one process; `relay`: those of agents that dial out; `agent`: one agent's metrics and traces
//! - `probe`: the gauges of each agent, read on a scrape; `process`: the metrics of the process itself
//! - `metrics_page`, `exposition`: the text that Prometheus reads; `endpoints`: `/metrics` and `/health/ready`
//! - `trace`: one match is one trace, across all processes

mod agent;
mod endpoints;
mod exposition;
mod instruments;
mod labels;
mod metrics;
mod metrics_page;
mod probe;
mod process;
mod relay;
pub mod trace;

pub use agent::AgentTelemetry;
pub(crate) use agent::FinishedExchange;
pub(crate) use endpoints::{Endpoints, serves};
pub use endpoints::{metrics_response, readiness_response};
pub(crate) use labels::Role;
pub(crate) use metrics::LOG_LINES_DROPPED;
pub use metrics::Metrics;
pub(crate) use probe::Probe;
pub use relay::RelayMetrics;

use std::sync::Arc;
use trace::Exporter;

/// The metrics and traces of a process. Its agents share it.
#[derive(Debug, Clone)]
pub struct Telemetry {
    pub metrics: Arc<Metrics>,
    /// Whether `/metrics` shows them.
    pub metrics_shown: bool,
    /// Where traces go, if anywhere.
    pub traces: Option<Exporter>,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { metrics: Metrics::new(), metrics_shown: true, traces: None }
    }
}

impl Telemetry {
    /// Sends the traces that still wait to be sent, within a moment.
    pub async fn flush(&self) {
        if let Some(traces) = &self.traces {
            traces.flush().await;
        }
    }
}
