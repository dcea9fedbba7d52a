//! How each agent of a process stands, asked when someone looks. An agent that does not answer is counted as silent, and
//! holds nobody up.

use super::labels::Role;
use super::metrics::Metrics;
use crate::store::Store;
use matchday_core::census::Census;
use std::fmt::Debug;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// An agent between two steps answers within microseconds; one that takes this long is stuck.
const PATIENCE: Duration = Duration::from_secs(1);

/// A running agent, as far as it can be watched from outside.
pub(crate) trait Probe: Debug + Send + Sync {
    fn role(&self) -> Role;
    /// How many requests wait for the agent or for their reply.
    fn requests_waiting(&self) -> usize;
    /// `None` once it is closed and gone.
    fn store(&self) -> Option<Store>;
    /// How the agent stands; an error in the end if it has stopped.
    fn census(&self) -> oneshot::Receiver<Census>;
}

/// What was seen of an agent.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) role: Role,
    pub(super) requests_waiting: usize,
    /// `None` if it did not answer.
    pub(super) census: Option<Census>,
}

/// What was seen of a process.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) agents: Vec<Seen>,
    /// Each once, though several agents may share it; the manager's first.
    pub(super) stores: Vec<Store>,
}

impl Look {
    pub(super) async fn at(metrics: &Metrics) -> Self {
        let probes = metrics.probes();
        let deadline = Instant::now() + PATIENCE;
        // All are asked before any is waited for.
        let asked: Vec<_> = probes.iter().map(|probe| (probe, probe.census())).collect();
        let mut look = Self::default();
        for (probe, census) in asked {
            let census = timeout_at(deadline, census).await.ok().and_then(Result::ok);
            let requests_waiting = probe.requests_waiting();
            look.agents.push(Seen { role: probe.role(), requests_waiting, census });
            if let Some(store) = probe.store()
                && !look.stores.iter().any(|known| known.is_same(&store))
            {
                let first = if probe.role() == Role::Manager { 0 } else { look.stores.len() };
                look.stores.insert(first, store);
            }
        }
        look
    }
}

/// Why an agent cannot do its work, in words for people; `None` if it can.
pub(super) async fn lacks(probe: &dyn Probe) -> Option<String> {
    let Some(store) = probe.store() else { return Some("it has stopped".to_owned()) };
    if let Some(trouble) = store.trouble() {
        return Some(trouble);
    }
    match timeout_at(Instant::now() + PATIENCE, probe.census()).await {
        Ok(Ok(census)) => census.lacks,
        Ok(Err(_)) => Some("it has stopped".to_owned()),
        Err(_) => Some("it has been busy with one thing for more than a second".to_owned()),
    }
}
