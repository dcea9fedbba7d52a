//! Reading a store back. Touches the database, and changes nothing in it.

use super::chain::{self, Hash};
use super::error::StoreError;
use super::{Direction, Exchange, Stored, Stream, file};
use matchday_core::protocol::{ConversationId, MatchId, Timestamp};
use rusqlite::{Connection, Params, Row};
use smol_str::SmolStr;
use std::path::{Path, PathBuf};

/// A store as it was when it was opened: what is appended afterwards is not seen.
#[derive(Debug)]
pub struct Reader {
    db: Connection,
    path: PathBuf,
}

impl Reader {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let db = file::open_to_read(path)?;
        // One transaction for all reading, begun by its first read.
        db.execute_batch("BEGIN; SELECT 1 FROM meta;").map_err(|error| StoreError::sql(path, error))?;
        Ok(Self { db, path: path.to_owned() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The streams that have events, the league's first.
    pub fn streams(&self) -> Result<Vec<Stream>, StoreError> {
        let sql = "SELECT DISTINCT stream FROM events ORDER BY stream <> 'league', stream";
        self.all(sql, [], |row| Ok(Stream(row.get::<_, String>(0)?.into())))
    }

    /// The events of a stream as they stand in the file, whatever their hashes say. What is not even text or a hash is
    /// read as something that cannot be right, so that whoever checks the chain can name the event.
    pub fn load(&self, stream: &Stream) -> Result<Vec<Stored>, StoreError> {
        let sql = "SELECT seq, at, line, hash FROM events WHERE stream = ?1 ORDER BY seq";
        self.all(sql, [stream.0.as_str()], |row| {
            Ok(Stored {
                seq: row.get::<_, i64>(0)?.cast_unsigned(),
                at: Timestamp::from_micros(row.get(1)?),
                line: String::from_utf8_lossy(row.get_ref(2)?.as_bytes()?).into_owned(),
                hash: Hash(row.get_ref(3)?.as_bytes()?.try_into().unwrap_or_default()),
            })
        })
    }

    /// The same; an error if the chain does not hold.
    pub(super) fn load_checked(&self, stream: &Stream) -> Result<Vec<Stored>, StoreError> {
        let events = self.load(stream)?;
        let mut before = chain::genesis(stream);
        for (seq, event) in (1..).zip(&events) {
            if event.seq != seq || event.hash != chain::link(&before, stream, seq, &event.line) {
                let what = format!("event {} of {stream} is not what was stored", event.seq);
                return Err(StoreError::Damaged { path: self.path.clone(), what });
            }
            before = event.hash;
        }
        Ok(events)
    }

    /// The exchanges that belong to a match, in the order in which they began.
    pub fn exchanges_of(&self, match_id: &MatchId) -> Result<Vec<Exchange>, StoreError> {
        let sql = format!("{EXCHANGES} WHERE match_id = ?1 ORDER BY at, id");
        self.all(&sql, [match_id.as_str()], exchange)
    }

    /// Every exchange, in the order in which they began.
    pub fn exchanges(&self) -> Result<Vec<Exchange>, StoreError> {
        self.all(&format!("{EXCHANGES} ORDER BY at, id"), [], exchange)
    }

    /// When every exchange began and ended, in the order in which they were stored, without its words.
    pub fn times(&self) -> Result<Vec<Timed>, StoreError> {
        let sql = "SELECT at, done_at, direction, peer, message_type FROM exchanges ORDER BY id";
        self.all(sql, [], |row| {
            Ok(Timed {
                at: Timestamp::from_micros(row.get(0)?),
                done_at: row.get::<_, Option<i64>>(1)?.map(Timestamp::from_micros),
                direction: direction(row.get_ref(2)?.as_str()?),
                peer: row.get_ref(3)?.as_str()?.into(),
                message_type: row.get_ref(4)?.as_str()?.into(),
            })
        })
    }

    /// The exchanges in which something went wrong: nothing came back, or an error was told, by either side.
    pub fn troubles(&self) -> Result<Vec<Trouble>, StoreError> {
        let sql = "SELECT direction, message_type, conversation_id, outcome, answer IS NOT NULL, \
                   CASE WHEN message_type IN ('GAME_ERROR', 'LEAGUE_ERROR') THEN request ELSE answer END \
                   FROM exchanges WHERE answer IS NULL OR message_type IN ('GAME_ERROR', 'LEAGUE_ERROR') \
                   OR answer LIKE '%error_code%' ORDER BY id";
        self.all(sql, [], |row| {
            Ok(Trouble {
                direction: direction(row.get_ref(0)?.as_str()?),
                message_type: row.get_ref(1)?.as_str()?.into(),
                conversation_id: ConversationId::new(row.get::<_, String>(2)?),
                outcome: row.get(3)?,
                answered: row.get(4)?,
                error: row.get(5)?,
            })
        })
    }

    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = || self.db.prepare_cached(sql)?.query_map(params, read)?.collect::<Result<Vec<_>, _>>();
        rows().map_err(|error| match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => {
                StoreError::Damaged { path: self.path.clone(), what: error.to_string() }
            }
            other => StoreError::sql(&self.path, other),
        })
    }
}

/// An exchange without its words: there may be very many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timed {
    pub at: Timestamp,
    pub done_at: Option<Timestamp>,
    pub direction: Direction,
    pub peer: SmolStr,
    pub message_type: SmolStr,
}

/// An exchange in which something went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub direction: Direction,
    pub message_type: SmolStr,
    pub conversation_id: ConversationId,
    pub outcome: String,
    pub answered: bool,
    /// The message that may name an error.
    pub error: Option<String>,
}

fn direction(name: &str) -> Direction {
    if name == Direction::In.name() { Direction::In } else { Direction::Out }
}

const EXCHANGES: &str = "SELECT at, done_at, agent, direction, peer, message_type, conversation_id, match_id, \
                         request, answer, outcome FROM exchanges";

fn exchange(row: &Row<'_>) -> rusqlite::Result<Exchange> {
    let text = |place| row.get::<_, String>(place);
    Ok(Exchange {
        at: Timestamp::from_micros(row.get(0)?),
        done_at: row.get::<_, Option<i64>>(1)?.map(Timestamp::from_micros),
        agent: text(2)?.into(),
        direction: direction(&text(3)?),
        peer: text(4)?.into(),
        message_type: text(5)?.into(),
        conversation_id: ConversationId::new(text(6)?),
        match_id: row.get::<_, Option<String>>(7)?.map(|id| MatchId::new(SmolStr::from(id))),
        request: text(8)?,
        answer: row.get(9)?,
        outcome: text(10)?,
    })
}
