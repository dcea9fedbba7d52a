//! The transaction that stores events and exchanges in a database. Touches one connection, which it makes anew when it is
//! lost.

use super::address::Address;
use super::connection::{Connection, SqlError, wait};
use super::{lease, schema, warnings};
use crate::append::{Append, AppendError, EventRow, Head, Transaction};
use crate::chain::Hash;
use crate::error::{StoreError, StoreFailed};
use crate::exchange::Exchange;
use crate::stream::Stream;
use matchday_core::protocol::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use tokio_postgres::Statement;
use tokio_postgres::error::SqlState;

#[derive(Debug)]
pub(crate) struct PostgresAppend {
    address: Address,
    /// `None` while it is lost.
    session: Option<Session>,
    epoch: i64,
    /// The number of the exchange that each league recorded last.
    last_exchange: HashMap<u32, i64>,
}

#[derive(Debug)]
struct Session {
    db: Connection,
    make_leagues: Statement,
    check: Statement,
    insert_events: Statement,
    insert_exchanges: Statement,
}

/// Whether the leagues still have the epoch, which they keep until this transaction ends, and whether the events that others
/// are to follow are there.
const CHECK: &str = "SELECT \
     (SELECT count(*) FROM (SELECT 1 FROM matchday_leagues WHERE number = ANY($1) AND epoch = $2 FOR SHARE) AS own), \
     (SELECT count(*) FROM unnest($3::int[], $4::text[], $5::bigint[], $6::bytea[]) AS p(league, stream, seq, hash) \
      JOIN matchday_events AS e ON e.league = p.league AND e.stream = p.stream AND e.seq = p.seq AND e.hash = p.hash)";

const MAKE_LEAGUES: &str = "INSERT INTO matchday_leagues (number, epoch) SELECT n, $2 FROM unnest($1::int[]) AS u(n) \
     ON CONFLICT (number) DO NOTHING";

const INSERT_EVENTS: &str = "INSERT INTO matchday_events (league, stream, seq, at, line, hash) \
     SELECT * FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[])";

/// One that is written again after an unknown outcome has the same number, and is kept and counted once.
const INSERT_EXCHANGES: &str = "WITH fresh AS (INSERT INTO matchday_exchanges (league, id, at, done_at, agent, direction, \
     peer, message_type, conversation_id, match_id, request, answer, outcome, connected_at, first_byte_at, deadline_at, \
     error_code) SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], \
     $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[], \
     $15::bigint[], $16::bigint[], $17::text[]) ON CONFLICT (league, id) DO NOTHING \
     RETURNING league, octet_length(request) + coalesce(octet_length(answer), 0) AS bytes) \
     UPDATE matchday_leagues AS l SET exchange_bytes = l.exchange_bytes + f.bytes \
     FROM (SELECT league, sum(bytes)::bigint AS bytes FROM fresh GROUP BY league) AS f WHERE l.number = f.league";

/// The most rows of a table that one transaction removes, so that other leagues do not wait long.
const REMOVED_MAX: i64 = 2_000;

impl Session {
    fn open(address: &Address) -> Result<Self, SqlError> {
        let db = Connection::open(address)?;
        let prepare = |sql: &'static str| Ok::<_, SqlError>(wait(db.0.prepare(sql))??);
        let (make_leagues, check) = (prepare(MAKE_LEAGUES)?, prepare(CHECK)?);
        let (insert_events, insert_exchanges) = (prepare(INSERT_EVENTS)?, prepare(INSERT_EXCHANGES)?);
        Ok(Self { db, make_leagues, check, insert_events, insert_exchanges })
    }
}

impl PostgresAppend {
    /// Opens a store to write to it, and makes it in a database that has none.
    pub(crate) fn open(address: &Address) -> Result<Self, StoreError> {
        let failed = |error: SqlError| error.opening(address.shown());
        let db = Connection::open(address).map_err(failed)?;
        schema::update(&db, address.shown())?;
        let epoch = lease::take(&db, address.shown())?;
        warnings::warn(&db, address.shown());
        let session = Session::open(address).map_err(failed)?;
        Ok(Self { address: address.clone(), session: Some(session), epoch, last_exchange: HashMap::new() })
    }

