//! Programs of others, on Linux: they cannot read this process, and end when it does.

use rustix::process::{
    DumpableBehavior, Signal, getppid, set_dumpable_behavior, set_parent_process_death_signal,
};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The executable of this process, to be started as a launcher that calls [`end_with_parent`]. It is found by this name
/// even if its file was replaced since. `None` without `/proc`.
pub fn launcher() -> Option<PathBuf> {
    let own = PathBuf::from("/proc/self/exe");
    own.exists().then_some(own)
}

/// From now on other processes of the same user can read neither the memory of this process nor its environment, and it
/// leaves no core dump.
pub fn keep_memory_private() {
    // If the system refuses, the programs that are started still have no secret in their own environment.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Has the system kill this process, and what it becomes by [`replace`], when the thread ends that started it. Whether that
/// was a thread of `parent`, which has not ended yet.
pub fn end_with_parent(parent: u32) -> io::Result<bool> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let current = getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    Ok(current == Some(parent))
}

/// Becomes another program. Returns only if that fails.
pub fn replace(mut program: Command) -> io::Error {
    program.exec()
}
