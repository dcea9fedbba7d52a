//! Who writes: everything that waits goes into one transaction. Whoever is not content with that waits for the disk, and
//! writing goes on. Touches the database.

use super::chain::{self, Hash};
use super::error::{StoreError, StoreFailed};
use super::lock::Lock;
use super::path::StorePath;
use super::queue::{Load, Queue};
use super::syncer::Syncer;
use super::{Batch, Exchange, Stream};
use matchday_core::protocol::Timestamp;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, OptionalExtension, Statement, Transaction, TransactionBehavior, params};
use serde::Deserialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How many pages the log beside the file may have before they are copied into it, while nobody else can write: 64 MB.
/// Whatever changes often is copied less often so, and most leagues end before it comes to that.
const LOG_PAGES: i32 = 16_000;
/// So many more may follow if someone reads what cannot be copied therefore.
const LOG_PAGES_MORE: i32 = 4_000;

#[derive(Debug)]
pub(super) struct Writer {
    db: Connection,
    /// How many pages the log has that are not in the file yet.
    log_pages: Arc<AtomicI32>,
    /// How many it may have.
    log_pages_max: i32,
    path: StorePath,
    queue: Arc<Queue>,
    /// The last event of each stream written so far.
    heads: HashMap<Stream, Head>,
    /// The number of the league that is played.
    league: u32,
    syncer: Syncer,
    /// Let go last: the next writer must find the file closed.
    _lock: Lock,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    seq: u64,
    hash: Hash,
}

enum Trouble {
    Database(rusqlite::Error),
    Unreadable(Stream, serde_json::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// A writer that several can get at, one after the other, until the thread has ended.
#[derive(Debug, Clone)]
pub(super) struct Desk(Arc<Mutex<Option<Writer>>>);

impl Desk {
    pub(super) fn new(writer: Writer) -> Self {
        Self(Arc::new(Mutex::new(Some(writer))))
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits, for whoever has the turn.
    pub(super) fn write(&self, queue: &Queue) {
        let mut writer = self.writer();
        let Some(open) = writer.as_mut() else { return };
        let (told, verdict) = open.write(queue.take());
        let log_is_long = open.log_is_long();
        drop(writer);
        // In this order, so that nobody who writes later is told earlier.
        queue.settle(told, verdict);
        queue.written(log_is_long);
    }

    /// What the thread does.
    pub(super) fn work(&self, queue: &Queue) {
        while let Some(load) = queue.wait() {
            let mut writer = self.writer();
            let Some(open) = writer.as_mut() else { break };
            let (told, verdict) = open.write(load);
            queue.settle(told, verdict);
            open.shorten_log();
            drop(writer);
            queue.written(false);
        }
        if let Some(mut writer) = self.writer().take() {
            writer.syncer.finish();
            queue.dismiss_teller();
        }
    }
}

impl Writer {
    pub(super) fn new(
        mut db: Connection,
        lock: Lock,
        path: StorePath,
        queue: Arc<Queue>,
    ) -> Result<Self, StoreError> {
        let (heads, league) = (HashMap::new(), latest_league(&db));
        let log_pages = Arc::<AtomicI32>::default();
        let pages = Arc::clone(&log_pages);
        db.wal_hook(Some(move |_: &mut Wal, now| {
            pages.store(now, Ordering::Relaxed);
            Ok(())
        }))
        .map_err(|error| path.sql(error))?;
        let syncer = Syncer::start(&path, Arc::clone(&queue)).map_err(|error| path.io(error))?;
        let log_pages_max = LOG_PAGES;
        Ok(Self { db, log_pages, log_pages_max, path, queue, heads, league, syncer, _lock: lock })
    }

    /// Who can be told, and what.
    fn write(&mut self, load: Load) -> (Vec<Batch>, Result<(), StoreFailed>) {
        let began = Instant::now();
        let stored = self.queue.failure().map_or_else(|| self.store_or_fail(&load), Err);
        let told = if stored.is_ok() { self.syncer.committed(load.batches, began) } else { load.batches };
        (told, stored)
    }

    fn log_is_long(&self) -> bool {
        self.log_pages.load(Ordering::Relaxed) >= self.log_pages_max
    }

    /// Copies the log into the file if it has become long, so that it begins anew. If not all of it can be copied, the log
    /// becomes longer before it is tried again: after every commit would be too often.
    fn shorten_log(&mut self) {
        if !self.log_is_long() {
            return;
        }
        let copied = self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            let (in_log, copied): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(in_log == copied)
        });
        self.log_pages_max = match copied {
            Ok(true) => {
                self.log_pages.store(0, Ordering::Relaxed);
                LOG_PAGES
            }
            _ => self.log_pages.load(Ordering::Relaxed).saturating_add(LOG_PAGES_MORE),
        };
    }

    /// A fault of our own must not leave everyone waiting for whoever had the turn.
    fn store_or_fail(&mut self, load: &Load) -> Result<(), StoreFailed> {
        catch_unwind(AssertUnwindSafe(|| self.store(load))).unwrap_or_else(|_| {
            let failed = StoreFailed::fault(&self.path.named);
            self.queue.fail(failed.clone());
            Err(failed)
        })
    }

    fn store(&mut self, load: &Load) -> Result<(), StoreFailed> {
        let events = load.batches.iter().map(|batch| batch.lines.len()).sum();
        if events == 0 && load.said.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let committed = commit(&mut self.db, &mut self.heads, &mut self.league, load);
        let stored = committed.map_err(|trouble| match trouble {
            Trouble::Database(error) => StoreFailed::write(&self.path.named, &error),
            Trouble::Unreadable(stream, why) => StoreFailed::unreadable(&stream.0, &why),
        });
        match &stored {
            Ok(()) => {
                self.queue.note_commit(load.batches.len(), events, load.said.len(), began.elapsed());
            }
            // Before anyone hears of it, so that nothing appended from then on can succeed.
            Err(failed) => self.queue.fail(failed.clone()),
        }
        stored
    }
}

/// The number of the last league that has begun. One that cannot be read is found out about by whoever reads events.
fn latest_league(db: &Connection) -> u32 {
    let read = || -> rusqlite::Result<Option<u32>> {
        let mut first = db.prepare("SELECT stream FROM events WHERE seq = 1")?;
        let streams = first.query_map([], |row| row.get::<_, String>(0))?;
        Ok(streams.filter_map(|stream| Stream(stream.ok()?.into()).league_number()).max())
    };
    read().ok().flatten().unwrap_or(1)
}

fn commit(
    db: &mut Connection,
    heads: &mut HashMap<Stream, Head>,
    league: &mut u32,
    load: &Load,
) -> Result<(), Trouble> {
    // From the start, so that whoever else has the file for a moment is waited for: a transaction that has read something
    // would be refused at once.
    let work = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut insert = work.prepare_cached(INSERT_EVENT)?;
        for batch in load.batches.iter().filter(|batch| !batch.lines.is_empty()) {
            let head = match heads.entry(batch.stream.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(read_head(&work, &batch.stream)?),
            };
            insert_events(&mut insert, &batch.stream, head, &batch.lines)?;
            *league = batch.stream.league_number().unwrap_or(*league);
        }
        let mut insert = work.prepare_cached(INSERT_EXCHANGE)?;
        for exchange in &load.said {
            insert_exchange(&mut insert, exchange, *league)?;
        }
    }
    Ok(work.commit()?)
}

