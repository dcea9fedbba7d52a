//! Which store a location names, and how it is opened: the only file that knows which stores there are.

use crate::append::Append;
use crate::error::StoreError;
use crate::ownership::{Ownership, Process};
use crate::path::StorePath;
use crate::postgres::{Address, PostgresAppend, PostgresRead, address};
use crate::read::Read;
use crate::reader::Reader;
use crate::sqlite::{MEMORY, SqliteAppend, SqliteMemory, SqliteRead};
use matchday_core::protocol::LeagueId;
use std::fs;
use std::path::{Path, PathBuf};

/// The writing side of a store that is shared, and the ownership of its leagues.
pub(super) type Shared = (Box<dyn Append>, Box<dyn Ownership>);

/// A store that a location names.
#[derive(Debug, Clone)]
pub struct Target(Kind);

#[derive(Debug, Clone)]
enum Kind {
    File(StorePath),
    Memory(SqliteMemory),
    Database(Box<Address>),
}

impl Target {
    pub fn of(location: &Path) -> Result<Self, StoreError> {
        Ok(Self(match Address::of(location) {
            Some(address) => Kind::Database(Box::new(address?)),
            None => Kind::File(StorePath::resolve(location)?),
        }))
    }

    /// A store without a file, which is kept until this and all its clones are dropped.
    pub fn in_memory() -> Result<Self, StoreError> {
        Ok(Self(Kind::Memory(SqliteMemory::create()?)))
    }

    /// What it is called in messages.
    pub fn name(&self) -> &Path {
        match &self.0 {
            Kind::File(path) => &path.named,
            Kind::Memory(_) => Path::new(MEMORY),
            Kind::Database(address) => address.shown(),
        }
    }

    /// How it is found again: a file with symbolic links resolved; `None` for a store in memory.
    pub fn real(&self) -> Option<&Path> {
        match &self.0 {
            Kind::File(path) => Some(&path.real),
            Kind::Memory(_) => None,
            Kind::Database(address) => Some(address.shown()),
        }
    }

    /// The league that an address names by `?league=`.
    fn league(&self) -> Option<LeagueId> {
        match &self.0 {
            Kind::File(_) | Kind::Memory(_) => None,
            Kind::Database(address) => address.league.as_ref().map(|id| LeagueId::new(id.as_str())),
        }
    }

    /// Opens it to write to it, and makes it if it does not exist. Only one process can have it open so.
    pub fn append(&self) -> Result<Box<dyn Append>, StoreError> {
        Ok(match &self.0 {
            Kind::File(path) => Box::new(SqliteAppend::open(path)?),
            Kind::Memory(database) => Box::new(database.append()),
            Kind::Database(address) => Box::new(PostgresAppend::open(address)?),
        })
    }

    /// Opens it to write to it together with other processes, each of which writes the leagues that it owns.
    pub(super) fn append_shared(&self, process: Process) -> Result<Shared, StoreError> {
        match &self.0 {
            Kind::File(_) | Kind::Memory(_) => Err(StoreError::NotShared(self.name().to_owned())),
            Kind::Database(address) => {
                let (log, ownership) = PostgresAppend::open_shared(address, process)?;
                Ok((Box::new(log), Box::new(ownership)))
            }
        }
    }

    /// Opens it as it is now, also while it is being written to. Changes nothing.
    pub fn read(&self) -> Result<Box<dyn Read>, StoreError> {
        Ok(match &self.0 {
            Kind::File(path) => Box::new(SqliteRead::open(path)?),
            Kind::Memory(database) => Box::new(database.read()?),
            Kind::Database(address) => Box::new(PostgresRead::open(address)?),
        })
    }

    /// Reads its latest league.
    pub(super) fn reader(&self) -> Result<Reader, StoreError> {
        Reader::new(self.read()?, self.name().to_owned())
    }

    /// How many bytes it takes, where that can be known without asking a database.
    pub(super) fn bytes(&self) -> u64 {
        let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
        match &self.0 {
            Kind::File(path) => size(&path.real) + size(&path.beside("-wal")),
            Kind::Memory(_) | Kind::Database(_) => 0,
        }
    }

    /// Why it is not there any more.
    pub(super) fn missing(&self) -> Option<String> {
        let Kind::File(path) = &self.0 else { return None };
        let gone = fs::metadata(&path.real).err()?;
        Some(format!("the store {} cannot be found any more: {gone}", path.named.display()))
    }

    /// A text with the store's short name in place of where it is.
    pub(super) fn hide(&self, text: &str) -> String {
        let short = short_name(self.name());
        [self.real(), Some(self.name())]
            .into_iter()
            .flatten()
            .fold(text.to_owned(), |text, place| text.replace(&*place.to_string_lossy(), &short))
    }
}

/// Reads the store at a location: its latest league, or the one that the location names.
pub fn to_read(location: &Path) -> Result<Reader, StoreError> {
    let target = Target::of(location)?;
    target.reader()?.choose(target.league().as_ref())
}

/// Whether a location names one league of its store.
pub fn names_league(location: &Path) -> Result<bool, StoreError> {
    Ok(Target::of(location)?.league().is_some())
}

/// Whether a location is the address of a database and not the path of a file.
pub fn is_database(location: &Path) -> bool {
    location.to_str().is_some_and(address::is_address)
}

/// What a store is called where anyone may read it: the file's name, without the folders of this machine. The address of a database
/// is not shown.
pub fn short_name(location: &Path) -> String {
    let file = location.file_name().filter(|_| !is_database(location));
    file.map_or_else(|| "STORE".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A location without the password that may stand in it, which this process remembers.
pub fn without_password(location: &str) -> String {
    address::without_password(location)
}

/// A path that files which belong to a store can be named after: that of its own file, or for a database one in the working
/// directory with its name.
pub fn file_base(location: &Path) -> PathBuf {
    match Address::of(location) {
        Some(Ok(address)) => PathBuf::from(format!("{}.db", address.database())),
        _ => location.to_owned(),
    }
}

/// The passwords that stood in locations.
pub fn passwords() -> Vec<String> {
    address::passwords()
}
