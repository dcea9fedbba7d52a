//! Signals of the operator.

use std::{future, io};

/// Ctrl-C.
#[derive(Debug)]
pub struct Termination(());

impl Termination {
    pub fn listen() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Returns when it was pressed.
    pub async fn recv(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            future::pending().await
        }
    }
}

/// There is no signal to read files again: the process has to be restarted.
#[derive(Debug)]
pub struct Reload(());

impl Reload {
    pub fn listen() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// None is ever received.
    pub async fn recv(&mut self) -> bool {
        false
    }
}
