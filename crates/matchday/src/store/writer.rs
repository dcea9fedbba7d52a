//! The one thread that writes: everything that waits goes into one transaction. Whoever is not content with that waits for
//! the disk, and this thread goes on. Touches the database.

use super::chain::{self, Hash};
use super::error::StoreFailed;
use super::file::Lock;
use super::queue::Queue;
use super::syncer::Syncer;
use super::{Batch, Exchange, Stream};
use matchday_core::protocol::Timestamp;
use rusqlite::{Connection, OptionalExtension, Statement, Transaction, params};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

pub(super) struct Writer {
    db: Connection,
    path: PathBuf,
    queue: Arc<Queue>,
    /// The last event of each stream written so far.
    heads: BTreeMap<Stream, Head>,
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

impl Writer {
    pub(super) fn new(db: Connection, lock: Lock, path: PathBuf, queue: Arc<Queue>) -> std::io::Result<Self> {
        let (heads, league) = (BTreeMap::new(), latest_league(&db));
        let syncer = Syncer::start(&path, Arc::clone(&queue))?;
        Ok(Self { db, path, queue, heads, league, syncer, _lock: lock })
    }

    pub(super) fn run(mut self) {
        while let Some(group) = self.queue.take() {
            let began = Instant::now();
            let stored = self.queue.failure().map_or_else(|| self.store(&group), Err);
            let told = if stored.is_ok() { self.syncer.committed(group, began) } else { group };
            self.queue.settle(told, stored);
        }
        self.syncer.finish();
        self.queue.dismiss_teller();
    }

    fn store(&mut self, group: &[Batch]) -> Result<(), StoreFailed> {
        if group.iter().all(Batch::is_empty) {
            return Ok(());
        }
        let began = Instant::now();
        let committed = commit(&mut self.db, &mut self.heads, &mut self.league, group);
        let stored = committed.map_err(|trouble| match trouble {
            Trouble::Database(error) => StoreFailed::write(&self.path, &error),
            Trouble::Unreadable(stream, why) => StoreFailed::unreadable(&stream.0, &why),
        });
        match &stored {
            Ok(()) => {
                let events = group.iter().map(|batch| batch.lines.len()).sum();
                let exchanges = group.iter().map(|batch| batch.exchanges.len()).sum();
                self.queue.note_commit(group.len(), events, exchanges, began.elapsed());
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
    heads: &mut BTreeMap<Stream, Head>,
    league: &mut u32,
    group: &[Batch],
) -> Result<(), Trouble> {
    let work = db.transaction()?;
    let mut insert = work.prepare_cached(INSERT_EXCHANGE)?;
    for batch in group {
        if !batch.lines.is_empty() {
            let head = match heads.get(&batch.stream) {
                Some(head) => *head,
                None => read_head(&work, &batch.stream)?,
            };
            let head = insert_events(&work, &batch.stream, head, &batch.lines)?;
            heads.insert(batch.stream.clone(), head);
            *league = batch.stream.league_number().unwrap_or(*league);
        }
        for exchange in &batch.exchanges {
            insert_exchange(&mut insert, exchange, *league)?;
        }
    }
    drop(insert);
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
    work: &Transaction<'_>,
    stream: &Stream,
    mut head: Head,
    lines: &[String],
) -> Result<Head, Trouble> {
    let mut insert = work.prepare_cached(INSERT_EVENT)?;
    for line in lines {
        let at = time_of_own(line).map_err(|why| Trouble::Unreadable(stream.clone(), why))?;
        let seq = head.seq.saturating_add(1);
        head = Head { seq, hash: chain::link(&head.hash, stream, seq, line) };
        insert.execute(params![stream.0.as_str(), seq.cast_signed(), at.as_micros(), line, head.hash.0])?;
    }
    Ok(head)
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
        exchange.peer.as_str(),
        exchange.message_type.as_str(),
        exchange.conversation_id.as_str(),
        exchange.match_id.as_ref().map(|id| id.as_str()),
        exchange.request,
        exchange.answer,
        exchange.outcome,
        exchange.connected_at.map(Timestamp::as_micros),
        exchange.first_byte_at.map(Timestamp::as_micros),
        exchange.deadline_at.map(Timestamp::as_micros),
        exchange.error_code.as_deref(),
        league,
    ])?;
    Ok(())
}
