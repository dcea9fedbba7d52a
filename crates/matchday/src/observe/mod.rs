//! What an operator sees of a running process: figures for Prometheus, readiness, and traces by OpenTelemetry. Reads
//! `/proc/self`, and sends traces where a setting says; everything else is told to it.
//!
//! - `labels`: the words by which things are counted, of which there are only so many; `cells`: what they are counted in
//! - `metrics`: all figures of one process; `watch`: one agent's way to them, and to its traces
//! - `probe`: how each agent stands, asked when someone looks; `process`: what the system counts
//! - `page`, `exposition`: the figures as Prometheus reads them; `answer`: `/metrics` and `/health/ready`
//! - `trace`: one match is one trace, across all processes

mod answer;
mod cells;
mod exposition;
mod labels;
mod metrics;
mod page;
mod probe;
mod process;
pub mod trace;
mod watch;

pub(crate) use answer::{Vitals, figures, is_asked, readiness};
pub(crate) use cells::Histogram;
pub(crate) use labels::Role;
pub(crate) use metrics::LOG_LINES_DROPPED;
pub use metrics::Metrics;
pub(crate) use probe::Probe;
pub(crate) use watch::{Answered, Watch};

use std::sync::Arc;
use trace::Exporter;

/// What can be seen of a process. Its agents share it.
#[derive(Debug, Clone)]
pub struct Observed {
    pub metrics: Arc<Metrics>,
    /// Whether `/metrics` shows them.
    pub metrics_shown: bool,
    /// Where traces go, if anywhere.
    pub traces: Option<Exporter>,
}

impl Default for Observed {
    fn default() -> Self {
        Self { metrics: Metrics::new(), metrics_shown: true, traces: None }
    }
}

impl Observed {
    /// Sends the traces that still wait to be sent, within a moment.
    pub async fn flush(&self) {
        if let Some(traces) = &self.traces {
            traces.flush().await;
        }
    }
}
