//! What can go wrong with a store, in words for whoever runs it. Values only.

use matchday_core::log::LogError;
use matchday_core::protocol::MatchId;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a store could not be opened, read or written out. Each is one line that names the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{} does not exist: check the path, or run a league that writes it", .0.display())]
    Missing(PathBuf),
    #[error("{} is a directory: name a file in it, such as {}", .0.display(), .0.join("league.db").display())]
    Directory(PathBuf),
    #[error("{} lies in a directory that does not exist: create it first", .0.display())]
    NoDirectory(PathBuf),
    #[error("{} may not be opened by this user: {error}", path.display())]
    Forbidden { path: PathBuf, error: io::Error },
    #[error("{} is empty, and so not a store: remove it, or name another file", .0.display())]
    Empty(PathBuf),
    #[error("{} is not a store of Matchday: name another file; nothing was changed", .0.display())]
    Foreign(PathBuf),
    #[error(
        "{} was written by a newer Matchday (its form is {found}, this program knows up to {known}): use the newer \
         program; nothing was changed", path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{} is damaged ({what}): restore it from a copy; nothing was changed", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("{} is in use by another Matchday{holder}: stop that one first, or name another file", path.display())]
    InUse { path: PathBuf, holder: Holder },
    #[error("{} cannot be read or written: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Database { path: PathBuf, error: rusqlite::Error },
    #[error("{} is not empty: name a directory that does not exist yet", .0.display())]
    NotEmpty(PathBuf),
    #[error("{} holds no league: it is the store of a referee or a player", .0.display())]
    NoLeague(PathBuf),
    #[error("there is no match {0} in this league; matches are named as R1M1")]
    NoMatch(MatchId),
    #[error("{} cannot be understood: {error}", path.display())]
    Unreadable { path: PathBuf, error: LogError },
    #[error("{0}")]
    Failed(#[from] StoreFailed),
}

/// The process that has a store open, if it left its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder(pub Option<u32>);

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |pid| write!(f, " (process {pid})"))
    }
}

impl StoreError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Forbidden { path, error },
            _ => Self::Io { path, error },
        }
    }

    pub(super) fn sql(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Foreign(path),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, what: error.to_string() },
            Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                Self::Forbidden { path, error: io::Error::new(io::ErrorKind::PermissionDenied, error) }
            }
            _ => Self::Database { path, error },
        }
    }
}

/// Why events were not stored. From the first time on, nothing more is: what follows would have a gap before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreFailed(Arc<str>);

const NOTHING_LOST: &str = "and start again; nothing that was acknowledged is lost";

impl StoreFailed {
    pub(super) fn write(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.display();
        Self(match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => {
                format!("the store is full: {path} could not grow; free space {NOTHING_LOST}").into()
            }
            _ => format!("the store failed: {path}: {error}; mend that {NOTHING_LOST}").into(),
        })
    }

    pub(super) fn unreadable(stream: &str, why: &serde_json::Error) -> Self {
        Self(format!("the store was given something for {stream} that is not an event: {why}").into())
    }

    pub(super) fn closed() -> Self {
        Self("the store is closed".into())
    }
}
