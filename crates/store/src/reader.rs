//! Reads a store: events and exchanges as rows, in one read transaction. Changes nothing.

use crate::batch::Stored;
use crate::chain::{self, Hash};
use crate::error::StoreError;
use crate::exchange::{Direction, Exchange};
use crate::path::StorePath;
use crate::stream::Stream;
use crate::{file, league_number, schema};
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::{ConversationId, MatchId, Timestamp};
use rusqlite::{Connection, Params, Row};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A store as it was when it was opened: what is appended afterwards is not seen.
#[derive(Debug)]
pub struct Reader {
    pub(super) db: Connection,
    path: PathBuf,
    /// The number of the league that is looked at.
    pub(super) league: u32,
}

impl Reader {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        Self::of(&StorePath::resolve(path)?)
    }

    pub(super) fn of(path: &StorePath) -> Result<Self, StoreError> {
        let db = file::open_to_read(path)?;
        // One transaction for all reading, begun by its first read.
        let begin = || {
            db.execute_batch("PRAGMA temp_store = memory; BEGIN; SELECT 1 FROM meta;")?;
            let version = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
            db.execute_batch(&schema::views_of(version))?;
            league_number::latest(&db)
        };
        let league = begin().map_err(|error| path.sql(error))?;
        Ok(Self { db, path: path.named.clone(), league })
    }

    /// Whether a row of `events` belongs to the league that is looked at, for SQL.
    pub(super) fn of_the_league(&self) -> String {
        league_number::condition(self.league)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The streams that have events, the league's first.
    pub fn streams(&self) -> Result<Vec<Stream>, StoreError> {
        let league = self.of_the_league();
        let sql =
            format!("SELECT DISTINCT stream FROM events WHERE {league} ORDER BY stream <> 'league', stream");
        self.all(&sql, [], |row| Ok(Stream(row.get::<_, String>(0)?.into())))
    }

    /// How many events each stream of every league has, and the hash of the last, as they stand in the file.
    pub(super) fn heads(&self) -> Result<Vec<StreamHead>, StoreError> {
        // SQLite takes the hash from the row that has the maximum.
        let sql = "SELECT league, stream, count(*), hash, max(seq) FROM events GROUP BY league, stream \
                   ORDER BY league, stream";
        self.all(sql, [], |row| {
            Ok(StreamHead {
                league: row.get(0)?,
                stream: Stream(row.get::<_, String>(1)?.into()),
                events: row.get(2)?,
                hash: row.get_ref(3)?.as_bytes()?.to_vec(),
            })
        })
    }

    /// The number and the hash of a stream's last event.
    pub(super) fn head(&self, stream: &Stream) -> Result<Option<(u64, Hash)>, StoreError> {
        let league = self.of_the_league();
        let sql = format!(
            "SELECT seq, at, line, hash FROM events WHERE {league} AND stream = ?1 ORDER BY seq DESC LIMIT 1"
        );
        let last = self.all(&sql, [stream.0.as_str()], |row| stored(row, 0))?.pop();
        Ok(last.map(|last| (last.seq, last.hash)))
    }

    /// The events of a stream as they stand in the file, whatever their hashes say. What is not even text or a hash is
    /// read as something that cannot be right, so that the check of the chain can name the event.
    pub fn load(&self, stream: &Stream) -> Result<Vec<Stored>, StoreError> {
        let league = self.of_the_league();
        let sql =
            format!("SELECT seq, at, line, hash FROM events WHERE {league} AND stream = ?1 ORDER BY seq");
        self.all(&sql, [stream.0.as_str()], |row| stored(row, 0))
    }

    /// The events of a stream after the one with this number.
    pub fn load_after(&self, stream: &Stream, seq: u64) -> Result<Vec<Stored>, StoreError> {
        let league = self.of_the_league();
        let sql = format!(
            "SELECT seq, at, line, hash FROM events WHERE {league} AND seq > ?2 AND stream = ?1 ORDER BY seq"
        );
        self.all(&sql, rusqlite::params![stream.0.as_str(), seq.cast_signed()], |row| stored(row, 0))
    }

    /// The events of all streams of the league whose lines contain one of these texts, in order.
    pub(super) fn load_about(&self, texts: [&str; 2]) -> Result<BTreeMap<Stream, Vec<Stored>>, StoreError> {
        let league = self.of_the_league();
        let sql = format!(
            "SELECT stream, seq, at, line, hash FROM events WHERE {league} AND (instr(line, ?1) OR instr(line, ?2)) \
             ORDER BY seq"
        );
        let rows =
            self.all(&sql, texts, |row| Ok((Stream(row.get::<_, String>(0)?.into()), stored(row, 1)?)))?;
        let mut streams: BTreeMap<Stream, Vec<Stored>> = BTreeMap::new();
        for (stream, event) in rows {
            streams.entry(stream).or_default().push(event);
        }
        Ok(streams)
    }

    /// The events of a stream; an error if the chain does not hold.
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

    /// The exchanges that belong to a match of the league, in the order in which they began.
    pub fn exchanges_of(&self, match_id: &MatchId) -> Result<Vec<Exchange>, StoreError> {
        let sql = format!("{} AND match_id = ?1 ORDER BY at, id", self.select_exchanges());
        self.all(&sql, [match_id.as_str()], exchange)
    }

    /// Every exchange of the league, in the order in which they began.
    pub fn exchanges(&self) -> Result<Vec<Exchange>, StoreError> {
        self.all(&format!("{} ORDER BY at, id", self.select_exchanges()), [], exchange)
    }

    /// How many there are.
    pub(super) fn exchanges_count(&self) -> Result<u64, StoreError> {
        let sql = format!("SELECT count(*) FROM exchanges WHERE league = {}", self.league);
        let counts = self.all(&sql, [], |row| row.get::<_, i64>(0))?;
        Ok(counts.into_iter().filter_map(|count| u64::try_from(count).ok()).sum())
    }

    /// Those of the league, as [`exchange`] reads them, and then their numbers; more conditions may follow.
    pub(super) fn select_exchanges(&self) -> String {
        format!("SELECT {EXCHANGE}, id FROM exchanges WHERE league = {}", self.league)
    }

    /// When every exchange of the league began and ended, in the order in which they were stored, without bodies.
    pub fn exchange_times(&self) -> Result<Vec<ExchangeTimes>, StoreError> {
        let sql = format!(
            "SELECT at, coalesce(first_byte_at, done_at), done_at, direction, peer, message_type FROM exchanges \
             WHERE league = {} ORDER BY id",
            self.league
        );
        let time = |row: &Row<'_>, column| -> rusqlite::Result<Option<Timestamp>> {
            Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_micros))
        };
        self.all(&sql, [], |row| {
            Ok(ExchangeTimes {
                at: Timestamp::from_micros(row.get(0)?),
                answered_at: time(row, 1)?,
                done_at: time(row, 2)?,
                direction: direction(row.get_ref(3)?.as_str()?),
                peer: row.get_ref(4)?.as_str()?.into(),
                message_type: row.get_ref(5)?.as_str()?.into(),
            })
        })
    }

    /// The exchanges that failed: no answer came, or one side reported an error.
    pub fn failed_exchanges(&self) -> Result<Vec<FailedExchange>, StoreError> {
        let sql = format!(
            "SELECT direction, message_type, conversation_id, outcome, answer IS NOT NULL, \
             CASE WHEN message_type IN ('GAME_ERROR', 'LEAGUE_ERROR') THEN request ELSE answer END \
             FROM exchanges WHERE league = {} AND (answer IS NULL OR message_type IN ('GAME_ERROR', 'LEAGUE_ERROR') \
             OR answer LIKE '%error_code%') ORDER BY id",
            self.league
        );
        self.all(&sql, [], |row| {
            Ok(FailedExchange {
                direction: direction(row.get_ref(0)?.as_str()?),
                message_type: row.get_ref(1)?.as_str()?.into(),
                conversation_id: ConversationId::new(row.get::<_, String>(2)?),
                outcome: ExchangeOutcome::parse(row.get_ref(3)?.as_str()?),
                answered: row.get(4)?,
                error: row.get(5)?,
            })
        })
    }

    pub(super) fn all<T>(
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

/// The last event of a stream.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StreamHead {
    pub(super) league: u32,
    pub(super) stream: Stream,
    pub(super) events: i64,
    pub(super) hash: Vec<u8>,
}

