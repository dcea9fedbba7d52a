//! A store without a file: one SQLite database in memory, on the connection that its writer and its readers share. Touches no
//! file.

use super::append::SqliteAppend;
use super::budget;
use super::error::sql;
use super::read::SqliteRead;
use super::schema;
use crate::error::StoreError;
use crate::store_url::StoreUrl;
use rusqlite::Connection;
use rusqlite::backup::Backup;
use std::sync::{Arc, Mutex, PoisonError};

/// A database that all its clones share.
#[derive(Debug, Clone)]
pub(crate) struct SqliteMemory(Arc<Mutex<Connection>>);

impl SqliteMemory {
    pub(crate) fn create() -> Result<Self, StoreError> {
        let open = || -> rusqlite::Result<Connection> {
            let mut db = Connection::open_in_memory()?;
            schema::create(&mut db)?;
            budget::restrict(&db)?;
            Ok(db)
        };
        let db = open().map_err(|error| sql(StoreUrl::Memory, error))?;
        Ok(Self(Arc::new(Mutex::new(db))))
    }

    pub(crate) fn append(&self) -> SqliteAppend {
        SqliteAppend::in_memory(Arc::clone(&self.0))
    }

    /// Reads a copy, so that no reader holds up the writer.
    pub(crate) fn read(&self) -> Result<SqliteRead, StoreError> {
        let copy = || -> rusqlite::Result<Connection> {
            let db = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut copy = Connection::open_in_memory()?;
            Backup::new(&db, &mut copy)?.step(-1)?;
            Ok(copy)
        };
        copy()
            .and_then(SqliteRead::in_memory)
            .map_err(|error| sql(StoreUrl::Memory, error))
    }
}
