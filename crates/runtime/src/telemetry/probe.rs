//! The gauges of each agent of a process, read on a scrape. An agent that does not answer in time is counted as silent, so
//! that it does not block the scrape.

use super::labels::Role;
use super::metrics::Metrics;
use matchday_core::metrics::Gauges;
use matchday_store::Store;
use std::fmt::Debug;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// An agent between two steps answers within microseconds; one that takes this long is stuck.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// Reads the state of a running agent.
pub(crate) trait Probe: Debug + Send + Sync {
    fn role(&self) -> Role;
    /// How many requests wait for the agent or for their reply.
    fn requests_waiting(&self) -> usize;
    /// `None` once it is closed and gone.
    fn store(&self) -> Option<Store>;
    /// The agent's gauges; an error if it has stopped.
    fn gauges(&self) -> oneshot::Receiver<Gauges>;
}

/// The state of an agent at a scrape.
#[derive(Debug)]
pub(super) struct AgentSnapshot {
    pub(super) role: Role,
    pub(super) requests_waiting: usize,
    /// `None` if it did not answer.
    pub(super) gauges: Option<Gauges>,
}

/// The state of all agents of a process at a scrape.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub(super) agents: Vec<AgentSnapshot>,
    /// Each once, though several agents may share it; a service's first, then the manager's.
    pub(super) stores: Vec<Store>,
}

impl Snapshot {
    pub(super) async fn take(metrics: &Metrics) -> Self {
        let probes = metrics.probes();
        let deadline = Instant::now() + PROBE_TIMEOUT;
        // All are asked before any is waited for.
        let asked: Vec<_> = probes.iter().map(|probe| (probe, probe.gauges())).collect();
        let mut snapshot = Self {
            stores: metrics.store().into_iter().collect(),
            ..Self::default()
        };
        let kept = snapshot.stores.len();
        for (probe, gauges) in asked {
            let gauges = timeout_at(deadline, gauges).await.ok().and_then(Result::ok);
            let requests_waiting = probe.requests_waiting();
            snapshot.agents.push(AgentSnapshot {
                role: probe.role(),
                requests_waiting,
                gauges,
            });
            if let Some(store) = probe.store()
                && !snapshot
                    .stores
                    .iter()
                    .any(|known| known.shares_file(&store))
            {
                let first = if probe.role() == Role::Manager {
                    kept
                } else {
                    snapshot.stores.len()
                };
                snapshot.stores.insert(first, store);
            }
        }
        snapshot
    }
}

/// Why an agent is not ready, in words for people; `None` if it is.
pub(super) async fn unready_reason(probe: &dyn Probe) -> Option<String> {
    let Some(store) = probe.store() else {
        return Some("it has stopped".to_owned());
    };
    if let Some(why) = store.failure_for_anyone() {
        return Some(why);
    }
    if store.unavailable().is_some() {
        return Some("its store is unavailable: its log says why".to_owned());
    }
    match timeout_at(Instant::now() + PROBE_TIMEOUT, probe.gauges()).await {
        Ok(Ok(gauges)) => gauges.lacks,
        Ok(Err(_)) => Some("it has stopped".to_owned()),
        Err(_) => Some("it has been busy with one thing for more than a second".to_owned()),
    }
}
