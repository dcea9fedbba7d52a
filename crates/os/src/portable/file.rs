//! Files.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Windows' locks are mandatory: SQLite could not write to a file that we hold.
pub const CAN_LOCK_DATABASE: bool = false;

/// Creates a file with the permissions that its directory gives it. Fails if it exists.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create_new(true).write(true).open(path)
}

/// Not known.
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Not known: a second name of a store is not found.
pub fn hard_links(_: &Metadata) -> u64 {
    1
}

/// Not known.
pub fn is_readable_by_all(_: &Path) -> bool {
    false
}

/// Whether the file exists: Windows tells programs by the ending of their name, and says so when one is started.
pub fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Does nothing: Windows opens no directory, and journals its names.
pub fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
