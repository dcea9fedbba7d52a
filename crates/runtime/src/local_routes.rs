//! The agents of one process, by the endpoints at which they are called: they call each other here, without a connection. What
//! goes to a mailbox of their own relay takes the same way.
//!
//! Agents that share a store are colocated: their batches are stored in the order in which they were appended, of whichever
//! agent. So a crash that loses a batch of one of them also loses whatever another did since it heard of it: among themselves
//! they need not wait until a batch is durable, only until it is in that order. Any other peer would remember, and hears of a
//! batch when it is durable together with all that were appended before it.

use bytes::Bytes;
use matchday_core::driver::IsColocated;
use matchday_core::protocol::Endpoint;
use matchday_net::client::CompletedCall;
use matchday_store::{Store, WeakStore};
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use tokio::sync::SetOnce;
use tokio::time::Instant;

/// `I` is the intake of an agent. Copies are the same routes.
pub struct Routes<I>(Arc<Inner<I>>);

struct Inner<I> {
    agents: RwLock<Agents<I>>,
    mailboxes: OnceLock<Arc<dyn Mailboxes>>,
}

type Agents<I> = HashMap<Box<str>, Arc<SetOnce<LocalAgent<I>>>>;

/// An agent of this process. What has a route to it does not keep it alive.
pub(super) struct LocalAgent<I> {
    intake: Weak<I>,
    store: WeakStore,
}

impl<I> Clone for Routes<I> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<I> Default for Routes<I> {
    fn default() -> Self {
        Self(Arc::new(Inner {
            agents: RwLock::default(),
            mailboxes: OnceLock::new(),
        }))
    }
}

/// Where a call goes that stays in this process.
pub(super) enum Route<I> {
    /// Not set yet for an agent that is expected.
    Agent(Arc<SetOnce<LocalAgent<I>>>),
    Mailbox(Arc<dyn Mailboxes>),
}

/// Endpoints in this process behind which there are agents elsewhere, which fetch their calls.
pub trait Mailboxes: fmt::Debug + Send + Sync {
    fn has(&self, url: &str) -> bool;

    /// Whether the agent reads its mailbox.
    fn is_connected(&self, url: &str) -> bool;

    /// Posts `body`. The answer is in time if it arrived at this process by the deadline.
    fn call<'a>(
        &'a self,
        url: &'a str,
        body: Bytes,
        deadline: Instant,
        bytes_max: usize,
    ) -> Pin<Box<dyn Future<Output = CompletedCall> + Send + 'a>>;
}

/// Has an agent called here for as long as it runs.
pub(super) struct Membership<I> {
    routes: Routes<I>,
    url: Box<str>,
    agent: Arc<SetOnce<LocalAgent<I>>>,
}

impl<I> Routes<I> {
    fn agents(&self) -> RwLockReadGuard<'_, Agents<I>> {
        self.0.agents.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn agents_mut(&self) -> RwLockWriteGuard<'_, Agents<I>> {
        self.0
            .agents
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls to this URL wait for the agent that is about to start there.
    pub fn expect(&self, url: &str) {
        self.agents_mut().entry(url.into()).or_default();
    }

    /// Calls to mailboxes stay in the process, too. They are set once.
    pub fn serve_mailboxes(&self, mailboxes: Arc<dyn Mailboxes>) {
        let _ = self.0.mailboxes.set(mailboxes);
    }

    /// The agent that is called at this URL, if it is one of this process.
    pub async fn agent(&self, url: &str) -> Option<Arc<I>> {
        let agent = self.agents().get(url).cloned()?;
        agent.wait().await.intake.upgrade()
    }

    pub(super) fn join(&self, url: &str, intake: &Arc<I>, store: &Store) -> Membership<I> {
        let own = || LocalAgent {
            intake: Arc::downgrade(intake),
            store: store.downgrade(),
        };
        let mut agents = self.agents_mut();
        let mut agent = Arc::clone(agents.entry(url.into()).or_default());
        if agent.set(own()).is_err() {
            // Another was called here before, and has not gone yet.
            agent = Arc::new(SetOnce::new_with(Some(own())));
            agents.insert(url.into(), Arc::clone(&agent));
        }
        drop(agents);
        Membership {
            routes: self.clone(),
            url: url.into(),
            agent,
        }
    }

    pub(super) fn find(&self, url: &str) -> Option<Route<I>> {
        // An agent that dials out is called through its mailbox, wherever it runs.
        match self
            .0
            .mailboxes
            .get()
            .filter(|mailboxes| mailboxes.has(url))
        {
            Some(mailboxes) => Some(Route::Mailbox(Arc::clone(mailboxes))),
            None => self.agents().get(url).cloned().map(Route::Agent),
        }
    }

    /// How the driver of an agent with this store knows those that share it.
    pub(super) fn is_colocated(&self, store: &Store) -> IsColocated
    where
        I: Send + Sync + 'static,
    {
        let routes = self.clone();
        let store = store.downgrade();
        Arc::new(move |endpoint: &Endpoint| {
            let Some(Route::Agent(agent)) = routes.find(endpoint.raw()) else {
                return false;
            };
            agent.get().is_some_and(|agent| agent.shares(&store))
        })
    }
}

impl<I> LocalAgent<I> {
    pub(super) fn intake(&self) -> Option<Arc<I>> {
        self.intake.upgrade()
    }

    pub(super) fn shares(&self, store: &WeakStore) -> bool {
        let both = self.store.upgrade().zip(store.upgrade());
        both.is_some_and(|(own, other)| own.is_same(&other))
    }
}

impl<I> Drop for Membership<I> {
    fn drop(&mut self) {
        let mut agents = self.routes.agents_mut();
        if agents
            .get(&self.url)
            .is_some_and(|agent| Arc::ptr_eq(agent, &self.agent))
        {
            agents.remove(&self.url);
        }
    }
}

impl<I> fmt::Debug for Routes<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.agents().keys()).finish()
    }
}
