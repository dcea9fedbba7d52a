//! Reads a store in a database, in one read-only transaction that sees one moment. Changes nothing.

use super::address::Address;
use super::connection::{Connection, ReaderPool};
use super::schema;
use crate::batch::Stored;
use crate::chain::Hash;
use crate::error::StoreError;
use crate::exchange::{Direction, Exchange};
use crate::read::{
    EXCHANGE_COLUMNS, ExchangeQuery, ExchangeTimes, FailedExchange, LeagueState, Read, StreamHead,
};
use crate::store_url::{PgUrl, StoreUrl};
use crate::stream::Stream;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::{ConversationId, MatchId, Timestamp};
use smol_str::SmolStr;
use std::sync::Arc;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

type RowResult<T> = Result<T, tokio_postgres::Error>;
type Param<'a> = &'a (dyn ToSql + Sync);

#[derive(Debug)]
pub(crate) struct PostgresRead {
    /// `None` only while it is dropped.
    db: Option<Connection>,
    readers: Arc<ReaderPool>,
    store: StoreUrl,
}

impl PostgresRead {
    pub(crate) fn open(url: &PgUrl) -> Result<Self, StoreError> {
        let address = Address::of(url)?;
        let store = address.shown().clone();
        let begin = |db: &Connection| {
            db.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
            schema::version(db)
        };
        let readers: Arc<ReaderPool> = url.shared();
        let begun = readers.acquire(&address, begin);
        let (db, version) = begun.map_err(|error| error.opening(&store))?;
        let read = Self {
            db: Some(db),
            readers,
            store,
        };
        let version = version.ok_or_else(|| StoreError::Missing(read.store.clone()))?;
        schema::check(version, &read.store)?;
        Ok(read)
    }

    fn all<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        read: impl Fn(&Row) -> RowResult<T>,
    ) -> Result<Vec<T>, StoreError> {
        let Some(db) = &self.db else {
            return Ok(Vec::new());
        };
        let rows = db
            .query(sql, params)
            .map_err(|error| error.opening(&self.store))?;
        let rows = rows.iter().map(read).collect::<Result<_, _>>();
        rows.map_err(|error| StoreError::Damaged {
            store: self.store.clone(),
            what: error.to_string(),
        })
    }

    fn number(&self, sql: &str, params: &[Param<'_>]) -> Result<i64, StoreError> {
        let found = self.all(sql, params, |row| row.try_get::<_, Option<i64>>(0))?;
        Ok(found.into_iter().flatten().next().unwrap_or(0))
    }
}

impl Drop for PostgresRead {
    fn drop(&mut self) {
        self.readers.release(self.db.take());
    }
}

impl Read for PostgresRead {
    fn latest_league(&self) -> Result<u32, StoreError> {
        let sql =
            "SELECT max(number)::bigint FROM matchday_leagues WHERE NOT removed AND number > 0";
        Ok(u32::try_from(self.number(sql, &[])?).unwrap_or(1).max(1))
    }

    fn league_states(&self) -> Result<Vec<LeagueState>, StoreError> {
        let sql = "SELECT number, exchange_bytes, wake_at, removed \
                   AND NOT EXISTS (SELECT 1 FROM matchday_events WHERE league = number) \
                   AND NOT EXISTS (SELECT 1 FROM matchday_exchanges WHERE league = number) \
                   FROM matchday_leagues WHERE number > 0 ORDER BY number";
        self.all(sql, &[], |row| {
            Ok(LeagueState {
                number: row.try_get::<_, i32>(0)?.cast_unsigned(),
                exchange_bytes: row.try_get::<_, i64>(1)?.cast_unsigned(),
                wake_at: time(row, 2)?,
                removed: row.try_get(3)?,
            })
        })
    }

    fn leagues(&self) -> Result<Vec<(u32, Stream, String)>, StoreError> {
        let sql = "SELECT number, stream, line FROM matchday_leagues JOIN matchday_events ON league = number AND seq = 1 \
                   WHERE NOT removed AND number > 0 AND stream LIKE 'league%' ORDER BY number";
        self.all(sql, &[], |row| {
            Ok((
                row.try_get::<_, i32>(0)?.cast_unsigned(),
                stream(row, 1)?,
                row.try_get(2)?,
            ))
        })
    }

    fn manager_stream(&self, league: u32) -> Result<Option<Stream>, StoreError> {
        let sql = "SELECT stream FROM matchday_events WHERE league = $1 AND stream LIKE 'league%' ORDER BY seq LIMIT 1";
        Ok(self
            .all(sql, &[&league.cast_signed()], |row| stream(row, 0))?
            .pop())
    }

