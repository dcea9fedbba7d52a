//! Signals of the operator.

use std::io;
#[cfg(windows)]
use tokio::signal::windows;

/// Ctrl-C and Ctrl-Break, and that the window is closed, the user leaves or the machine shuts down. Windows gives a process a few
/// seconds to end in after the last three.
#[cfg(windows)]
#[derive(Debug)]
pub struct Termination {
    ctrl_c: windows::CtrlC,
    ctrl_break: windows::CtrlBreak,
    close: windows::CtrlClose,
    logoff: windows::CtrlLogoff,
    shutdown: windows::CtrlShutdown,
}

#[cfg(windows)]
impl Termination {
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            ctrl_c: windows::ctrl_c()?,
            ctrl_break: windows::ctrl_break()?,
            close: windows::ctrl_close()?,
            logoff: windows::ctrl_logoff()?,
            shutdown: windows::ctrl_shutdown()?,
        })
    }

    pub async fn recv(&mut self) {
        tokio::select! {
            _ = self.ctrl_c.recv() => {}
            _ = self.ctrl_break.recv() => {}
            _ = self.close.recv() => {}
            _ = self.logoff.recv() => {}
            _ = self.shutdown.recv() => {}
        }
    }
}

/// Ctrl-C.
#[cfg(not(windows))]
#[derive(Debug)]
pub struct Termination(());

#[cfg(not(windows))]
impl Termination {
    pub fn listen() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Returns when it was pressed.
    pub async fn recv(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
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