    /// Does something with the connection, and gives it up if it is lost.
    fn with<T>(
        &mut self,
        action: impl FnOnce(&mut Self, &Session) -> Result<T, Stopped>,
    ) -> Result<T, AppendError> {
        let Some(session) = self.session.take() else {
            return Err(AppendError::Unknown("the connection to the database is lost".to_owned()));
        };
        let path = self.address.shown().to_owned();
        match action(self, &session) {
            Ok(value) => {
                self.session = Some(session);
                Ok(value)
            }
            Err(Stopped::Sql(error @ SqlError::Lost(_))) => Err(error.appending(&path)),
            Err(stopped) => {
                if session.db.batch("ROLLBACK").is_ok() {
                    self.session = Some(session);
                }
                Err(match stopped {
                    Stopped::Sql(error) => error.appending(&path),
                    Stopped::Fenced => AppendError::Failed(StoreFailed::fenced(&path)),
                    Stopped::NotTheEnd => {
                        let why = "its events do not follow the last that is stored";
                        AppendError::Refused(StoreFailed::write(&path, why))
                    }
                })
            }
        }
    }

    fn store(&mut self, session: &Session, group: &Transaction, durable: bool) -> Result<(), Stopped> {
        let begin = begin(durable);
        let leagues: Vec<i32> = group.leagues().into_iter().map(u32::cast_signed).collect();
        let (firsts, fresh) = (firsts(&group.events), fresh(group));
        let exchanges = self.numbered(session, &group.exchanges)?;
        let (events, places, columns) =
            (Columns::of(group.events.iter()), Columns::after(&firsts), ExchangeColumns::of(&exchanges));
        let db = &session.db.0;
        let checked: Params<'_, 6> =
            [&leagues, &self.epoch, &places.league, &places.stream, &places.seq, &places.hash];
        // Sent at once; an error in one of them stops those after it.
        let answers = wait(async {
            tokio::try_join!(
                db.batch_execute(&begin),
                async {
                    match fresh.is_empty() {
                        true => Ok(0),
                        false => db.execute(&session.make_leagues, &[&fresh, &self.epoch]).await,
                    }
                },
                db.query_one(&session.check, &checked),
                async {
                    match group.events.is_empty() {
                        true => Ok(0),
                        false => db.execute(&session.insert_events, &events.params()).await,
                    }
                },
                async {
                    match exchanges.is_empty() {
                        true => Ok(0),
                        false => db.execute(&session.insert_exchanges, &columns.params()).await,
                    }
                },
            )
        })?;
        let (_, _, check, _, _) = answers?;
        let count = |place| check.try_get::<_, i64>(place).map_err(SqlError::from);
        if usize::try_from(count(0)?).ok() != Some(leagues.len()) {
            return Err(Stopped::Fenced);
        }
        if usize::try_from(count(1)?).ok() != Some(firsts.len()) {
            return Err(Stopped::NotTheEnd);
        }
        for (league, wake_at) in &group.wake_at {
            let wake_at = wake_at.map(Timestamp::as_micros);
            let sql = "UPDATE matchday_leagues SET wake_at = $2 WHERE number = $1";
            session.db.execute(sql, &[&league.cast_signed(), &wake_at])?;
        }
        session.db.batch("COMMIT").map_err(unknown)?;
        for (league, id, _) in exchanges {
            self.last_exchange.insert(league, id);
        }
        Ok(())
    }

    /// Exchanges with their leagues and the numbers that they get.
    fn numbered<'a>(
        &self,
        session: &Session,
        exchanges: &'a [(u32, Exchange)],
    ) -> Result<Vec<(u32, i64, &'a Exchange)>, SqlError> {
        let mut last: BTreeMap<u32, i64> = BTreeMap::new();
        let mut numbered = Vec::with_capacity(exchanges.len());
        for (league, exchange) in exchanges {
            let known = last.get(league).or_else(|| self.last_exchange.get(league)).copied();
            let id = 1 + match known {
                Some(id) => id,
                None => {
                    let sql = "SELECT coalesce(max(id), 0) FROM matchday_exchanges WHERE league = $1";
                    let rows = session.db.query(sql, &[&league.cast_signed()])?;
                    rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or(0)
                }
            };
            last.insert(*league, id);
            numbered.push((*league, id, exchange));
        }
        Ok(numbered)
    }
}

/// Why an action was broken off.
enum Stopped {
    Sql(SqlError),
    /// Another has taken the leagues.
    Fenced,
    /// The event that another is to follow is not there.
    NotTheEnd,
}

impl From<SqlError> for Stopped {
    fn from(error: SqlError) -> Self {
        Self::Sql(error)
    }
}

impl From<tokio_postgres::Error> for Stopped {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(error.into())
    }
}

/// Whatever a server answers to a commit, only a look at the events says whether it was done.
fn unknown(error: SqlError) -> SqlError {
    match error {
        SqlError::Refused { what, .. } => SqlError::Lost(what),
        lost => lost,
    }
}

