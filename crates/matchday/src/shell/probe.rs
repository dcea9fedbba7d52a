//! A running agent as it is watched from outside. Keeps nothing alive: an agent that has gone is gone.

use super::driver::{Control, Surroundings};
use crate::observe::{Probe, Role};
use crate::store::{Store, WeakStore};
use matchday_core::agent::Agent;
use matchday_core::census::Census;
use std::fmt;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc::{UnboundedSender, WeakUnboundedSender};
use tokio::sync::oneshot;

pub(super) struct AgentProbe<A> {
    role: Role,
    around: Weak<Surroundings>,
    control: WeakUnboundedSender<Control<A>>,
    store: WeakStore,
}

impl<A> AgentProbe<A> {
    pub(super) fn new(
        around: &Arc<Surroundings>,
        control: &UnboundedSender<Control<A>>,
        store: &Store,
    ) -> Self {
        Self {
            role: around.watch.role(),
            around: Arc::downgrade(around),
            control: control.downgrade(),
            store: store.downgrade(),
        }
    }
}

impl<A: Agent + Send + 'static> Probe for AgentProbe<A> {
    fn role(&self) -> Role {
        self.role
    }

    fn requests_waiting(&self) -> usize {
        self.around.upgrade().map_or(0, |around| around.inbox.waiting())
    }

    fn store(&self) -> Option<Store> {
        self.store.upgrade()
    }

    fn census(&self) -> oneshot::Receiver<Census> {
        let (tell, told) = oneshot::channel();
        if let Some(control) = self.control.upgrade() {
            let look = Box::new(move |agent: &A| {
                let _ = tell.send(agent.census());
            });
            let _ = control.send(Control::Inspect(look));
        }
        told
    }
}

impl<A> fmt::Debug for AgentProbe<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentProbe").field("role", &self.role).finish_non_exhaustive()
    }
}
