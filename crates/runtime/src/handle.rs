//! The handle of a running agent: its address, a look inside, shutdown.

use crate::driver::Control;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// A running agent. Dropping it breaks the agent off, as a crash would.
pub struct Handle<A> {
    address: SocketAddr,
    control: mpsc::UnboundedSender<Control<A>>,
    /// Notified after each step of the agent.
    steps: Arc<Notify>,
    close: Arc<watch::Sender<bool>>,
    serving: JoinHandle<()>,
    driving: JoinHandle<Result<(), String>>,
    /// How the agent ended, once that was asked: a task can be joined only once.
    ended: Option<Result<(), Stopped>>,
}

/// Why an agent runs no more though nobody shut it down.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Stopped {
    #[error("{0}")]
    Store(String),
    #[error("the agent broke down: {0}")]
    Broken(String),
}

/// Looks at a running agent.
pub struct Inspector<A>(mpsc::UnboundedSender<Control<A>>);

impl<A> Clone for Inspector<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A> fmt::Debug for Inspector<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inspector")
    }
}

impl<A> Inspector<A> {
    /// Runs `look` on the agent, between two steps of it. `None` if the agent has stopped.
    pub async fn inspect<R: Send + 'static>(
        &self,
        look: impl FnOnce(&A) -> R + Send + 'static,
    ) -> Option<R> {
        let (tell, told) = oneshot::channel();
        let look = Box::new(move |agent: &A| {
            let _ = tell.send(look(agent));
        });
        self.0.send(Control::Inspect(look)).ok()?;
        told.await.ok()
    }
}

impl<A> Handle<A> {
    pub(super) fn new(
        address: SocketAddr,
        control: mpsc::UnboundedSender<Control<A>>,
        steps: Arc<Notify>,
        close: Arc<watch::Sender<bool>>,
        serving: JoinHandle<()>,
        driving: JoinHandle<Result<(), String>>,
    ) -> Self {
        Self {
            address,
            control,
            steps,
            close,
            serving,
            driving,
            ended: None,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs `look` on the agent, between two steps of it. `None` if the agent has stopped.
    pub async fn inspect<R: Send + 'static>(
        &self,
        look: impl FnOnce(&A) -> R + Send + 'static,
    ) -> Option<R> {
        self.inspector().inspect(look).await
    }

    /// What others look at it with.
    pub fn inspector(&self) -> Inspector<A> {
        Inspector(self.control.clone())
    }

    /// Looks at the agent, and again after each step of it, until `look` finds something. `None` if the agent has stopped.
    pub async fn wait_for<R: Send + 'static>(
        &self,
        look: impl Fn(&A) -> Option<R> + Clone + Send + 'static,
    ) -> Option<R> {
        loop {
            // Created before the look, so that it misses no step after it.
            let next_step = self.steps.notified();
            if let Some(found) = self.inspect(look.clone()).await? {
                return Some(found);
            }
            tokio::select! {
                () = next_step => {}
                () = self.control.closed() => return None,
            }
        }
    }

    /// Whether the agent has stopped by itself; [`Handle::stopped`] then says why.
    pub fn has_stopped(&self) -> bool {
        self.driving.is_finished()
    }

    /// Comes back when the agent has stopped by itself.
    pub async fn stopped(&mut self) -> Result<(), Stopped> {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let ended = match (&mut self.driving).await {
            Ok(outcome) => outcome.map_err(Stopped::Store),
            Err(error) => Err(Stopped::Broken(error.to_string())),
        };
        self.ended.insert(ended).clone()
    }

    /// Takes no more connections, answers what was asked already, stores what is not stored yet, and ends.
    pub async fn shutdown(mut self) -> Result<(), Stopped> {
        let _ = self.close.send(true);
        let _ = (&mut self.serving).await;
        let _ = self.control.send(Control::Stop);
        self.stopped().await
    }
}

impl<A> Drop for Handle<A> {
    fn drop(&mut self) {
        self.serving.abort();
        self.driving.abort();
    }
}

impl<A> fmt::Debug for Handle<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