/// An exchange without its bodies: there may be very many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeTimes {
    pub at: Timestamp,
    /// When the answer began to come, or was given.
    pub answered_at: Option<Timestamp>,
    pub done_at: Option<Timestamp>,
    pub direction: Direction,
    pub peer: SmolStr,
    pub message_type: SmolStr,
}

/// An event whose number is in this column, and the rest of it in those that follow.
fn stored(row: &Row<'_>, first: usize) -> rusqlite::Result<Stored> {
    Ok(Stored {
        seq: row.get::<_, i64>(first)?.cast_unsigned(),
        at: Timestamp::from_micros(row.get(first + 1)?),
        line: String::from_utf8_lossy(row.get_ref(first + 2)?.as_bytes()?).into_owned(),
        hash: Hash(row.get_ref(first + 3)?.as_bytes()?.try_into().unwrap_or_default()),
    })
}

/// An exchange without an answer, or with an error.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedExchange {
    pub direction: Direction,
    pub message_type: SmolStr,
    pub conversation_id: ConversationId,
    pub outcome: ExchangeOutcome,
    pub answered: bool,
    /// The message that may name an error.
    pub error: Option<String>,
}

fn direction(name: &str) -> Direction {
    if name == Direction::In.name() { Direction::In } else { Direction::Out }
}

const EXCHANGE: &str = "at, done_at, agent, direction, peer, message_type, conversation_id, match_id, request, \
                        answer, outcome, connected_at, first_byte_at, deadline_at, error_code";

pub(super) fn exchange(row: &Row<'_>) -> rusqlite::Result<Exchange> {
    let text = |place| row.get::<_, String>(place);
    let time =
        |place| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(place)?.map(Timestamp::from_micros));
    Ok(Exchange {
        at: Timestamp::from_micros(row.get(0)?),
        done_at: time(1)?,
        agent: text(2)?.into(),
        direction: direction(&text(3)?),
        peer: text(4)?.into(),
        message_type: text(5)?.into(),
        conversation_id: ConversationId::new(text(6)?),
        match_id: row.get::<_, Option<String>>(7)?.map(|id| MatchId::new(SmolStr::from(id))),
        request: text(8)?,
        answer: row.get(9)?,
        outcome: text(10)?.into(),
        connected_at: time(11)?,
        first_byte_at: time(12)?,
        deadline_at: time(13)?,
        error_code: row.get::<_, Option<String>>(14)?.map(SmolStr::from),
    })
}
