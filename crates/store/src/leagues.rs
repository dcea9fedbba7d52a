//! The leagues that a store holds. Each has a number, and under it a log of its own: the streams of its manager and of the
//! agents that share the store. Reads the database.

pub use crate::league_number::NO_LEAGUE;

use crate::error::StoreError;
use crate::reader::Reader;
use crate::stream::Stream;
use matchday_core::event_codec;
use matchday_core::league::LeagueEvent;
use matchday_core::protocol::{LeagueId, Timestamp};
use rusqlite::Connection;
use std::path::PathBuf;

/// A league in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLeague {
    pub number: u32,
    /// That of its manager.
    pub stream: Stream,
    /// `None` if its first event cannot be read.
    pub id: Option<LeagueId>,
}

/// Which of a store's leagues is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LeagueChoice {
    #[default]
    Latest,
    Number(u32),
    Named(LeagueId),
}

/// A store, and one of its leagues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub path: PathBuf,
    pub league: LeagueChoice,
}

impl Location {
    /// The latest league of a store.
    pub fn latest(path: PathBuf) -> Self {
        Self { path, league: LeagueChoice::Latest }
    }

    pub fn open(&self) -> Result<Reader, StoreError> {
        let reader = Reader::open(&self.path)?;
        match &self.league {
            LeagueChoice::Latest => Ok(reader),
            LeagueChoice::Number(number) => Ok(reader.in_league(*number)),
            LeagueChoice::Named(id) => reader.choose(Some(id)),
        }
    }
}

impl Reader {
    /// The same moment of the store, for the league with this number.
    pub fn in_league(mut self, number: u32) -> Self {
        self.league = number;
        self
    }

    pub fn league_number(&self) -> u32 {
        self.league
    }

    /// The manager's stream of the chosen league: the latest, unless another was asked for.
    pub fn league(&self) -> Stream {
        let sql =
            "SELECT stream FROM events WHERE league = ?1 AND stream GLOB 'league*' ORDER BY seq LIMIT 1";
        let found = self.all(sql, [self.league], |row| Ok(Stream(row.get::<_, String>(0)?.into())));
        found.unwrap_or_default().pop().unwrap_or_else(Stream::league)
    }

    /// The number under which a stream of the chosen league is kept: its own, or that of no single league.
    pub(super) fn number_of(&self, stream: &Stream) -> Result<u32, StoreError> {
        let sql = format!("SELECT max(league) FROM events WHERE {} AND stream = ?1", self.of_the_league());
        let found = self.all(&sql, [stream.0.as_str()], |row| row.get::<_, Option<u32>>(0))?;
        Ok(found.into_iter().flatten().next().unwrap_or(self.league))
    }

    /// Every league, the first one first.
    pub fn leagues(&self) -> Result<Vec<StoredLeague>, StoreError> {
        let sql = "SELECT number, stream, line FROM leagues JOIN events ON league = number AND seq = 1 \
                   WHERE NOT removed AND stream GLOB 'league*' ORDER BY number";
        let leagues = self.all(sql, [], |row| {
            let line = String::from_utf8_lossy(row.get_ref(2)?.as_bytes()?);
            let (number, stream) = (row.get(0)?, Stream(row.get::<_, String>(1)?.into()));
            Ok(StoredLeague { number, stream, id: id_of(&line) })
        })?;
        Ok(leagues.into_iter().filter(|league| league.stream.is_managers()).collect())
    }

    /// Whether the store is that of a service, which keeps a log of its leagues.
    pub fn is_of_a_service(&self) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM events WHERE league = 0 AND seq = 1 AND stream = 'service'";
        Ok(!self.all(sql, [], |_| Ok(()))?.is_empty())
    }

    /// Chooses the league of this name; of several, the latest. A store without any league is left as it is.
    pub fn choose(self, league_id: Option<&LeagueId>) -> Result<Self, StoreError> {
        let Some(wanted) = league_id else { return Ok(self) };
        let known = self.leagues()?;
        let found = known.iter().rev().find(|league| league.id.as_ref() == Some(wanted));
        match found {
            Some(league) => Ok(self.in_league(league.number)),
            None if known.is_empty() => Ok(self),
            None => Err(StoreError::NoSuchLeague {
                path: self.path().to_owned(),
                id: wanted.clone(),
                known: names(&known),
            }),
        }
    }
}

/// The names of leagues for an error: the last of them, if there are many.
fn names(known: &[StoredLeague]) -> String {
    const NAMES_MAX: usize = 20;
    let hidden = known.len().saturating_sub(NAMES_MAX);
    let names: Vec<String> =
        known.iter().skip(hidden).filter_map(|league| Some(league.id.as_ref()?.to_string())).collect();
    match hidden {
        0 => names.join(", "),
        hidden => format!("{} and {hidden} others", names.join(", ")),
    }
}

/// What a store keeps of a league beside its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeagueState {
    pub number: u32,
    /// How many bytes of requests and answers are kept.
    pub exchange_bytes: u64,
    /// When it is to be loaded: the epoch if it was loaded last.
    pub wake_at: Option<Timestamp>,
    /// Wholly: a crash may leave some of its rows, which are still to be removed.
    pub removed: bool,
}

pub(super) fn states(db: &Connection) -> rusqlite::Result<Vec<LeagueState>> {
    let mut rows = db.prepare(
        "SELECT number, exchange_bytes, wake_at, removed \
             AND NOT EXISTS (SELECT 1 FROM events WHERE league = number) \
             AND NOT EXISTS (SELECT 1 FROM exchanges WHERE league = number) \
         FROM leagues ORDER BY number",
    )?;
    let states = rows.query_map([], |row| {
        Ok(LeagueState {
            number: row.get(0)?,
            exchange_bytes: row.get::<_, i64>(1)?.cast_unsigned(),
            wake_at: row.get::<_, Option<i64>>(2)?.map(Timestamp::from_micros),
            removed: row.get(3)?,
        })
    })?;
    states.collect()
}

/// The id of a league, from its first event.
fn id_of(line: &str) -> Option<LeagueId> {
    match event_codec::decode::<LeagueEvent>(line) {
        Ok((_, LeagueEvent::LeagueCreated { settings })) => Some(settings.league_id),
        _ => None,
    }
}
