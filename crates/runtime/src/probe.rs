//! Reads the gauges of a running agent. Holds weak references only, so that it keeps no agent alive.

use crate::context::Context;
use crate::driver::Control;
use crate::telemetry::{Probe, Role};
use matchday_core::metrics::{Gauges, Metrics};
use matchday_store::{Store, WeakStore};
use std::fmt;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc::{UnboundedSender, WeakUnboundedSender};
use tokio::sync::oneshot;

pub(super) struct AgentProbe<A> {
    role: Role,
    context: Weak<Context>,
    control: WeakUnboundedSender<Control<A>>,
    store: WeakStore,
}

impl<A> AgentProbe<A> {
    pub(super) fn new(
        context: &Arc<Context>,
        control: &UnboundedSender<Control<A>>,
        store: &Store,
    ) -> Self {
        Self {
            role: context.telemetry.role(),
            context: Arc::downgrade(context),
            control: control.downgrade(),
            store: store.downgrade(),
        }
    }
}

impl<A: Metrics + Send + 'static> Probe for AgentProbe<A> {
    fn role(&self) -> Role {
        self.role
    }

    fn requests_waiting(&self) -> usize {
        self.context
            .upgrade()
            .map_or(0, |context| context.inbox.waiting())
    }

    fn store(&self) -> Option<Store> {
        self.store.upgrade()
    }

    fn gauges(&self) -> oneshot::Receiver<Gauges> {
        let (sender, receiver) = oneshot::channel();
        if let Some(control) = self.control.upgrade() {
            let look = Box::new(move |agent: &A| {
                let _ = sender.send(agent.gauges());
            });
            let _ = control.send(Control::Inspect(look));
        }
        receiver
    }
}

impl<A> fmt::Debug for AgentProbe<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentProbe")
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}
