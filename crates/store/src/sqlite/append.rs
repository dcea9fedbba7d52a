//! The transaction that stores events and exchanges, fsyncs, and checkpoints of the write-ahead log. Touches the file and its
//! log.
//!
//! SQLite is in WAL mode with `synchronous=normal`: a commit is in the operating system's hands, so it survives this process;
//! only an fsync of the write-ahead log makes it survive the machine.

use super::error::{rejected, sql};
use super::file;
use super::lock::Lock;
use crate::append::{Append, AppendError, EventRow, Head, NO_LEAGUE, Transaction};
use crate::chain::Hash;
use crate::error::{StoreError, StoreFailed};
use crate::exchange::Exchange;
use crate::exchange_buffer::TaggedExchange;
use crate::path::StorePath;
use crate::store_url::StoreUrl;
use crate::stream::Stream;
use matchday_core::protocol::Timestamp;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, OptionalExtension, Statement, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The pages of the write-ahead log at which a checkpoint copies it into the file: 64 MB. Pages that change often are copied
/// less often so, and most leagues end before.
const WAL_PAGES_MAX: i32 = 16_000;
/// How many more may follow if a reader keeps the checkpoint from copying all of them.
const WAL_PAGES_MORE: i32 = 4_000;

/// The connection that writes.
#[derive(Debug)]
pub(crate) struct SqliteAppend {
    db: Arc<Mutex<Connection>>,
    /// What the store is called in messages.
    store: StoreUrl,
    wal_pages: Arc<AtomicI32>,
    wal_pages_max: i32,
    /// `None` for a store in memory.
    wal_path: Option<PathBuf>,
    /// Open from the first fsync on: SQLite keeps the same file for as long as the database is open.
    wal: Option<File>,
    /// Released last: the next writer must find the file closed.
    _lock: Option<Lock>,
}

impl SqliteAppend {
    /// Opens a store to write to it, and creates the file if it does not exist.
    pub(crate) fn open(path: &StorePath) -> Result<Self, StoreError> {
        let (mut db, lock) = file::open_to_write(path)?;
        let wal_pages = Arc::<AtomicI32>::default();
        let pages = Arc::clone(&wal_pages);
        db.wal_hook(Some(move |_: &mut Wal, now| {
            pages.store(now, Ordering::Relaxed);
            Ok(())
        }))
        .map_err(|error| sql(&path.named, error))?;
        Ok(Self {
            db: Arc::new(Mutex::new(db)),
            store: (&path.named).into(),
            wal_pages,
            wal_pages_max: WAL_PAGES_MAX,
            wal_path: Some(path.beside("-wal")),
            wal: None,
            _lock: Some(lock),
        })
    }

    /// Writes to a database in memory, which is as durable as it can be after each commit.
    pub(super) fn in_memory(db: Arc<Mutex<Connection>>) -> Self {
        Self {
            db,
            store: StoreUrl::Memory,
            wal_pages: Arc::default(),
            wal_pages_max: WAL_PAGES_MAX,
            wal_path: None,
            wal: None,
            _lock: None,
        }
    }

    fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store(&self, group: &Transaction) -> rusqlite::Result<()> {
        // Immediate, so that another connection that holds the file for a moment is waited for: a transaction that has read
        // something would be refused at once.
        let mut db = self.db();
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        insert_events(&transaction, &group.events)?;
        for (league, wake_at) in &group.wake_at {
            let wake_at = wake_at.map(Timestamp::as_micros);
            transaction
                .prepare_cached(SET_WAKE_AT)?
                .execute(params![league, wake_at])?;
        }
        insert_exchanges(&transaction, &group.exchanges)?;
        transaction.commit()
    }

    fn sync_wal(&mut self) -> io::Result<()> {
        if self.wal.is_none()
            && let Some(path) = &self.wal_path
        {
            // Windows flushes only what is open for writing.
            self.wal = match File::options().write(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                wal => Some(wal?),
            };
        }
        self.wal.as_ref().map_or(Ok(()), File::sync_data)
    }

    fn remove_some(&self, league: u32) -> rusqlite::Result<bool> {
        let mut db = self.db();
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(REMOVED, [league])?;
        let mut removed = 0;
        for table in ["events", "exchanges"] {
            let sql = format!(
                "DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE league = ?1 LIMIT {REMOVED_MAX})"
            );
            removed += transaction.execute(&sql, [league])?;
        }
        transaction.commit()?;
        drop(db);
        if removed == 0 && self.wal_path.is_some() {
            self.empty_log()?;
        }
        Ok(removed == 0)
    }

    /// Copies the write-ahead log into the file and cuts it off: it still has the pages on which the removed rows stood. Where a
    /// reader is in the way, that is left to the checkpoints to come.
    fn empty_log(&self) -> rusqlite::Result<()> {
        let db = self.db();
        db.busy_timeout(Duration::ZERO)?;
        let emptied = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            row.get::<_, bool>(0).map(|is_busy| !is_busy)
        });
        db.busy_timeout(file::BUSY_TIMEOUT)?;
        if emptied? {
            self.wal_pages.store(0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Copies the write-ahead log into the file. Whether all of it could be copied.
    fn checkpoint(&self) -> rusqlite::Result<bool> {
        self.db()
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                let (in_log, copied): (i64, i64) = (row.get(1)?, row.get(2)?);
                Ok(in_log == copied)
            })
    }
}

