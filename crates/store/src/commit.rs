//! The transaction that stores a group: events at the end of their streams, each with its hash, and exchanges. Touches the
//! database.

use crate::chain::{self, Hash};
use crate::exchange::Exchange;
use crate::exchange_buffer::TaggedExchange;
use crate::league_number::{self, NO_LEAGUE};
use crate::queue::Command;
use crate::stream::Stream;
use matchday_core::protocol::Timestamp;
use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Statement, Transaction, TransactionBehavior, params,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The writer's connection, and the last event of each stream that it has written.
#[derive(Debug)]
pub(super) struct EventLog {
    db: Connection,
    heads: HashMap<(u32, Stream), Head>,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    /// The number under which the stream is kept.
    league: u32,
    seq: u64,
    hash: Hash,
}

/// Why a transaction was rolled back.
#[derive(Debug)]
pub(super) enum Rejected {
    /// The events do not continue their stream.
    Events(rusqlite::Error),
    /// The file cannot be written.
    File(rusqlite::Error),
}

impl From<rusqlite::Error> for Rejected {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => Self::Events(error),
            _ => Self::File(error),
        }
    }
}

impl EventLog {
    pub(super) fn new(db: Connection) -> Self {
        Self { db, heads: HashMap::new() }
    }

    /// Stores the batches of these leagues, and the exchanges, in one transaction. How many events and exchanges it stored.
    pub(super) fn commit(
        &mut self,
        commands: &[Command],
        leagues: &BTreeSet<u32>,
        exchanges: &[TaggedExchange],
    ) -> Result<(usize, usize), Rejected> {
        let of_league = |command: &&Command| leagues.contains(&command.league()) && command.changes_rows();
        let mut commands = commands.iter().filter(of_league).peekable();
        if commands.peek().is_none() && exchanges.is_empty() {
            return Ok((0, 0));
        }
        // Immediate, so that another connection that holds the file for a moment is waited for: a transaction that has read
        // something would be refused at once.
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut heads = HashMap::new();
        let mut events = 0;
        {
            let mut insert = transaction.prepare_cached(INSERT_EVENT)?;
            for command in commands {
                match command {
                    Command::Append { league, batch, times } => {
                        let key = (*league, batch.stream.clone());
                        let mut head = match heads.get(&key).or_else(|| self.heads.get(&key)) {
                            Some(head) => *head,
                            None => read_head(&transaction, *league, &batch.stream)?,
                        };
                        events += batch.lines.len();
                        insert_events(&mut insert, &batch.stream, &mut head, batch.lines.iter().zip(times))?;
                        heads.insert(key, head);
                    }
                    Command::SetWakeAt { league, wake_at } => {
                        let wake_at = wake_at.map(Timestamp::as_micros);
                        transaction.prepare_cached(SET_WAKE_AT)?.execute(params![league, wake_at])?;
                    }
                    Command::Flush { .. } | Command::Remove { .. } => {}
                }
            }
            insert_exchanges(&transaction, exchanges)?;
        }
        transaction.commit()?;
        self.heads.extend(heads);
        Ok((events, exchanges.len()))
    }

    /// Removes rows of a league, and no more than take a moment. Whether none are left.
    pub(super) fn remove(&mut self, league: u32) -> rusqlite::Result<bool> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(REMOVED, [league])?;
        let mut removed = 0;
        for table in ["events", "exchanges"] {
            let sql = format!(
                "DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE league = ?1 LIMIT {REMOVED_MAX})"
            );
            removed += transaction.execute(&sql, [league])?;
        }
        transaction.commit()?;
        self.heads.retain(|(number, _), _| *number != league);
        Ok(removed == 0)
    }

    /// Copies the write-ahead log into the file. Whether all of it could be copied.
    pub(super) fn checkpoint(&self) -> rusqlite::Result<bool> {
        self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            let (in_log, copied): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(in_log == copied)
        })
    }
}

/// A stream that was begun before leagues were told apart goes on where it is.
fn read_head(transaction: &Transaction<'_>, league: u32, stream: &Stream) -> rusqlite::Result<Head> {
    let last = format!(
        "SELECT league, seq, hash FROM events WHERE {} AND stream = ?1 ORDER BY league DESC, seq DESC LIMIT 1",
        league_number::condition(league)
    );
    let head = transaction.query_row(&last, [stream.0.as_str()], |row| {
        let (league, seq) = (row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned());
        Ok(Head { league, seq, hash: Hash(row.get(2)?) })
    });
    if let Some(head) = head.optional()? {
        return Ok(head);
    }
    if league != NO_LEAGUE {
        transaction.prepare_cached(KNOWN)?.execute([league])?;
    }
    Ok(Head { league, seq: 0, hash: chain::genesis(stream) })
}

fn insert_events<'a>(
    insert: &mut Statement<'_>,
    stream: &Stream,
    head: &mut Head,
    lines: impl Iterator<Item = (&'a String, &'a Timestamp)>,
) -> rusqlite::Result<()> {
    for (line, at) in lines {
        let seq = head.seq.saturating_add(1);
        *head = Head { seq, hash: chain::link(&head.hash, stream, seq, line), ..*head };
        insert.execute(params![
            head.league,
            stream.0.as_str(),
            seq.cast_signed(),
            at.as_micros(),
            line,
            head.hash.0
        ])?;
    }
    Ok(())
}

const INSERT_EVENT: &str =
    "INSERT OR ROLLBACK INTO events (league, stream, seq, at, line, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

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

fn insert_exchanges(transaction: &Transaction<'_>, exchanges: &[TaggedExchange]) -> rusqlite::Result<()> {
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
