//! Who owns a league, as this process knows it: the store is asked at most once a second for each.

use super::Cluster;
use crate::service::lock;
use matchday_store::ownership::{Member, Owner, Process};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long an answer of the store counts. An owner that is wrong says so itself.
const OWNER_KNOWN_FOR: Duration = Duration::from_secs(1);
const NOBODY_KNOWN_FOR: Duration = Duration::from_millis(100);

/// Another service.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) url: String,
    /// Turns true when its lease has expired: nothing that was asked of it is waited for any more.
    gone: watch::Sender<bool>,
}

impl Peer {
    pub(super) fn at(url: String) -> Arc<Self> {
        Arc::new(Self {
            url: url.trim_end_matches('/').to_owned(),
            gone: watch::Sender::new(false),
        })
    }

    /// Returns when its lease has expired.
    pub(super) fn gone(self: &Arc<Self>) -> impl Future<Output = ()> + Send + 'static {
        let mut gone = self.gone.subscribe();
        async move {
            // Nobody drops the sender of a peer that can be asked for.
            if gone.wait_for(|&gone| gone).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Route {
    Own,
    Other(Arc<Peer>),
    /// It changes hands, or its owner's lease has expired.
    Nobody,
}

#[derive(Debug)]
pub(super) struct CachedRoute {
    route: Route,
    at: Instant,
}

impl CachedRoute {
    fn is_fresh(&self) -> bool {
        let known_for = match self.route {
            Route::Other(_) => OWNER_KNOWN_FOR,
            Route::Own | Route::Nobody => NOBODY_KNOWN_FOR,
        };
        self.at.elapsed() < known_for
    }
}

impl Cluster {
    pub(super) async fn route(&self, number: u32) -> Route {
        if let Some(known) = self.known_route(number) {
            return known;
        }
        let _one = self.looking_up.lock().await;
        if let Some(known) = self.known_route(number) {
            return known;
        }
        let route = match self.ask(move |ownership| ownership.owner(number)).await {
            Ok(Owner::Other(process)) => Route::Other(self.peer(&process)),
            // One that this process owns and has not taken note of yet is held until it has.
            Ok(Owner::Own { .. } | Owner::Nobody | Owner::NoLeague) | Err(_) => Route::Nobody,
        };
        lock(&self.routes).insert(
            number,
            CachedRoute {
                route: route.clone(),
                at: Instant::now(),
            },
        );
        route
    }

    fn known_route(&self, number: u32) -> Option<Route> {
        if self.owns(number) {
            return Some(Route::Own);
        }
        let routes = lock(&self.routes);
        routes
            .get(&number)
            .filter(|known| known.is_fresh())
            .map(|known| known.route.clone())
    }

    /// The owner did not answer, or was none.
    pub(super) fn forget_route(&self, number: u32) {
        lock(&self.routes).remove(&number);
    }

    fn peer(&self, process: &Process) -> Arc<Peer> {
        let mut peers = lock(&self.peers);
        Arc::clone(
            peers
                .entry(process.id.clone())
                .or_insert_with(|| Peer::at(process.url.clone())),
        )
    }

    /// Trusts the live services and no others, and gives up those whose lease has expired.
    pub(super) fn note_members(&self, members: &[Member]) {
        let live = || members.iter().filter(|member| !member.lease_left.is_zero());
        let own = self.process();
        self.trusted.set(
            live()
                .map(|member| member.process.certificate.clone())
                .chain([own.certificate.clone()]),
        );
        let mut peers = lock(&self.peers);
        peers.retain(|id, peer| {
            let is_live = live().any(|member| member.process.id == *id);
            if !is_live {
                peer.gone.send_replace(true);
            }
            is_live
        });
        lock(&self.routes).retain(|_, known| known.is_fresh());
    }

    /// Every other live service.
    pub(super) fn others(&self, members: &[Member]) -> Vec<Arc<Peer>> {
        let own = &self.process().id;
        let live = members
            .iter()
            .filter(|member| !member.lease_left.is_zero() && member.process.id != *own);
        live.map(|member| self.peer(&member.process)).collect()
    }
}
