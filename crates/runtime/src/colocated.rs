//! Colocated agents: they share one process and one store, and talk to each other.
//!
//! Their batches are stored in the order in which they were appended, of whichever agent. So a crash that loses a batch of
//! one of them also loses whatever another did since it heard of it: among themselves they need not wait until a batch is
//! durable, only until it is in that order. Any other peer would remember, and hears of a batch when it is durable together
//! with all that were appended before it.

use matchday_core::driver::IsColocated;
use matchday_core::protocol::Endpoint;
use matchday_net::client::Client;
use matchday_store::{Store, WeakStore};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

/// The agents that share a store. Copies are the same set.
#[derive(Debug, Clone)]
pub struct Colocated {
    inner: Arc<Inner>,
    client: Client,
}

#[derive(Debug)]
struct Inner {
    store: WeakStore,
    urls: RwLock<HashSet<Box<str>>>,
    local: Option<LocalAddress>,
}

/// Where this process is reached from within, if others reach it elsewhere.
#[derive(Debug)]
struct LocalAddress {
    public: String,
    local: String,
    client: Client,
}

/// Makes an agent one of them for as long as it runs.
#[derive(Debug)]
pub(super) struct Membership {
    colocated: Colocated,
    url: Box<str>,
}

impl Colocated {
    /// The agents that write to `store`. They call with `client`, and are known by it: nobody else may have it.
    pub fn of(store: &Store, client: Client) -> Self {
        let inner = Inner { store: store.downgrade(), urls: RwLock::default(), local: None };
        Self { inner: Arc::new(inner), client }
    }

    /// Those that are called beneath `public` by others and beneath `local` by each other. A call between them may rest on what is
    /// not durable yet, so it must never reach another process, as it could by way of a load balancer. `client` must be derived
    /// from theirs.
    pub fn within(store: &Store, client: Client, public: &str, local: &str, local_client: Client) -> Self {
        let local = LocalAddress { public: public.to_owned(), local: local.to_owned(), client: local_client };
        let inner = Inner { store: store.downgrade(), urls: RwLock::default(), local: Some(local) };
        Self { inner: Arc::new(inner), client }
    }

    /// How one of them calls another: where, and with which client.
    pub(super) fn local_route(&self, url: &str) -> Option<(String, &Client)> {
        let LocalAddress { public, local, client } = self.inner.local.as_ref()?;
        let rest = url.strip_prefix(public.as_str())?;
        let urls = self.inner.urls.read().unwrap_or_else(PoisonError::into_inner);
        urls.contains(url).then(|| (format!("{local}{rest}"), client))
    }

    /// The same set, for one of them that calls under another egress policy. `client` must be derived from theirs.
    pub fn calling_with(&self, client: Client) -> Self {
        Self { inner: Arc::clone(&self.inner), client }
    }

    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(super) fn shares(&self, store: &Store) -> bool {
        self.inner.store.upgrade().is_some_and(|ours| ours.is_same(store))
    }

    /// Adds the URL of an agent that starts after others that may call it at once.
    pub fn expect(&self, url: &str) {
        self.inner.urls.write().unwrap_or_else(PoisonError::into_inner).insert(url.into());
    }

    /// An agent that is called at this URL.
    pub(super) fn join(&self, url: &str) -> Membership {
        self.expect(url);
        Membership { colocated: self.clone(), url: url.into() }
    }

    /// How the driver of one of them knows the others.
    pub(super) fn is_colocated(&self) -> IsColocated {
        let inner = Arc::clone(&self.inner);
        Arc::new(move |endpoint: &Endpoint| {
            inner.urls.read().unwrap_or_else(PoisonError::into_inner).contains(endpoint.raw())
        })
    }

    /// Whether it is one of them that calls `port` from there.
    pub fn is_caller(&self, port: u16, from: SocketAddr) -> bool {
        self.client.is_local_socket(from, port)
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.colocated.inner.urls.write().unwrap_or_else(PoisonError::into_inner).remove(&self.url);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_is_expected_is_called_within_the_process_before_it_runs() {
        let (public, local, client) = ("https://example.org/l/a", "http://127.0.0.1:1/l/a", Client::new());
        let colocated =
            Colocated::within(&Store::in_memory().unwrap(), client.clone(), public, local, client);
        let referee = format!("{public}/referees/1/mcp");
        assert!(colocated.local_route(&referee).is_none());
        colocated.expect(&referee);
        let url = colocated.local_route(&referee).map(|(url, _)| url);
        assert_eq!(url.as_deref(), Some("http://127.0.0.1:1/l/a/referees/1/mcp"));
    }
}
