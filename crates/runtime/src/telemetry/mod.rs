//! What an operator sees of a running process: metrics for Prometheus, readiness, and traces by OpenTelemetry. Reads
//! `/proc/self`, and sends traces where a setting says.
//!
//! - `labels`: the closed sets of label values; `counters`: a table of them
//! - `league_counters`: exchanges by league; `metrics`: the metrics of one process; `relay`: those of agents that dial out; `cluster`: of services that share a store; `service`: of its leagues; `computations`: of what it computes for readers; `agent`: one
//!   agent's metrics and traces
//! - `probe`: the gauges of each agent, read on a scrape; `process`: the metrics of the process itself
//! - `metrics_page`, `exposition`: the text that Prometheus reads; `endpoints`: `/metrics` and `/health/ready`
//! - `trace`: one match is one trace, across all processes

mod agent;
mod cluster;
mod computations;
mod counters;
mod endpoints;
mod exposition;
mod labels;
mod league_counters;
mod metrics;
mod metrics_page;
mod probe;
mod process;
mod relay;
mod service;
pub mod trace;

pub use agent::AgentTelemetry;
pub(crate) use agent::FinishedExchange;
pub use cluster::ClusterMetrics;
pub use computations::ComputationMetrics;
pub(crate) use endpoints::Endpoints;
pub use endpoints::{metrics_response, readiness_response};
pub(crate) use labels::{CHECKPOINT, Role};
pub(crate) use metrics::LOG_LINES_DROPPED;
pub use metrics::Metrics;
pub(crate) use probe::Probe;
pub use relay::RelayMetrics;
pub use service::ServiceMetrics;

use league_counters::LeagueCounters;
use matchday_core::protocol::LeagueId;
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
    /// The league of the agents, where a process has several.
    league: Option<AgentLeague>,
}

#[derive(Debug, Clone)]
struct AgentLeague {
    id: LeagueId,
    counters: Arc<LeagueCounters>,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self::new(Metrics::new(), true, None)
    }
}

impl Telemetry {
    pub fn new(metrics: Arc<Metrics>, metrics_shown: bool, traces: Option<Exporter>) -> Self {
        Self {
            metrics,
            metrics_shown,
            traces,
            league: None,
        }
    }

    /// The same, for the agents of one of several leagues.
    pub fn of_league(&self, id: &LeagueId) -> Self {
        let league = AgentLeague {
            id: id.clone(),
            counters: self.metrics.leagues.counters(id),
        };
        Self {
            league: Some(league),
            ..self.clone()
        }
    }

    /// Sends the traces that still wait to be sent, within a moment.
    pub async fn flush(&self) {
        if let Some(traces) = &self.traces {
            traces.flush().await;
        }
    }
}
