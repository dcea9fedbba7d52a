//! The errors of a store, each one line for its operator. Values only.

use matchday_core::event_codec::EventCodecError;
use matchday_core::protocol::{LeagueId, MatchId};
use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
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
    NotAStore(PathBuf),
    #[error(
        "{} was written by a newer Matchday (its form is {found}, this program knows up to {known}): use the newer \
         program; nothing was changed", path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{} is damaged ({what}): restore it from a copy; nothing was changed", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("{} is in use by another Matchday{holder}: stop that one first, or name another file", path.display())]
    InUse { path: PathBuf, holder: Holder },
    #[error(
        "{} is in use under another name, and its log lies beside that one: name the file that its agent was started \
         with, or give this one its name back", .0.display()
    )]
    InUseElsewhere(PathBuf),
    #[error(
        "{} has {names} names (hard links), and its log may lie beside another of them: use the name that its agent \
         was started with, or remove the others; `matchday backup` makes a copy that is one", path.display()
    )]
    HardLinked { path: PathBuf, names: u64 },
    #[error("{} was read and {} was written, but they differ ({what}): try again; the copy was not kept", from.display(), to.display())]
    CopyDiffers { from: PathBuf, to: PathBuf, what: String },
    #[error("{} does not hold checkpoint keys: put back the file that does, or move it away to have the manager make a new key", .0.display())]
    NoKeys(PathBuf),
    #[error("{} can only be read ({why}): make it writable, or name another file", path.display())]
    ReadOnly { path: PathBuf, why: String },
    #[error("{} cannot be made or grow, because its disk is full: free space there, or name another file", .0.display())]
    Full(PathBuf),
    #[error("{} cannot be read or written: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: {}", path.display(), on_one_line(error))]
    Database { path: PathBuf, error: rusqlite::Error },
    #[error("{} exists already: name a file that does not; nothing was changed", .0.display())]
    Exists(PathBuf),
    #[error("{} is not empty: name a directory that does not exist yet", .0.display())]
    NotEmpty(PathBuf),
    #[error("{} holds no league: it is the store of a referee or a player", .0.display())]
    NoLeague(PathBuf),
    #[error("{} holds no league {id}, but {known}: choose one of these with --league", path.display())]
    NoSuchLeague { path: PathBuf, id: LeagueId, known: String },
    #[error("{} and {} each hold a league: name one of them, and the stores of its own agents", .0.display(), .1.display())]
    TwoLeagues(PathBuf, PathBuf),
    #[error("{} is of {id} in another league than that of the manager's store: leave one of them out", path.display())]
    OtherLeague { path: PathBuf, id: String },
    #[error("there is no match {0} in this league; matches are named as R1M1")]
    NoMatch(MatchId),
    #[error("{who} has nothing of match {match_id}: {known}")]
    NotItsMatch { who: String, match_id: MatchId, known: String },
    #[error(
        "no request to a player is kept of match {0}: name the store of its referee or of the player, from a time \
         without `--exchanges off`"
    )]
    NothingAsked(MatchId),
    #[error("{player} was asked nothing in match {match_id}, but {known}: choose with --as")]
    NotAsked { player: String, match_id: MatchId, known: String },
    #[error("{} cannot be understood: {error}", path.display())]
    Unreadable { path: PathBuf, error: EventCodecError },
    #[error("{0}")]
    Failed(#[from] StoreFailed),
}

/// The process that has a store open, if it wrote its id into the lock file.
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
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, why: error.to_string() },
            io::ErrorKind::StorageFull => Self::Full(path),
            _ => Self::Io { path, error },
        }
    }

    pub(super) fn sql(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotAStore(path),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, what: on_one_line(&error) },
            _ if is_full(&error) => Self::Full(path),
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path, why: error.to_string() },
            Some(ErrorCode::PermissionDenied) => {
                Self::Forbidden { path, error: io::Error::new(io::ErrorKind::PermissionDenied, error) }
            }
            _ => Self::Database { path, error },
        }
    }
}

/// SQLite shows the statement that it could not read as it stands in the file, over several lines.
fn on_one_line(error: &rusqlite::Error) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Also where SQLite found no room for the file that it keeps beside the store, which it calls an error of the disk.
fn is_full(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull) || extended == Some(SQLITE_IOERR_SHMSIZE)
}

/// Why events were not stored. After the first failure nothing more of the league is stored: there would be a gap.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreFailed(Arc<str>);

const NOTHING_LOST: &str = "start again with the same command; nothing that was acknowledged is lost";

impl StoreFailed {
    pub(super) fn write(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.display();
        Self(match is_full(error) {
            true => {
                format!("{path} cannot grow, because its disk is full: free space there, and {NOTHING_LOST}")
                    .into()
            }
            false => format!("{path} cannot be written ({error}): mend that, and {NOTHING_LOST}").into(),
        })
    }

    pub(super) fn sync(path: &Path, error: &io::Error) -> Self {
        Self(
            format!("{} cannot be brought to disk ({error}): mend that, and {NOTHING_LOST}", path.display())
                .into(),
        )
    }

    pub(super) fn unreadable(stream: &str, why: &serde_json::Error) -> Self {
        Self(format!("the store was given something for {stream} that is not an event: {why}").into())
    }

    pub(super) fn fault(path: &Path) -> Self {
        let path = path.display();
        Self(format!("{path} could not be written because of a fault in this program, which was reported above: {NOTHING_LOST}").into())
    }

    pub(super) fn removed() -> Self {
        Self("the league was archived or deleted".into())
    }

    pub(super) fn closed() -> Self {
        Self("the store is closed".into())
    }
}
