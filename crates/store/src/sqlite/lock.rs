//! One writer at a time, by two advisory locks that the system takes back when the process dies, however it dies: one on
//! the file `.lock` beside the store, which programs of every version look at, and one on the inode of the database itself,
//! which is found by whatever path one comes. Touches both files, and changes only `.lock`, which is removed when the store is
//! closed where the lock on the database suffices.
//!
//! On Linux `flock` does not collide with SQLite's own POSIX locks on the database; elsewhere it may, so that `.lock` is all
//! there is. Closing any descriptor of a file drops the POSIX locks that the process has on it: the database is therefore
//! opened here before SQLite opens it, and closed after.

use crate::error::{Holder, StoreError};
use crate::path::StorePath;
use matchday_os::file::{CAN_LOCK_DATABASE, hard_links};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Held for as long as a process may write.
#[derive(Debug)]
pub(super) struct Lock {
    lock_file: File,
    lock_path: PathBuf,
    /// The database, from when it exists.
    database: Option<File>,
}

impl Lock {
    /// Takes the first lock: the database need not exist yet.
    pub(super) fn take(path: &StorePath) -> Result<Self, StoreError> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let lock_path = path.beside(".lock");
        loop {
            let lock_file = options.open(&lock_path).map_err(|error| path.io(error))?;
            taken(path, lock_file.try_lock())?;
            // The holder before may have removed it since it was opened: then it locks out nobody.
            let found = lock_file.metadata().map_err(|error| path.io(error))?;
            if hard_links(&found) > 0 {
                return Ok(Self {
                    lock_file,
                    lock_path,
                    database: None,
                });
            }
        }
    }

    /// Takes the second lock.
    pub(super) fn and_database(
        mut self,
        path: &StorePath,
        database: File,
    ) -> Result<Self, StoreError> {
        if CAN_LOCK_DATABASE {
            taken(path, lock_database(&database))?;
        }
        self.database = Some(database);
        // A courtesy to the next process, which is refused; a disk too full for it fails soon enough where it matters.
        let _ = self
            .lock_file
            .set_len(0)
            .and_then(|()| writeln!(self.lock_file, "{}", std::process::id()));
        Ok(self)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The database first: a reader that finds it locked looks for `.lock` beside it.
        self.database = None;
        if CAN_LOCK_DATABASE {
            let _ = fs::remove_file(&self.lock_path);
        }
    }
}

fn taken(path: &StorePath, outcome: Result<(), TryLockError>) -> Result<(), StoreError> {
    outcome.map_err(|error| match error {
        TryLockError::WouldBlock => {
            let pid = fs::read_to_string(path.beside(".lock"))
                .ok()
                .and_then(|pid| pid.trim().parse().ok());
            StoreError::InUse {
                path: path.named.clone(),
                holder: Holder(pid),
            }
        }
        TryLockError::Error(error) => path.io(error),
    })
}

/// A reader may be asking at this moment whether the database is locked, for which it takes a shared lock. A writer has an
/// exclusive one.
fn lock_database(database: &File) -> Result<(), TryLockError> {
    loop {
        match database.try_lock() {
            Err(TryLockError::WouldBlock) => database.try_lock_shared()?,
            other => return other,
        }
        database.unlock().map_err(TryLockError::Error)?;
        sleep(Duration::from_millis(1));
    }
}

/// Whether a process has the database open to write. Not to be asked by that process itself: see above.
pub(super) fn is_held(path: &StorePath) -> io::Result<bool> {
    Ok(CAN_LOCK_DATABASE && is_locked(&path.real)?)
}

/// Whether that process came by this path: then it holds `.lock` beside it, too.
pub(super) fn is_held_by_this_path(path: &StorePath) -> bool {
    is_locked(&path.beside(".lock")).unwrap_or(false)
}

fn is_locked(path: &Path) -> io::Result<bool> {
    match File::open(path)?.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
