//! Programs of others. Elsewhere than on Linux they may outlive this process when it is killed, and read it as far as the
//! system lets processes of one user read each other.

use std::io;
use std::path::PathBuf;
use std::process::Command;

/// None: programs are started without a launcher.
pub fn launcher() -> Option<PathBuf> {
    None
}

/// Does nothing.
pub fn keep_memory_private() {}

/// There is no portable way.
pub fn end_with_parent(_: u32) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// There is no portable way.
pub fn replace(_: Command) -> io::Error {
    io::ErrorKind::Unsupported.into()
}