fn read_head(work: &Transaction<'_>, stream: &Stream) -> rusqlite::Result<Head> {
    let last = "SELECT seq, hash FROM events WHERE stream = ?1 ORDER BY seq DESC LIMIT 1";
    let head = work.query_row(last, [stream.0.as_str()], |row| {
        Ok(Head { seq: row.get::<_, i64>(0)?.cast_unsigned(), hash: Hash(row.get(1)?) })
    });
    Ok(head.optional()?.unwrap_or_else(|| Head { seq: 0, hash: chain::genesis(stream) }))
}

fn insert_events(
    insert: &mut Statement<'_>,
    stream: &Stream,
    head: &mut Head,
    lines: &[String],
) -> Result<(), Trouble> {
    for line in lines {
        let at = time_of_own(line).map_err(|why| Trouble::Unreadable(stream.clone(), why))?;
        let seq = head.seq.saturating_add(1);
        *head = Head { seq, hash: chain::link(&head.hash, stream, seq, line) };
        insert.execute(params![stream.0.as_str(), seq.cast_signed(), at.as_micros(), line, head.hash.0])?;
    }
    Ok(())
}

/// The same for a line that has just been written: where the time stands is known, and the rest need not be read.
fn time_of_own(line: &str) -> Result<Timestamp, serde_json::Error> {
    let head = line.strip_prefix("{\"v\":1,\"at\":").and_then(|rest| rest.split_once(",\"event\":"));
    match head.and_then(|(micros, _)| micros.parse().ok()) {
        Some(micros) => Ok(Timestamp::from_micros(micros)),
        None => time_of(line),
    }
}

/// When an event happened, which stands in its line.
pub(super) fn time_of(line: &str) -> Result<Timestamp, serde_json::Error> {
    #[derive(Deserialize)]
    struct Line {
        #[serde(with = "matchday_core::protocol::time::exact")]
        at: Timestamp,
    }
    serde_json::from_str(line).map(|Line { at }| at)
}

const INSERT_EVENT: &str =
    "INSERT OR ROLLBACK INTO events (stream, seq, at, line, hash) VALUES (?1, ?2, ?3, ?4, ?5)";

const INSERT_EXCHANGE: &str = "INSERT INTO exchanges (at, done_at, agent, direction, peer, message_type, \
     conversation_id, match_id, request, answer, outcome, connected_at, first_byte_at, deadline_at, error_code, \
     league) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

fn insert_exchange(insert: &mut Statement<'_>, exchange: &Exchange, league: u32) -> rusqlite::Result<()> {
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
