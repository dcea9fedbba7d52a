//! Files.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Whether `flock` on a database does not collide with SQLite's own POSIX locks on it.
pub const CAN_LOCK_DATABASE: bool = cfg!(target_os = "linux");

/// Creates a file that only its owner can read. Fails if it exists.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)
}

/// How many bytes the file system of this path has left for unprivileged users.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Under how many names the file is linked.
pub fn hard_links(metadata: &Metadata) -> u64 {
    metadata.nlink()
}

/// Whether everyone on this machine can read the file.
pub fn is_readable_by_all(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.permissions().mode() & 0o004 != 0)
}

/// The program of this name.
pub fn program(path: &Path) -> Option<PathBuf> {
    let meta = path.metadata().ok()?;
    (meta.is_file() && meta.permissions().mode() & 0o111 != 0).then(|| path.to_owned())
}

/// Makes the names of the files in a directory durable (fsync).
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
