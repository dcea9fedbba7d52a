//! Reads a SQLite file: events and exchanges as rows, in one read transaction. Changes nothing.

use super::budget::{self, Budget};
use super::error::{beyond, sql};
use super::file;
use crate::batch::Stored;
use crate::chain::Hash;
use crate::error::StoreError;
use crate::exchange::{Direction, Exchange};
use crate::path::StorePath;
use crate::read::{
    EXCHANGE_COLUMNS, ExchangeQuery, ExchangeTimes, FailedExchange, LeagueState, Read, StreamHead,
};
use crate::store_url::StoreUrl;
use crate::stream::Stream;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::{ConversationId, MatchId, Timestamp};
use matchday_os::file::create_private;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Params, Row, params};
use smol_str::SmolStr;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{fs, io};

/// A file as it was when it was opened: what is appended afterwards is not seen.
#[derive(Debug)]
pub(crate) struct SqliteRead {
    db: Connection,
    budget: Budget,
    store: StoreUrl,
}

impl SqliteRead {
    pub(crate) fn open(path: &StorePath) -> Result<Self, StoreError> {
        let (db, budget) = file::open_to_read(path)?;
        Ok(Self {
            db,
            budget,
            store: (&path.named).into(),
        })
    }

    /// Reads a database in memory that nobody writes to.
    pub(super) fn in_memory(mut db: Connection) -> rusqlite::Result<Self> {
        budget::restrict(&db)?;
        let budget = Budget::of(&mut db)?;
        let budget = budget.for_file_of(size(&db)?);
        Ok(Self {
            db,
            budget,
            store: StoreUrl::Memory,
        })
    }

    fn all<T>(
        &self,
        statement: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut bytes_left = self.budget.begin();
        let mut is_beyond = false;
        let select = || {
            let mut statement = self.db.prepare_cached(statement)?;
            let mut rows = statement.query(params)?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                let left = bytes_left.checked_sub(budget::bytes_of(row));
                is_beyond = left.is_none();
                let Some(left) = left else { break };
                bytes_left = left;
                all.push(read(row)?);
            }
            Ok(all)
        };
        let selected = select();
        if is_beyond {
            return Err(beyond(self.store.clone()));
        }
        selected.map_err(|error| match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => StoreError::Damaged {
                store: self.store.clone(),
                what: error.to_string(),
            },
            other => sql(&self.store, other),
        })
    }

    fn number(&self, statement: &str) -> Result<i64, StoreError> {
        let found = self.all(statement, [], |row| row.get::<_, Option<i64>>(0))?;
        Ok(found.into_iter().flatten().next().unwrap_or(0))
    }
}

impl Read for SqliteRead {
    fn latest_league(&self) -> Result<u32, StoreError> {
        let statement = "SELECT max(number) FROM leagues WHERE NOT removed";
        let found = self.all(statement, [], |row| row.get::<_, Option<u32>>(0))?;
        Ok(found.into_iter().flatten().next().unwrap_or(1))
    }

    fn league_states(&self) -> Result<Vec<LeagueState>, StoreError> {
        let statement = "SELECT number, exchange_bytes, wake_at, removed \
                             AND NOT EXISTS (SELECT 1 FROM events WHERE league = number) \
                             AND NOT EXISTS (SELECT 1 FROM exchanges WHERE league = number) \
                         FROM leagues ORDER BY number";
        self.all(statement, [], |row| {
            Ok(LeagueState {
                number: row.get(0)?,
                exchange_bytes: row.get::<_, i64>(1)?.cast_unsigned(),
                wake_at: row.get::<_, Option<i64>>(2)?.map(Timestamp::from_micros),
                removed: row.get(3)?,
            })
        })
    }

    fn leagues(&self) -> Result<Vec<(u32, Stream, String)>, StoreError> {
        let statement = "SELECT number, stream, line FROM leagues JOIN events ON league = number AND seq = 1 \
                         WHERE NOT removed AND stream GLOB 'league*' ORDER BY number";
        self.all(statement, [], |row| {
            let line = String::from_utf8_lossy(row.get_ref(2)?.as_bytes()?).into_owned();
            Ok((row.get(0)?, stream(row, 1)?, line))
        })
    }

