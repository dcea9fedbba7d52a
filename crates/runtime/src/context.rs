//! What every part of one running agent can see.

use crate::clock::AgentClock;
use crate::decider::Decider;
use crate::inbox::Inbox;
use crate::log::{self, Header, emit};
use crate::quota::{ExchangeQuota, Full};
use crate::rules::ExternalRules;
use crate::telemetry::AgentTelemetry;
use crate::{LocalRoute, LocalRoutes};
use matchday_core::agent::DecodeHints;
use matchday_core::protocol::decode::{Conformance, Limits};
use matchday_core::protocol::{Endpoint, PlayerId, Sender};
use matchday_net::client::Client;
use matchday_store::Exchange;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tracing::{Dispatch, Level};

#[derive(Debug)]
pub(super) struct Context {
    pub(super) client: Client,
    pub(super) routes: LocalRoutes,
    /// Where it is called itself.
    pub(super) url: String,
    pub(super) clock: AgentClock,
    pub(super) inbox: Inbox,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) conformance: Conformance,
    pub(super) limits: Limits,
    pub(super) info: watch::Receiver<AgentInfo>,
    /// The subscriber of its log.
    pub(super) log: Dispatch,
    /// Its metrics and traces.
    pub(super) telemetry: AgentTelemetry,
    pub(super) quota: ExchangeQuota,
    pub(super) literal_peers: LiteralPeers,
    /// Counts the batches that have become durable.
    pub(super) changes: watch::Sender<u64>,
    pub(super) decider: Option<Arc<dyn Decider>>,
    pub(super) rules: Option<Arc<dyn ExternalRules>>,
}

impl Context {
    /// The way to another agent of this process, or to one that fetches its calls here. The egress policy does not apply to it.
    pub(super) fn local_route(&self, endpoint: &Endpoint) -> Option<LocalRoute> {
        self.routes
            .find(endpoint.raw())
            .filter(|_| endpoint.raw() != self.url)
    }

    pub(super) fn sender(&self) -> Sender {
        self.info.borrow().sender.clone()
    }

    /// Emits events to the agent's log, if anyone listens.
    pub(super) fn log(&self, emit: impl FnOnce()) {
        log::with(&self.log, emit);
    }

    /// Stores an exchange, for replay.
    pub(super) fn record(&self, exchange: impl FnOnce() -> Exchange) {
        if let Err(Full(bytes)) = self.quota.record(exchange) {
            let message = format!(
                "{bytes} bytes of messages are kept: others are no longer kept for replay, events are; for more, start again \
                 with a larger --exchanges-bytes-max"
            );
            self.log(|| {
                let sender = self.sender();
                emit!(
                    Level::WARN,
                    Header::new(self.clock.now(), &sender, "record_full"),
                    "{message}"
                );
            });
        }
    }
}

/// The peers that have refused a message for a key that we have added, and took it without: they are sent what the documents
/// print and no more. After a restart they are found out again, by one refused call each.
#[derive(Debug, Default)]
pub(super) struct LiteralPeers(Mutex<BTreeSet<Endpoint>>);

impl LiteralPeers {
    /// An agent that calls more is rare, and starts anew.
    const MOST: usize = 1000;

    pub(super) fn has(&self, endpoint: &Endpoint) -> bool {
        self.0.lock().is_ok_and(|peers| peers.contains(endpoint))
    }

    pub(super) fn insert(&self, endpoint: Endpoint) {
        if let Ok(mut peers) = self.0.lock() {
            if peers.len() >= Self::MOST {
                peers.clear();
            }
            peers.insert(endpoint);
        }
    }
}

/// What the agent has made known of itself. It changes when it is registered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentInfo {
    pub(super) sender: Sender,
    /// See [`DecodeHints::reads_about`].
    pub(super) about: Option<PlayerId>,
}

impl AgentInfo {
    pub(super) fn of<A: DecodeHints>(agent: &A) -> Self {
        Self {
            sender: agent.sender(),
            about: agent.reads_about().cloned(),
        }
    }
}
