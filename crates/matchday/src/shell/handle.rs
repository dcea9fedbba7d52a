//! What whoever started an agent holds of it: its address, a look inside, and the switch.

use super::driver::Control;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// A running agent. Dropping it breaks the agent off, as a crash would.
pub struct Handle<A> {
    address: SocketAddr,
    control: mpsc::UnboundedSender<Control<A>>,
    close: Arc<watch::Sender<bool>>,
    serving: JoinHandle<()>,
    driving: JoinHandle<Result<(), String>>,
    /// How the agent ended, once somebody has asked: a task tells it only once.
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

impl<A> Handle<A> {
    pub(super) fn new(
        address: SocketAddr,
        control: mpsc::UnboundedSender<Control<A>>,
        close: Arc<watch::Sender<bool>>,
        serving: JoinHandle<()>,
        driving: JoinHandle<Result<(), String>>,
    ) -> Self {
        Self { address, control, close, serving, driving, ended: None }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs `look` on the agent, between two steps of it. `None` if the agent has stopped.
    pub async fn inspect<R: Send + 'static>(&self, look: impl FnOnce(&A) -> R + Send + 'static) -> Option<R> {
        let (tell, told) = oneshot::channel();
        let look = Box::new(move |agent: &A| {
            let _ = tell.send(look(agent));
        });
        self.control.send(Control::Inspect(look)).ok()?;
        told.await.ok()
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
        f.debug_struct("Handle").field("address", &self.address).finish_non_exhaustive()
    }
}
