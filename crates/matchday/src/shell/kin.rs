//! Agents of one process that write to one store, and talk to each other.
//!
//! What is put in line there is stored in that order, whoever it is of. So a crash that takes back a step of one of them
//! takes back, too, whatever another did since it heard of it: among themselves they need not wait until a step is stored,
//! only until it is in line. Whoever is not kin would remember, and hears of a step when it is durable together with all
//! that were in line before it.

use crate::net::client::Client;
use crate::store::{Store, WeakStore};
use matchday_core::protocol::Endpoint;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

/// Copies are the same kin.
#[derive(Debug, Clone)]
pub struct Kin(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: WeakStore,
    client: Client,
    homes: RwLock<HashSet<Box<str>>>,
}

/// A place among kin, for as long as the agent there runs.
#[derive(Debug)]
pub(super) struct Home {
    kin: Kin,
    url: Box<str>,
}

impl Kin {
    /// All who write to `store`. They call with `client`, and by that they are known: nobody else may have it.
    pub fn of(store: &Store, client: Client) -> Self {
        Self(Arc::new(Inner { store: store.downgrade(), client, homes: RwLock::default() }))
    }

    pub(super) fn client(&self) -> Client {
        self.0.client.clone()
    }

    pub(super) fn is_of(&self, store: &Store) -> bool {
        self.0.store.upgrade().is_some_and(|ours| ours.is_same(store))
    }

    /// Whoever is called there from now on is kin.
    pub(super) fn settle(&self, url: &str) -> Home {
        self.homes(|homes| homes.insert(url.into()));
        Home { kin: self.clone(), url: url.into() }
    }

    pub(super) fn lives_at(&self, endpoint: &Endpoint) -> bool {
        self.0.homes.read().unwrap_or_else(PoisonError::into_inner).contains(endpoint.raw())
    }

    pub(super) fn calls(&self, port: u16, from: SocketAddr) -> bool {
        self.0.client.is_caller(from, port)
    }

    fn homes(&self, change: impl FnOnce(&mut HashSet<Box<str>>) -> bool) {
        change(&mut self.0.homes.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.kin.homes(|homes| homes.remove(&self.url));
    }
}