/// A connection that is lost within a transaction must not hold its rows for long.
fn begin(durable: bool) -> String {
    let mode = if durable { "" } else { " SET LOCAL synchronous_commit = off;" };
    // What must last is committed synchronously even where the server's default is not.
    let mode = if durable { " SET LOCAL synchronous_commit = on;" } else { mode };
    format!("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s';{mode}")
}

/// The first event of each stream in a transaction that follows one outside of it.
fn firsts(rows: &[EventRow]) -> Vec<&EventRow> {
    let mut seen = BTreeSet::new();
    let mut firsts = Vec::new();
    for row in rows {
        if seen.insert((row.after.league, &row.stream)) && row.after.seq > 0 {
            firsts.push(row);
        }
    }
    firsts
}

/// The leagues that may have no row yet.
fn fresh(group: &Transaction) -> Vec<i32> {
    let begun = group.events.iter().filter(|row| row.after.seq == 0).map(|row| row.after.league);
    let woken = group.wake_at.iter().map(|(league, _)| *league);
    let recorded = group.exchanges.iter().map(|(league, _)| *league);
    let leagues: BTreeSet<u32> = begun.chain(woken).chain(recorded).collect();
    leagues.into_iter().map(u32::cast_signed).collect()
}

impl Append for PostgresAppend {
    fn head(&mut self, league: u32, stream: &Stream) -> Result<Option<Head>, AppendError> {
        self.with(|_, session| {
            let sql = "SELECT seq, hash FROM matchday_events WHERE league = $1 AND stream = $2 \
                       ORDER BY seq DESC LIMIT 1";
            let rows = session.db.query(sql, &[&league.cast_signed(), &stream.0.as_str()])?;
            let Some(row) = rows.first() else { return Ok(None) };
            let (seq, hash): (i64, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
            let hash = Hash(hash.try_into().unwrap_or_default());
            Ok(Some(Head { league, seq: seq.cast_unsigned(), hash }))
        })
    }

    fn commit(&mut self, transaction: &Transaction, durable: bool) -> Result<bool, AppendError> {
        self.with(|log, session| log.store(session, transaction, durable))?;
        Ok(durable)
    }

    /// A synchronous commit is on disk with everything before it; without a change there would be nothing to commit.
    fn sync(&mut self) -> Result<(), AppendError> {
        self.with(|log, session| {
            session.db.batch(&begin(true))?;
            let renewed = session.db.execute(lease::RENEW, &[&log.epoch])?;
            session.db.batch("COMMIT").map_err(unknown)?;
            if renewed == 1 { Ok(()) } else { Err(Stopped::Fenced) }
        })
    }

    fn remove(&mut self, league: u32) -> Result<bool, AppendError> {
        self.with(|log, session| {
            let number = league.cast_signed();
            session.db.batch(&begin(true))?;
            let removed = "UPDATE matchday_leagues SET removed = true, wake_at = NULL, exchange_bytes = 0 \
                           WHERE number = $1 AND epoch = $2";
            session.db.execute(
                "INSERT INTO matchday_leagues (number, epoch) VALUES ($1, $2) \
                                ON CONFLICT (number) DO NOTHING",
                &[&number, &log.epoch],
            )?;
            if session.db.execute(removed, &[&number, &log.epoch])? != 1 {
                return Err(Stopped::Fenced);
            }
            let events = "DELETE FROM matchday_events WHERE league = $1 AND (stream, seq) IN \
                          (SELECT stream, seq FROM matchday_events WHERE league = $1 LIMIT $2)";
            let exchanges = "DELETE FROM matchday_exchanges WHERE league = $1 AND id IN \
                             (SELECT id FROM matchday_exchanges WHERE league = $1 LIMIT $2)";
            let gone = session.db.execute(events, &[&number, &REMOVED_MAX])?
                + session.db.execute(exchanges, &[&number, &REMOVED_MAX])?;
            session.db.batch("COMMIT").map_err(unknown)?;
            log.last_exchange.remove(&league);
            Ok(gone == 0)
        })
    }

    /// Renews the lease.
    fn maintain(&mut self) -> Result<(), AppendError> {
        self.with(|log, session| match session.db.execute(lease::RENEW, &[&log.epoch])? {
            1 => Ok(()),
            _ => Err(Stopped::Fenced),
        })
    }

    fn maintenance_interval(&self) -> Option<Duration> {
        Some(lease::RENEWED_EVERY)
    }

    fn reconnect(&mut self) -> Result<(), AppendError> {
        self.session = None;
        let path = self.address.shown().to_owned();
        let open = || -> Result<(Session, Option<i64>), SqlError> {
            let session = Session::open(&self.address)?;
            let epoch = lease::take_again(&session.db, self.epoch)?;
            Ok((session, epoch))
        };
        match open() {
            Ok((session, Some(epoch))) => {
                (self.session, self.epoch) = (Some(session), epoch);
                Ok(())
            }
            Ok((_, None)) => Err(AppendError::Failed(StoreFailed::fenced(&path))),
            // A database that is being restored has no tables for a while.
            Err(error) if error.is(&SqlState::UNDEFINED_TABLE) => Err(unknown(error).appending(&path)),
            Err(error) => Err(error.appending(&path)),
        }
    }

    /// A server that crashes loses commits that were not synchronous.
    fn may_lose_commits(&self) -> bool {
        true
    }
}

impl Drop for PostgresAppend {
    fn drop(&mut self) {
        if let Some(session) = &self.session {
            lease::release(&session.db, self.epoch);
        }
    }
}

type Params<'a, const N: usize> = [&'a (dyn tokio_postgres::types::ToSql + Sync); N];