impl Append for SqliteAppend {
    fn head(&mut self, league: u32, stream: &Stream) -> Result<Option<Head>, AppendError> {
        let last = "SELECT seq, hash FROM events WHERE league = ?1 AND stream = ?2 ORDER BY seq DESC LIMIT 1";
        let head = self
            .db()
            .query_row(last, params![league, stream.0.as_str()], |row| {
                Ok(Head {
                    league,
                    seq: row.get::<_, i64>(0)?.cast_unsigned(),
                    hash: Hash(row.get(1)?),
                })
            });
        head.optional()
            .map_err(|error| rejected(&self.store, &error))
    }

    fn commit(&mut self, transaction: &Transaction, _durable: bool) -> Result<bool, AppendError> {
        self.store(transaction)
            .map_err(|error| rejected(&self.store, &error))?;
        Ok(self.wal_path.is_none())
    }

    /// What a failed fsync has written is unknown, and another may succeed without having written it.
    fn sync(&mut self) -> Result<(), AppendError> {
        self.sync_wal().map_err(|error| {
            AppendError::Failed(StoreFailed::sync(&self.store, &error.to_string()))
        })
    }

    fn remove(&mut self, league: u32) -> Result<bool, AppendError> {
        self.remove_some(league)
            .map_err(|error| rejected(&self.store, &error))
    }

    /// Copies the write-ahead log into the file once it has become long, so that it begins anew. If a reader keeps some
    /// pages from being copied, the log grows before the next try: one after every commit would be too many.
    fn maintain(&mut self) -> Result<(), AppendError> {
        if self.wal_pages.load(Ordering::Relaxed) >= self.wal_pages_max {
            self.wal_pages_max = match self.checkpoint() {
                Ok(true) => {
                    self.wal_pages.store(0, Ordering::Relaxed);
                    WAL_PAGES_MAX
                }
                _ => self
                    .wal_pages
                    .load(Ordering::Relaxed)
                    .saturating_add(WAL_PAGES_MORE),
            };
        }
        Ok(())
    }
}

fn insert_events(transaction: &Connection, rows: &[EventRow]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(INSERT_EVENT)?;
    for row in rows {
        if row.after.seq == 0 && row.after.league != NO_LEAGUE {
            transaction
                .prepare_cached(KNOWN)?
                .execute([row.after.league])?;
        }
        insert.execute(params![
            row.after.league,
            row.stream.0.as_str(),
            row.seq().cast_signed(),
            row.at.as_micros(),
            row.line,
            row.hash.0
        ])?;
    }
    Ok(())
}

const INSERT_EVENT: &str = "INSERT OR ROLLBACK INTO events (league, stream, seq, at, line, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const KNOWN: &str = "INSERT OR IGNORE INTO leagues (number) VALUES (?1)";

const SET_WAKE_AT: &str = "INSERT INTO leagues (number, wake_at) VALUES (?1, ?2) \
     ON CONFLICT (number) DO UPDATE SET wake_at = excluded.wake_at";

const ADD_BYTES: &str = "INSERT INTO leagues (number, exchange_bytes) VALUES (?1, ?2) \
     ON CONFLICT (number) DO UPDATE SET exchange_bytes = exchange_bytes + excluded.exchange_bytes";

const REMOVED: &str = "INSERT INTO leagues (number, removed) VALUES (?1, 1) \
     ON CONFLICT (number) DO UPDATE SET removed = 1, wake_at = NULL, exchange_bytes = 0";

/// The most rows of a table that one transaction removes, so that other leagues do not wait long.
const REMOVED_MAX: u32 = 2_000;

const INSERT_EXCHANGE: &str = "INSERT INTO exchanges (at, done_at, agent, direction, peer, message_type, \
     conversation_id, match_id, request, answer, outcome, connected_at, first_byte_at, deadline_at, error_code, \
     league) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

fn insert_exchanges(
    transaction: &Connection,
    exchanges: &[TaggedExchange],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(INSERT_EXCHANGE)?;
    let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
    for (league, exchange) in exchanges {
        insert_exchange(&mut insert, exchange, *league)?;
        *bytes.entry(*league).or_default() += exchange.bytes();
    }
    let mut add = transaction.prepare_cached(ADD_BYTES)?;
    for (league, bytes) in bytes {
        add.execute(params![league, bytes.cast_signed()])?;
    }
    Ok(())
}

fn insert_exchange(
    insert: &mut Statement<'_>,
    exchange: &Exchange,
    league: u32,
) -> rusqlite::Result<()> {
    insert.execute(params![
        exchange.at.as_micros(),
        exchange.done_at.map(Timestamp::as_micros),
        exchange.agent.as_str(),
        exchange.direction.name(),
        exchange.peer.raw(),
        exchange.message_type.raw(),
        exchange.conversation_id.as_str(),
        exchange.match_id.as_ref().map(|id| id.as_str()),
        exchange.request,
        exchange.answer,
        exchange.outcome.raw(),
        exchange.connected_at.map(Timestamp::as_micros),
        exchange.first_byte_at.map(Timestamp::as_micros),
        exchange.deadline_at.map(Timestamp::as_micros),
        exchange.error_code.as_deref(),
        league,
    ])?;
    Ok(())
}