    fn streams(&self, league: u32) -> Result<Vec<(Stream, u32)>, StoreError> {
        let sql = "SELECT DISTINCT stream FROM matchday_events WHERE league = $1";
        let mut streams = self.all(sql, &[&league.cast_signed()], |row| {
            Ok((stream(row, 0)?, league))
        })?;
        streams.sort_by_key(|(stream, _)| (*stream != Stream::league(), stream.clone()));
        Ok(streams)
    }

    fn heads(&self) -> Result<Vec<StreamHead>, StoreError> {
        let sql = "SELECT e.league, e.stream, h.events, e.hash FROM matchday_events AS e JOIN \
                   (SELECT league, stream, count(*) AS events, max(seq) AS seq FROM matchday_events \
                    GROUP BY league, stream) AS h \
                   ON e.league = h.league AND e.stream = h.stream AND e.seq = h.seq";
        let mut heads = self.all(sql, &[], |row| {
            Ok(StreamHead {
                league: row.try_get::<_, i32>(0)?.cast_unsigned(),
                stream: stream(row, 1)?,
                events: row.try_get(2)?,
                hash: row.try_get(3)?,
            })
        })?;
        heads.sort();
        Ok(heads)
    }

    fn head(&self, league: u32, stream: &Stream) -> Result<Option<(u64, Hash)>, StoreError> {
        let sql = "SELECT seq, at, line, hash FROM matchday_events WHERE league = $1 AND stream = $2 \
                   ORDER BY seq DESC LIMIT 1";
        let last = self
            .all(sql, &[&league.cast_signed(), &stream.0.as_str()], |row| {
                stored(row, 0)
            })?
            .pop();
        Ok(last.map(|last| (last.seq, last.hash)))
    }

    fn load(&self, league: u32, stream: &Stream, after: u64) -> Result<Vec<Stored>, StoreError> {
        let sql = "SELECT seq, at, line, hash FROM matchday_events WHERE league = $1 AND stream = $2 AND seq > $3 \
                   ORDER BY seq";
        let after = if after == 0 {
            i64::MIN
        } else {
            after.cast_signed()
        };
        self.all(
            sql,
            &[&league.cast_signed(), &stream.0.as_str(), &after],
            |row| stored(row, 0),
        )
    }

    fn load_about(
        &self,
        league: u32,
        texts: [&str; 2],
    ) -> Result<Vec<(Stream, Stored)>, StoreError> {
        let [first, second] = texts;
        let sql = "SELECT stream, seq, at, line, hash FROM matchday_events WHERE league = $1 \
                   AND (position($2::text IN line) > 0 OR position($3::text IN line) > 0) ORDER BY seq";
        self.all(sql, &[&league.cast_signed(), &first, &second], |row| {
            Ok((stream(row, 0)?, stored(row, 1)?))
        })
    }