    fn manager_stream(&self, league: u32) -> Result<Option<Stream>, StoreError> {
        let statement = "SELECT stream FROM events WHERE league = ?1 AND stream GLOB 'league*' ORDER BY seq LIMIT 1";
        Ok(self.all(statement, [league], |row| stream(row, 0))?.pop())
    }

    fn streams(&self, league: u32) -> Result<Vec<(Stream, u32)>, StoreError> {
        let statement = "SELECT DISTINCT stream FROM events WHERE league = ?1 ORDER BY stream <> 'league', stream";
        self.all(statement, [league], |row| Ok((stream(row, 0)?, league)))
    }

    fn heads(&self) -> Result<Vec<StreamHead>, StoreError> {
        // SQLite takes the hash from the row that has the maximum.
        let statement = "SELECT league, stream, count(*), hash, max(seq) FROM events GROUP BY league, stream \
                         ORDER BY league, stream";
        self.all(statement, [], |row| {
            Ok(StreamHead {
                league: row.get(0)?,
                stream: stream(row, 1)?,
                events: row.get(2)?,
                hash: row.get_ref(3)?.as_bytes()?.to_vec(),
            })
        })
    }

    fn head(&self, league: u32, stream: &Stream) -> Result<Option<(u64, Hash)>, StoreError> {
        let statement = "SELECT seq, at, line, hash FROM events WHERE league = ?1 AND stream = ?2 ORDER BY seq DESC LIMIT 1";
        let last = self
            .all(statement, params![league, stream.0.as_str()], |row| {
                stored(row, 0)
            })?
            .pop();
        Ok(last.map(|last| (last.seq, last.hash)))
    }

    fn load(&self, league: u32, stream: &Stream, after: u64) -> Result<Vec<Stored>, StoreError> {
        let statement = "SELECT seq, at, line, hash FROM events WHERE league = ?1 AND seq > ?2 AND stream = ?3 ORDER BY seq";
        let after = if after == 0 {
            i64::MIN
        } else {
            after.cast_signed()
        };
        self.all(
            statement,
            params![league, after, stream.0.as_str()],
            |row| stored(row, 0),
        )
    }

    fn load_about(
        &self,
        league: u32,
        texts: [&str; 2],
    ) -> Result<Vec<(Stream, Stored)>, StoreError> {
        let statement = "SELECT stream, seq, at, line, hash FROM events \
                         WHERE league = ?1 AND (instr(line, ?2) OR instr(line, ?3)) ORDER BY seq";
        let [first, second] = texts;
        self.all(statement, params![league, first, second], |row| {
            Ok((stream(row, 0)?, stored(row, 1)?))
        })
    }

    fn exchanges(
        &self,
        league: u32,
        query: &ExchangeQuery<'_>,
    ) -> Result<Vec<(i64, Exchange)>, StoreError> {
        let mut statement =
            format!("SELECT {EXCHANGE_COLUMNS} FROM exchanges WHERE league = {league}");
        let mut params = Vec::new();
        let texts = [
            ("match_id", query.match_id),
            ("conversation_id", query.conversation_id),
            ("message_type", query.message_type),
        ];
        for (column, value) in texts
            .into_iter()
            .filter_map(|(column, value)| Some((column, value?)))
        {
            params.push(Value::from(value.to_owned()));
            statement.push_str(&format!(" AND {column} = ?{}", params.len()));
        }
        for (comparison, number) in [("id >=", query.from), ("id <", query.before)] {
            if let Some(number) = number {
                statement.push_str(&format!(" AND {comparison} {number}"));
            }
        }
        if let Some((id, endpoint)) = query.agent {
            params.extend([Value::from(id.to_owned()), Value::from(endpoint.to_owned())]);
            let id = params.len() - 1;
            let endpoint = params.len();
            statement.push_str(&format!(
                " AND (agent = ?{id} OR peer = ?{endpoint} OR direction = 'in')"
            ));
        }
        statement.push_str(query.order.sql());
        if let Some(limit) = query.limit {
            statement.push_str(&format!(" LIMIT {limit}"));
        }
        self.all(&statement, rusqlite::params_from_iter(params), |row| {
            Ok((row.get(15)?, exchange(row)?))
        })
    }

