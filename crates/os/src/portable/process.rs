//! Other processes, and this one.

use std::io;
use std::time::Duration;
use tokio::process::Command;

#[cfg(windows)]
const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

/// On Windows, starts the program as the leader of a process group of its own, so that Ctrl-C in this window does not reach it.
pub fn lead_group(command: &mut Command) {
    #[cfg(windows)]
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    #[cfg(not(windows))]
    let _ = command;
}

/// A process of which tokio kills the leader alone: what the leader has started outlives it.
#[derive(Debug)]
pub struct ProcessGroup;

impl ProcessGroup {
    pub fn of(_: u32) -> Option<Self> {
        Some(Self)
    }
}

/// Does nothing.
pub fn kill_group(_: u32) {}

/// Not known.
pub fn group_rss_bytes(_: u32) -> Option<u64> {
    None
}

/// There is no portable way to ask a process to end.
pub fn terminate(_: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not known.
pub fn cpu_time(_: u32) -> Option<Duration> {
    None
}

/// Not known.
pub fn rss_bytes(_: u32) -> Option<u64> {
    None
}

/// Not known.
pub fn pss_bytes(_: u32) -> Option<u64> {
    None
}

/// What the system counts of this process; `None` where it does not.
#[derive(Debug, Clone, Copy, Default)]
pub struct SelfStats {
    pub cpu_seconds: Option<f64>,
    pub rss_bytes: Option<u64>,
    pub virtual_bytes: Option<u64>,
    pub open_fds: Option<usize>,
}

/// Nothing is known.
pub fn self_stats() -> SelfStats {
    SelfStats::default()
}