    fn exchanges(
        &self,
        league: u32,
        query: &ExchangeQuery<'_>,
    ) -> Result<Vec<(i64, Exchange)>, StoreError> {
        let mut sql =
            format!("SELECT {EXCHANGE_COLUMNS} FROM matchday_exchanges WHERE league = {league}");
        let mut params: Vec<Param<'_>> = Vec::new();
        let texts = [
            ("match_id", &query.match_id),
            ("conversation_id", &query.conversation_id),
            ("message_type", &query.message_type),
        ];
        for (column, value) in texts {
            if let Some(value) = value {
                params.push(value);
                sql.push_str(&format!(" AND {column} = ${}", params.len()));
            }
        }
        for (comparison, number) in [("id >=", query.from), ("id <", query.before)] {
            if let Some(number) = number {
                sql.push_str(&format!(" AND {comparison} {number}"));
            }
        }
        if let Some((id, endpoint)) = &query.agent {
            params.extend([id as Param<'_>, endpoint]);
            let id = params.len() - 1;
            let endpoint = params.len();
            sql.push_str(&format!(
                " AND (agent = ${id} OR peer = ${endpoint} OR direction = 'in')"
            ));
        }
        sql.push_str(query.order.sql());
        if let Some(limit) = query.limit {
            sql.push_str(&format!(" LIMIT {limit}"));
        }
        self.all(&sql, &params, |row| Ok((row.try_get(15)?, exchange(row)?)))
    }

    fn exchanges_count(&self, league: Option<u32>) -> Result<u64, StoreError> {
        let of_league = league
            .map(|league| format!(" WHERE league = {league}"))
            .unwrap_or_default();
        let count = self.number(
            &format!("SELECT count(*) FROM matchday_exchanges{of_league}"),
            &[],
        )?;
        Ok(count.cast_unsigned())
    }

    fn last_exchange(&self, league: u32) -> Result<i64, StoreError> {
        self.number(
            "SELECT max(id) FROM matchday_exchanges WHERE league = $1",
            &[&league.cast_signed()],
        )
    }

    fn exchange_before(&self, league: u32, before: i64, count: u32) -> Result<i64, StoreError> {
        let sql = "SELECT min(id) FROM (SELECT id FROM matchday_exchanges WHERE league = $1 AND id < $2 \
                   ORDER BY id DESC LIMIT $3) AS last";
        self.number(sql, &[&league.cast_signed(), &before, &i64::from(count)])
    }

    fn exchange_times(&self, league: u32) -> Result<Vec<ExchangeTimes>, StoreError> {
        let sql = "SELECT at, coalesce(first_byte_at, done_at), done_at, direction, peer, message_type, match_id, \
                   answer IS NOT NULL \
                   FROM matchday_exchanges WHERE league = $1 ORDER BY id";
        self.all(sql, &[&league.cast_signed()], |row| {
            Ok(ExchangeTimes {
                at: Timestamp::from_micros(row.try_get(0)?),
                answered_at: time(row, 1)?,
                done_at: time(row, 2)?,
                direction: Direction::named(row.try_get(3)?),
                peer: row.try_get::<_, &str>(4)?.into(),
                message_type: row.try_get::<_, &str>(5)?.into(),
                match_id: row.try_get::<_, Option<&str>>(6)?.map(SmolStr::from),
                answered: row.try_get(7)?,
            })
        })
    }

    fn failed_exchanges(&self, league: u32) -> Result<Vec<FailedExchange>, StoreError> {
        let sql = "SELECT direction, message_type, conversation_id, outcome, answer IS NOT NULL, \
                   CASE WHEN message_type IN ('GAME_ERROR', 'LEAGUE_ERROR') THEN request ELSE answer END \
                   FROM matchday_exchanges WHERE league = $1 AND (answer IS NULL \
                   OR message_type IN ('GAME_ERROR', 'LEAGUE_ERROR') OR position('error_code' IN answer) > 0) \
                   ORDER BY id";
        self.all(sql, &[&league.cast_signed()], |row| {
            Ok(FailedExchange {
                direction: Direction::named(row.try_get(0)?),
                message_type: row.try_get::<_, &str>(1)?.into(),
                conversation_id: ConversationId::new(row.try_get::<_, &str>(2)?),
                outcome: ExchangeOutcome::parse(row.try_get(3)?),
                answered: row.try_get(4)?,
                error: row.try_get(5)?,
            })
        })
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        let sql = "SELECT sum(pg_total_relation_size(t::regclass))::bigint FROM unnest(ARRAY['matchday_events', \
                   'matchday_exchanges', 'matchday_leagues']) AS u(t)";
        Ok(self.number(sql, &[])?.cast_unsigned())
    }
}

fn stream(row: &Row, place: usize) -> RowResult<Stream> {
    Ok(Stream(row.try_get::<_, &str>(place)?.into()))
}

fn time(row: &Row, place: usize) -> RowResult<Option<Timestamp>> {
    Ok(row
        .try_get::<_, Option<i64>>(place)?
        .map(Timestamp::from_micros))
}

/// An event whose number is in this column, and the rest of it in those that follow.
fn stored(row: &Row, first: usize) -> RowResult<Stored> {
    Ok(Stored {
        seq: row.try_get::<_, i64>(first)?.cast_unsigned(),
        at: Timestamp::from_micros(row.try_get(first + 1)?),
        line: row.try_get(first + 2)?,
        hash: Hash(
            row.try_get::<_, &[u8]>(first + 3)?
                .try_into()
                .unwrap_or_default(),
        ),
    })
}

fn exchange(row: &Row) -> RowResult<Exchange> {
    let text = |place| row.try_get::<_, &str>(place);
    Ok(Exchange {
        at: Timestamp::from_micros(row.try_get(0)?),
        done_at: time(row, 1)?,
        agent: text(2)?.into(),
        direction: Direction::named(text(3)?),
        peer: text(4)?.into(),
        message_type: text(5)?.into(),
        conversation_id: ConversationId::new(text(6)?),
        match_id: row
            .try_get::<_, Option<&str>>(7)?
            .map(|id| MatchId::new(SmolStr::from(id))),
        request: row.try_get(8)?,
        answer: row.try_get(9)?,
        outcome: text(10)?.into(),
        connected_at: time(row, 11)?,
        first_byte_at: time(row, 12)?,
        deadline_at: time(row, 13)?,
        error_code: row.try_get::<_, Option<&str>>(14)?.map(SmolStr::from),
    })
}