    fn exchanges_count(&self, league: Option<u32>) -> Result<u64, StoreError> {
        // Without a condition SQLite counts in one step, which the budget does not see.
        let of_league = league.map_or("league >= 0".to_owned(), |league| {
            format!("league = {league}")
        });
        Ok(self
            .number(&format!("SELECT count(*) FROM exchanges WHERE {of_league}"))?
            .cast_unsigned())
    }

    fn last_exchange(&self, league: u32) -> Result<i64, StoreError> {
        self.number(&format!(
            "SELECT max(id) FROM exchanges WHERE league = {league}"
        ))
    }

    fn exchange_before(&self, league: u32, before: i64, count: u32) -> Result<i64, StoreError> {
        self.number(&format!(
            "SELECT min(id) FROM (SELECT id FROM exchanges WHERE league = {league} AND id < {before} \
             ORDER BY id DESC LIMIT {count})"
        ))
    }

    fn exchange_times(&self, league: u32) -> Result<Vec<ExchangeTimes>, StoreError> {
        let statement = format!(
            "SELECT at, coalesce(first_byte_at, done_at), done_at, direction, peer, message_type, match_id, \
             answer IS NOT NULL FROM exchanges \
             WHERE league = {league} ORDER BY id"
        );
        self.all(&statement, [], |row| {
            Ok(ExchangeTimes {
                at: Timestamp::from_micros(row.get(0)?),
                answered_at: time(row, 1)?,
                done_at: time(row, 2)?,
                direction: Direction::named(row.get_ref(3)?.as_str()?),
                peer: row.get_ref(4)?.as_str()?.into(),
                message_type: row.get_ref(5)?.as_str()?.into(),
                match_id: row.get::<_, Option<String>>(6)?.map(SmolStr::from),
                answered: row.get(7)?,
            })
        })
    }

    fn failed_exchanges(&self, league: u32) -> Result<Vec<FailedExchange>, StoreError> {
        let statement = format!(
            "SELECT direction, message_type, conversation_id, outcome, answer IS NOT NULL, \
             CASE WHEN message_type IN ('GAME_ERROR', 'LEAGUE_ERROR') THEN request ELSE answer END \
             FROM exchanges WHERE league = {league} AND (answer IS NULL \
             OR message_type IN ('GAME_ERROR', 'LEAGUE_ERROR') OR answer LIKE '%error_code%') ORDER BY id"
        );
        self.all(&statement, [], |row| {
            Ok(FailedExchange {
                direction: Direction::named(row.get_ref(0)?.as_str()?),
                message_type: row.get_ref(1)?.as_str()?.into(),
                conversation_id: ConversationId::new(row.get::<_, String>(2)?),
                outcome: ExchangeOutcome::parse(row.get_ref(3)?.as_str()?),
                answered: row.get(4)?,
                error: row.get(5)?,
            })
        })
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        size(&self.db).map_err(|error| sql(&self.store, error))
    }

    fn check_whole(&self) -> Result<(), StoreError> {
        let found = self.all("PRAGMA integrity_check(1)", [], |row| {
            row.get::<_, String>(0)
        })?;
        match file::fault(&found.concat()) {
            None => Ok(()),
            Some(what) => Err(StoreError::Damaged {
                store: self.store.clone(),
                what,
            }),
        }
    }

    fn copy_file(&self, draft: &Path, to: &Path) -> Result<bool, StoreError> {
        copy(&self.db, draft, to).map(|()| true)
    }
}

fn size(db: &Connection) -> rusqlite::Result<u64> {
    let pages = |pragma| db.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    Ok((pages("page_count")? * pages("page_size")?).cast_unsigned())
}

