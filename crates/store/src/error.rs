//! The errors of a store, each one line for its operator. Values only.

use crate::store_url::StoreUrl;
use matchday_core::event_codec::EventCodecError;
use matchday_core::protocol::{LeagueId, MatchId};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why a store could not be opened, read or written out. Each is one line that names the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{0} does not exist: check the path, or run a league that writes it")]
    Missing(StoreUrl),
    #[error("{} is a directory: name a file in it, such as {}", .0.display(), .0.join("league.db").display())]
    Directory(PathBuf),
    #[error("{} lies in a directory that does not exist: create it first", .0.display())]
    NoDirectory(PathBuf),
    #[error("{store} may not be opened by this user: {error}")]
    Forbidden { store: StoreUrl, error: io::Error },
    #[error("{0} is empty, and so not a store: remove it, or name another file")]
    Empty(StoreUrl),
    #[error("{0} is not a store of Matchday: name another file; nothing was changed")]
    NotAStore(StoreUrl),
    #[error(
        "{store} has another format than the stores of this Matchday ({what}): read it with the program that wrote it, or name \
         another file; nothing was changed"
    )]
    OtherForm { store: StoreUrl, what: String },
    #[error("{store} is damaged ({what}): restore it from a copy; nothing was changed")]
    Damaged { store: StoreUrl, what: String },
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
    #[error(
        "{from} was read and {to} was written, but they differ ({what}): try again; the copy was not kept"
    )]
    CopyDiffers {
        from: StoreUrl,
        to: StoreUrl,
        what: String,
    },
    #[error(
        "{0} does not hold checkpoint keys: put back the file that does, or move it away to have the manager make a new key"
    )]
    NoKeys(StoreUrl),
    #[error("{store} can only be read ({why}): make it writable, or name another file")]
    ReadOnly { store: StoreUrl, why: String },
    #[error(
        "{0} cannot be made or grow, because its disk is full: free space there, or name another file"
    )]
    Full(StoreUrl),
    #[error("{store} cannot be read or written: {error}")]
    Io { store: StoreUrl, error: io::Error },
    #[error("{store}: {error}")]
    Database { store: StoreUrl, error: String },
    #[error("{store}: the database cannot be reached ({why}): start it, or check the address")]
    Unreachable { store: StoreUrl, why: String },
    #[error(
        "{store} is not an address of a database: {why}; an example is postgres://ann@/league?host=/run/postgresql"
    )]
    Address { store: StoreUrl, why: String },
    #[error(
        "{store} is in use by another Matchday ({holder}): stop that one first, or give this one a database or schema of its \
         own"
    )]
    Owned { store: StoreUrl, holder: String },
    #[error(
        "{0} is a file, which one process alone can use: name a database, such as postgres://ann@/league?host=/run/postgresql, or \
         leave out --advertise"
    )]
    NotShared(StoreUrl),
    #[error("{} exists already: name a file that does not; nothing was changed", .0.display())]
    Exists(PathBuf),
    #[error(
        "{0} holds events already: name an empty database, or a schema of its own in one (options=-csearch_path%3DNAME); nothing was changed"
    )]
    HoldsEvents(StoreUrl),
    #[error("{} is not empty: name a directory that does not exist yet", .0.display())]
    NotEmpty(PathBuf),
    #[error("{0} holds no league: it is the store of a referee or a player")]
    NoLeague(StoreUrl),
    #[error("{store} holds no league {id}, but {known}: choose one of these with --league")]
    NoSuchLeague {
        store: StoreUrl,
        id: LeagueId,
        known: String,
    },
    #[error("{0} and {1} each hold a league: name one of them, and the stores of its own agents")]
    TwoLeagues(StoreUrl, StoreUrl),
    #[error(
        "{store} is of {id} in another league than that of the manager's store: leave one of them out"
    )]
    OtherLeague { store: StoreUrl, id: String },
    #[error("there is no match {0} in this league; matches are named as R1M1")]
    NoMatch(MatchId),
    #[error("{who} has nothing of match {match_id}: {known}")]
    NotItsMatch {
        who: String,
        match_id: MatchId,
        known: String,
    },
    #[error(
        "no request to a player is kept of match {0}: name the store of its referee or of the player, from a time \
         without `--exchanges off`"
    )]
    NothingAsked(MatchId),
    #[error("{player} was asked nothing in match {match_id}, but {known}: choose with --as")]
    NotAsked {
        player: String,
        match_id: MatchId,
        known: String,
    },
    #[error("{store} cannot be understood: {error}")]
    Unreadable {
        store: StoreUrl,
        error: EventCodecError,
    },
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
    pub fn io(store: impl Into<StoreUrl>, error: io::Error) -> Self {
        let store = store.into();
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Forbidden { store, error },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly {
                store,
                why: error.to_string(),
            },
            io::ErrorKind::StorageFull => Self::Full(store),
            _ => Self::Io { store, error },
        }
    }
}

/// Why events were not stored. After the first failure nothing more of the league is stored: there would be a gap.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct StoreFailed {
    text: Arc<str>,
    /// Another process owns the league now.
    fenced: bool,
}

const NOTHING_LOST: &str =
    "start again with the same command; nothing that was acknowledged is lost";

impl StoreFailed {
    fn new(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            fenced: false,
        }
    }

    /// Whether another process owns the league now: nothing is broken, and it may be taken again.
    pub fn is_fenced(&self) -> bool {
        self.fenced
    }

    /// Of a disk that is full.
    pub(super) fn full(store: &StoreUrl) -> Self {
        Self::new(format!(
            "{store} cannot grow, because its disk is full: free space there, and {NOTHING_LOST}"
        ))
    }

    pub(super) fn write(store: &StoreUrl, why: &str) -> Self {
        Self::new(format!(
            "{store} cannot be written ({why}): fix that, and {NOTHING_LOST}"
        ))
    }

    pub(super) fn sync(store: &StoreUrl, why: &str) -> Self {
        Self::new(format!(
            "{store} cannot be brought to disk ({why}): fix that, and {NOTHING_LOST}"
        ))
    }

    /// What a store holds of a league is not what was written to it.
    pub(super) fn diverged(store: &StoreUrl, stream: &str) -> Self {
        Self::new(format!(
            "{store} does not hold what was stored of {stream}: another program has written it, or its last events are \
                 gone, as after a failover to a standby that lagged behind; restore it, then start again"
        ))
    }

    /// Another process owns the leagues now.
    pub(super) fn fenced(store: &StoreUrl) -> Self {
        let text = format!(
            "{store} has been taken over by another Matchday, and this one writes nothing more to it"
        );
        Self {
            text: text.into(),
            fenced: true,
        }
    }

    /// This process has given the league back, so that another takes it.
    pub(super) fn released() -> Self {
        Self {
            text: "the league was released, and another process runs it now".into(),
            fenced: true,
        }
    }

    pub(super) fn away(store: &StoreUrl, why: &str) -> Self {
        Self::new(format!(
            "{store} could not be reached before this program ended ({why}): start again with the same command; nothing that was acknowledged is lost"
        ))
    }

    pub(super) fn fault(store: &StoreUrl) -> Self {
        Self::new(format!(
            "{store} could not be written because of a fault in this program, which was reported above: {NOTHING_LOST}"
        ))
    }

    pub(super) fn removed() -> Self {
        Self::new("the league was archived or deleted")
    }

    pub fn closed() -> Self {
        Self::new("the store is closed")
    }
}
