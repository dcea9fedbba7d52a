//! Several services over one store. Each league has one owner; any service answers for any league, by forwarding requests to its
//! owner. The service's own log is owned as league number 0.
//!
//! # Layout
//! - `ownership`: takes leagues, hands them over, and drops those that are lost; `registry_follow`: reads what the owner of
//!   number 0 records
//! - `routing`: who owns a league; `forward`: holds and forwards requests; `headers`: what a forwarded request carries
//! - `peer_http`: the socket at which the other services call; `peer_call`: what they ask for themselves; `status`: `/api/cluster`

mod forward;
mod headers;
mod ownership;
mod peer_call;
mod peer_http;
mod registry_follow;
mod routing;
mod status;

pub(super) use forward::{EdgeResponse, HeldBodies, here, unavailable};
pub(super) use peer_call::PeerCall;
pub(super) use peer_http::answer as answer_peer;

use super::lock;
use anyhow::{Context, Result, anyhow};
use matchday_net::client::Client;
use matchday_net::tls::{PeerIdentity, ServerTls, TrustedPeers};
use matchday_runtime::telemetry::ClusterMetrics;
use matchday_store::StoreError;
use matchday_store::ownership::{Ownership, Process};
use routing::{CachedRoute, Peer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// What a service that shares its store is started with.
#[derive(Debug)]
pub struct PeerSettings {
    pub ownership: Arc<dyn Ownership>,
    pub identity: PeerIdentity,
    /// Where the other services call.
    pub listener: TcpListener,
}

/// This service among the others.
pub(super) struct Cluster {
    ownership: Arc<dyn Ownership>,
    client: Client,
    trusted: TrustedPeers,
    pub(super) tls: ServerTls,
    /// The socket for the other services, until it is served.
    pub(super) listener: Mutex<Option<TcpListener>>,
    /// How this service reaches its own peer socket.
    own: Arc<Peer>,
    /// The leagues that this process owns and has not begun to hand over.
    owned: Mutex<BTreeSet<u32>>,
    routes: Mutex<BTreeMap<u32, CachedRoute>>,
    /// Held by the one who asks the store for an owner, so that requests for one league ask once.
    looking_up: tokio::sync::Mutex<()>,
    /// The other services, by the id of their process.
    peers: Mutex<BTreeMap<String, Arc<Peer>>>,
    /// Wakes the task that takes leagues.
    look_now: Notify,
    metrics: Arc<ClusterMetrics>,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("process", self.ownership.process())
            .finish_non_exhaustive()
    }
}

impl Cluster {
    pub(super) fn new(settings: PeerSettings, metrics: Arc<ClusterMetrics>) -> Result<Self> {
        let PeerSettings {
            ownership,
            identity,
            listener,
        } = settings;
        let trusted = TrustedPeers::default();
        trusted.set([identity.certificate().to_vec()]);
        let tls = identity.server(&trusted).map_err(|why| anyhow!(why))?;
        let client = Client::with_tls(identity.client(&trusted).map_err(|why| anyhow!(why))?);
        let mut address: SocketAddr = listener.local_addr()?;
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Ok(Self {
            own: Peer::at(format!("https://{address}")),
            ownership,
            client,
            trusted,
            tls,
            listener: Mutex::new(Some(listener)),
            owned: Mutex::default(),
            routes: Mutex::default(),
            looking_up: tokio::sync::Mutex::default(),
            peers: Mutex::default(),
            look_now: Notify::new(),
            metrics,
        })
    }

    /// Whether this process owns the league, and may answer for it now.
    pub(super) fn owns(&self, number: u32) -> bool {
        !self.ownership.lease_left().is_zero() && lock(&self.owned).contains(&number)
    }

    pub(super) fn process(&self) -> &Process {
        self.ownership.process()
    }

    /// Asks the store, which blocks.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Ownership) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T> {
        let ownership = Arc::clone(&self.ownership);
        let asked = tokio::task::spawn_blocking(move || question(&*ownership)).await;
        Ok(asked.context("the store could not be asked")??)
    }
}
