//! How the store of a URL is opened: the only file that knows which stores there are.

use crate::append::Append;
use crate::error::StoreError;
use crate::ownership::{Ownership, Process};
use crate::path::StorePath;
use crate::postgres::{Address, PostgresAppend, PostgresRead};
use crate::read::Read;
use crate::reader::Reader;
use crate::sqlite::{SqliteAppend, SqliteMemory, SqliteRead};
use crate::store_url::{PgUrl, StoreUrl};
use std::fs;
use std::path::Path;

/// The writing side of a store that is shared, and the ownership of its leagues.
pub(super) type Shared = (Box<dyn Append>, Box<dyn Ownership>);

/// A store that is about to be opened.
#[derive(Debug, Clone)]
pub struct Target {
    kind: Kind,
    /// What it is called in messages.
    named: StoreUrl,
    /// How it is found again: a file with symbolic links resolved.
    real: StoreUrl,
}

#[derive(Debug, Clone)]
enum Kind {
    File(StorePath),
    Memory(SqliteMemory),
    Database(PgUrl),
}

impl Target {
    /// One in memory is made, and kept until this and all its clones are dropped.
    pub fn of(url: impl Into<StoreUrl>) -> Result<Self, StoreError> {
        let named = url.into();
        let mut real = named.clone();
        let kind = match &named {
            StoreUrl::Sqlite(path) => {
                let path = StorePath::resolve(path)?;
                real = StoreUrl::Sqlite(path.real.clone());
                Kind::File(path)
            }
            StoreUrl::Postgres(url) => Kind::Database(url.clone()),
            StoreUrl::Memory => Kind::Memory(SqliteMemory::create()?),
        };
        Ok(Self { kind, named, real })
    }

    pub fn name(&self) -> &StoreUrl {
        &self.named
    }

    pub(super) fn real(&self) -> &StoreUrl {
        &self.real
    }

    /// Opens it to write to it, and makes it if it does not exist. Only one process can have it open so.
    pub fn append(&self) -> Result<Box<dyn Append>, StoreError> {
        Ok(match &self.kind {
            Kind::File(path) => Box::new(SqliteAppend::open(path)?),
            Kind::Memory(database) => Box::new(database.append()),
            Kind::Database(url) => Box::new(PostgresAppend::open(&Address::of(url)?)?),
        })
    }

    /// Opens it to write to it together with other processes, each of which writes the leagues that it owns.
    pub(super) fn append_shared(&self, process: Process) -> Result<Shared, StoreError> {
        match &self.kind {
            Kind::File(_) | Kind::Memory(_) => Err(StoreError::NotShared(self.named.clone())),
            Kind::Database(url) => {
                let (log, ownership) = PostgresAppend::open_shared(&Address::of(url)?, process)?;
                Ok((Box::new(log), Box::new(ownership)))
            }
        }
    }

    /// Opens it as it is now, also while it is being written to. Changes nothing.
    pub fn read(&self) -> Result<Box<dyn Read>, StoreError> {
        Ok(match &self.kind {
            Kind::File(path) => Box::new(SqliteRead::open(path)?),
            Kind::Memory(database) => Box::new(database.read()?),
            Kind::Database(url) => Box::new(PostgresRead::open(url)?),
        })
    }

    /// Reads its latest league.
    pub(super) fn reader(&self) -> Result<Reader, StoreError> {
        Reader::new(self.read()?, self.named.clone())
    }

    /// How many bytes it takes, where that can be known without asking a database.
    pub(super) fn bytes(&self) -> u64 {
        let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
        match &self.kind {
            Kind::File(path) => size(&path.real) + size(&path.beside("-wal")),
            Kind::Memory(_) | Kind::Database(_) => 0,
        }
    }

    /// Why it is not there any more.
    pub(super) fn missing(&self) -> Option<String> {
        let Kind::File(path) = &self.kind else {
            return None;
        };
        let gone = fs::metadata(&path.real).err()?;
        Some(format!(
            "the store {} cannot be found any more: {gone}",
            path.named.display()
        ))
    }

    /// A text with the store's short name in place of where it is.
    pub(super) fn hide(&self, text: &str) -> String {
        let short = self.named.short_name();
        let places = [&self.real, &self.named].map(StoreUrl::to_string);
        places
            .iter()
            .fold(text.to_owned(), |text, place| text.replace(place, &short))
    }
}

/// Reads a store: its latest league, or the one that its URL names.
pub fn to_read(url: impl Into<StoreUrl>) -> Result<Reader, StoreError> {
    let target = Target::of(url)?;
    target.reader()?.choose(target.named.league())
}
