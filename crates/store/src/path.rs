//! Where a store is: the path that was named, for messages, and the file that it leads to, for everything else. SQLite's
//! log and our lock lie beside the file, and not beside a symbolic link to it. Reads the file system.

use crate::error::StoreError;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// As many as Linux follows.
const SYMLINKS_MAX: usize = 40;

#[derive(Debug, Clone)]
pub(super) struct StorePath {
    pub(super) named: PathBuf,
    /// Absolute, without any symbolic link: resolved once, so that it stays the same file if a link is changed later.
    pub(super) real: PathBuf,
}

impl StorePath {
    pub(super) fn resolve(named: &Path) -> Result<Self, StoreError> {
        let real = resolve(named).map_err(|error| StoreError::io(named, error))?;
        Ok(Self {
            named: named.to_owned(),
            real,
        })
    }

    /// A file that belongs to the store: its log, its lock.
    pub(super) fn beside(&self, suffix: &str) -> PathBuf {
        beside(&self.real, suffix)
    }

    /// Whether SQLite's log lies beside the file: somebody is writing, or was killed while writing.
    pub(super) fn has_log(&self) -> bool {
        self.beside("-wal").exists()
    }

    pub(super) fn io(&self, error: io::Error) -> StoreError {
        StoreError::io(&self.named, error)
    }
}

/// Follows symbolic links, also one that leads to a file that does not exist yet.
fn resolve(named: &Path) -> io::Result<PathBuf> {
    let mut path = std::path::absolute(named)?;
    for _ in 0..SYMLINKS_MAX {
        match fs::canonicalize(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        match fs::read_link(&path) {
            Ok(target) => path = directory(&path).join(target),
            Err(_) => break,
        }
    }
    match (fs::canonicalize(directory(&path)), path.file_name()) {
        (Ok(directory), Some(name)) => Ok(directory.join(name)),
        _ => Ok(path),
    }
}

pub fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
