//! Signals of the operator.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C and SIGTERM, from the moment it is made.
#[derive(Debug)]
pub struct Termination {
    interrupt: Signal,
    terminate: Signal,
}

impl Termination {
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Returns when one of them has been received.
    pub async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// SIGHUP: read files again.
#[derive(Debug)]
pub struct Reload(Signal);

impl Reload {
    pub fn listen() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::hangup())?))
    }

    /// Whether one was received; otherwise there will be none any more.
    pub async fn recv(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}
