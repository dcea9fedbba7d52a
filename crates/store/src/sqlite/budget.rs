//! How much reading a file may take. A file may come from anybody, and its pages may refer to each other in a circle: what is
//! read from it is bounded by what it can hold. Values, and one SQLite connection's settings.

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The longest row, for writers and readers alike: the first round of a league with thousands of players is one event.
pub(super) const ROW_BYTES_MAX: i32 = 128 << 20;

/// After how many steps of SQLite the budget is looked at.
const STEPS_AT_ONCE: i32 = 10_000;
/// What a statement may take of an empty file: to read a schema, to plan a query.
const STEPS_LEAST: u64 = 10_000_000;
/// A row takes tens of bytes, and its reading tens of steps.
const STEPS_PER_BYTE: u64 = 4;

/// Settings of every connection to a store: nothing in a schema runs code, or changes the file behind SQLite's back.
pub(super) fn restrict(db: &Connection) -> rusqlite::Result<()> {
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX)?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(())
}

/// What one statement may still do.
#[derive(Debug)]
pub(super) struct Budget {
    steps: Arc<AtomicU64>,
    bytes: u64,
}

impl Budget {
    /// Of a connection whose file's size is not known yet.
    pub(super) fn of(db: &mut Connection) -> rusqlite::Result<Self> {
        let steps = Arc::new(AtomicU64::new(STEPS_LEAST));
        let left = Arc::clone(&steps);
        let is_used_up = move || {
            let take = |left: u64| left.checked_sub(STEPS_AT_ONCE.unsigned_abs().into());
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_err()
        };
        db.progress_handler(STEPS_AT_ONCE, Some(is_used_up))?;
        Ok(Self { steps, bytes: 0 })
    }

    pub(super) fn for_file_of(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }

    /// Before a statement: how many bytes of text its rows may have.
    pub(super) fn begin(&self) -> u64 {
        let steps = self
            .bytes
            .saturating_mul(STEPS_PER_BYTE)
            .saturating_add(STEPS_LEAST);
        self.steps.store(steps, Ordering::Relaxed);
        self.bytes
    }
}

/// The bytes of text and blobs in a row.
pub(super) fn bytes_of(row: &Row<'_>) -> u64 {
    let values = (0..row.as_ref().column_count()).map(|place| match row.get_ref(place) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len() as u64,
        _ => 0,
    });
    values.sum()
}