/// Events column by column.
#[derive(Default)]
struct Columns<'a> {
    league: Vec<i32>,
    stream: Vec<&'a str>,
    seq: Vec<i64>,
    at: Vec<i64>,
    line: Vec<&'a str>,
    hash: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    fn of(rows: impl Iterator<Item = &'a EventRow>) -> Self {
        let mut columns = Self::default();
        for row in rows {
            columns.league.push(row.after.league.cast_signed());
            columns.stream.push(&row.stream.0);
            columns.seq.push(row.seq().cast_signed());
            columns.at.push(row.at.as_micros());
            columns.line.push(&row.line);
            columns.hash.push(&row.hash.0);
        }
        columns
    }

    /// The places of the events that these follow.
    fn after(rows: &[&'a EventRow]) -> Self {
        let mut columns = Self::default();
        for row in rows {
            columns.league.push(row.after.league.cast_signed());
            columns.stream.push(&row.stream.0);
            columns.seq.push(row.after.seq.cast_signed());
            columns.hash.push(&row.after.hash.0);
        }
        columns
    }

    fn params(&self) -> Params<'_, 6> {
        [&self.league, &self.stream, &self.seq, &self.at, &self.line, &self.hash]
    }
}

/// Exchanges column by column.
#[derive(Default)]
struct ExchangeColumns<'a> {
    league: Vec<i32>,
    id: Vec<i64>,
    at: Vec<i64>,
    times: [Vec<Option<i64>>; 4],
    texts: [Vec<String>; 6],
    optional: [Vec<Option<String>>; 3],
    direction: Vec<&'a str>,
}

impl<'a> ExchangeColumns<'a> {
    fn of(rows: &[(u32, i64, &'a Exchange)]) -> Self {
        let mut columns = Self::default();
        for (league, id, exchange) in rows {
            columns.league.push(league.cast_signed());
            columns.id.push(*id);
            columns.at.push(exchange.at.as_micros());
            columns.direction.push(exchange.direction.name());
            let times =
                [exchange.done_at, exchange.connected_at, exchange.first_byte_at, exchange.deadline_at];
            for (column, time) in columns.times.iter_mut().zip(times) {
                column.push(time.map(Timestamp::as_micros));
            }
            let texts = [
                exchange.agent.as_str(),
                exchange.peer.raw(),
                exchange.message_type.raw(),
                exchange.conversation_id.as_str(),
                &exchange.request,
                exchange.outcome.raw(),
            ];
            for (column, text) in columns.texts.iter_mut().zip(texts) {
                column.push(storable(text));
            }
            let optional = [
                exchange.match_id.as_ref().map(|id| id.as_str()),
                exchange.answer.as_deref(),
                exchange.error_code.as_deref(),
            ];
            for (column, text) in columns.optional.iter_mut().zip(optional) {
                column.push(text.map(storable));
            }
        }
        columns
    }

    fn params(&self) -> Params<'_, 17> {
        let [done_at, connected_at, first_byte_at, deadline_at] = &self.times;
        let [agent, peer, message_type, conversation_id, request, outcome] = &self.texts;
        let [match_id, answer, error_code] = &self.optional;
        [
            &self.league,
            &self.id,
            &self.at,
            done_at,
            agent,
            &self.direction,
            peer,
            message_type,
            conversation_id,
            match_id,
            request,
            answer,
            outcome,
            connected_at,
            first_byte_at,
            deadline_at,
            error_code,
        ]
    }
}

/// A database keeps no zero byte in a text; others may have sent one. The sign for it takes its place.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}
