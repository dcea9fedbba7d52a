//! The connection that events are appended over, with its statements. Touches that connection.

use super::address::Address;
use super::connection::{Connection, SqlError, wait};
use std::collections::BTreeSet;
use tokio_postgres::Statement;

#[derive(Debug)]
pub(super) struct Session {
    pub(super) db: Connection,
    pub(super) make_leagues: Statement,
    pub(super) check_epochs: Statement,
    pub(super) check_ends: Statement,
    pub(super) insert_events: Statement,
    pub(super) insert_exchanges: Statement,
}

/// The leagues that still have their epoch and owner, which they keep until this transaction ends.
const CHECK_EPOCHS: &str = "SELECT l.number FROM matchday_leagues AS l \
     JOIN unnest($1::int[], $2::bigint[]) AS o(number, epoch) ON l.number = o.number AND l.epoch = o.epoch \
     WHERE l.owner = $3 FOR SHARE OF l";

/// Those of some events that are not there.
const CHECK_ENDS: &str = "SELECT p.league, p.stream FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bytea[]) \
     AS p(league, stream, seq, hash) WHERE NOT EXISTS (SELECT 1 FROM matchday_events AS e \
     WHERE e.league = p.league AND e.stream = p.stream AND e.seq = p.seq AND e.hash = p.hash)";

/// A new league belongs to who makes it. One that was declared dead makes none.
const MAKE_LEAGUES: &str = "INSERT INTO matchday_leagues (number, epoch, owner, event_form) SELECT n, 1, $2, $3 \
     FROM unnest($1::int[]) AS u(n) WHERE EXISTS (SELECT 1 FROM matchday_processes WHERE id = $2 AND alive) \
     ON CONFLICT (number) DO NOTHING";

/// A league that a lost connection may still make is waited for, or made with an epoch that is not that connection's.
pub(super) const CLAIM_AGAIN: &str = "INSERT INTO matchday_leagues AS l (number, epoch, owner, event_form) SELECT n, 2, $2, $3 \
     FROM unnest($1::int[]) AS u(n) WHERE EXISTS (SELECT 1 FROM matchday_processes WHERE id = $2 AND alive) \
     ON CONFLICT (number) DO UPDATE SET epoch = l.epoch + 1 WHERE l.owner = $2 RETURNING number, epoch, event_form";

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

impl Session {
    pub(super) fn open(address: &Address) -> Result<Self, SqlError> {
        let db = Connection::open(address)?;
        let prepare = |sql: &'static str| Ok::<_, SqlError>(wait(db.0.prepare(sql))??);
        let make_leagues = prepare(MAKE_LEAGUES)?;
        let check_epochs = prepare(CHECK_EPOCHS)?;
        let check_ends = prepare(CHECK_ENDS)?;
        let insert_events = prepare(INSERT_EVENTS)?;
        let insert_exchanges = prepare(INSERT_EXCHANGES)?;
        Ok(Self {
            db,
            make_leagues,
            check_epochs,
            check_ends,
            insert_events,
            insert_exchanges,
        })
    }
}

/// Why an action was broken off.
pub(super) enum Stopped {
    Sql(SqlError),
    /// Others have taken these leagues.
    Fenced(BTreeSet<u32>),
    /// Another has taken the whole store.
    Ended,
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
pub(super) fn unknown(error: SqlError) -> SqlError {
    match error {
        SqlError::Refused { what, .. } => SqlError::Lost(what),
        lost => lost,
    }
}

/// A connection that is lost within a transaction must not hold its rows for long.
pub(super) fn begin(durable: bool) -> String {
    let mode = if durable {
        ""
    } else {
        " SET LOCAL synchronous_commit = off;"
    };
    // What must last is committed synchronously even where the server's default is not.
    let mode = if durable {
        " SET LOCAL synchronous_commit = on;"
    } else {
        mode
    };
    format!("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s';{mode}")
}