fn stream(row: &Row<'_>, place: usize) -> rusqlite::Result<Stream> {
    Ok(Stream(row.get::<_, String>(place)?.into()))
}

/// An event whose number is in this column, and the rest of it in those that follow.
fn stored(row: &Row<'_>, first: usize) -> rusqlite::Result<Stored> {
    Ok(Stored {
        seq: row.get::<_, i64>(first)?.cast_unsigned(),
        at: Timestamp::from_micros(row.get(first + 1)?),
        line: String::from_utf8_lossy(row.get_ref(first + 2)?.as_bytes()?).into_owned(),
        hash: Hash(
            row.get_ref(first + 3)?
                .as_bytes()?
                .try_into()
                .unwrap_or_default(),
        ),
    })
}

fn time(row: &Row<'_>, place: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row
        .get::<_, Option<i64>>(place)?
        .map(Timestamp::from_micros))
}

fn exchange(row: &Row<'_>) -> rusqlite::Result<Exchange> {
    let text = |place| row.get::<_, String>(place);
    Ok(Exchange {
        at: Timestamp::from_micros(row.get(0)?),
        done_at: time(row, 1)?,
        agent: text(2)?.into(),
        direction: Direction::named(&text(3)?),
        peer: text(4)?.into(),
        message_type: text(5)?.into(),
        conversation_id: ConversationId::new(text(6)?),
        match_id: row
            .get::<_, Option<String>>(7)?
            .map(|id| MatchId::new(SmolStr::from(id))),
        request: text(8)?,
        answer: row.get(9)?,
        outcome: text(10)?.into(),
        connected_at: time(row, 11)?,
        first_byte_at: time(row, 12)?,
        deadline_at: time(row, 13)?,
        error_code: row.get::<_, Option<String>>(14)?.map(SmolStr::from),
    })
}

/// Writers of a store in use never stand in the way of a copy for long.
const WAIT_MAX: Duration = Duration::from_secs(10);
const WAIT_STEP: Duration = Duration::from_millis(20);

fn copy(source: &Connection, draft: &Path, to: &Path) -> Result<(), StoreError> {
    match fs::remove_file(draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::io(to, error));
        }
        _ => {}
    }
    let file = create_private(draft).map_err(|error| StoreError::io(to, error))?;
    let copying = || -> rusqlite::Result<()> {
        let mut copy = Connection::open_with_flags(draft, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let backup = Backup::new(source, &mut copy)?;
        let deadline = Instant::now() + WAIT_MAX;
        // All pages in one step, so that it is the store of one moment.
        while backup.step(-1)? != StepResult::Done {
            if Instant::now() > deadline {
                return Err(rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                    Some("the store was busy all the time: try again".to_owned()),
                ));
            }
            sleep(WAIT_STEP);
        }
        drop(backup);
        copy.close().map_err(|(_, error)| error)
    };
    copying().map_err(|error| sql(to, error))?;
    file.sync_all().map_err(|error| StoreError::io(to, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    const NUMBERS: &str = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n)";

    fn refused(statement: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        drop(Store::open(&path).unwrap());
        let read = SqliteRead::open(&StorePath::resolve(&path).unwrap()).unwrap();
        let once = "SELECT hex(zeroblob(1000))";
        assert_eq!(
            read.all(once, [], |row| row.get::<_, String>(0))
                .unwrap()
                .len(),
            1
        );
        read.all(statement, [], |row| row.get::<_, String>(0))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_statement_ends_however_long_it_would_go_on() {
        let said = refused(&format!("{NUMBERS} SELECT count(*) FROM n"));
        assert!(
            said.contains("more to read in it than a file of its size can hold"),
            "{said}"
        );
    }

    #[test]
    fn rows_are_not_collected_beyond_the_bytes_of_the_file() {
        let said = refused(&format!(
            "{NUMBERS} SELECT hex(zeroblob(1000)) FROM n LIMIT 1000"
        ));
        assert!(
            said.contains("more to read in it than a file of its size can hold"),
            "{said}"
        );
    }
}
