//! The leagues that a store holds. Each has a number, and under it a log of its own: the streams of its manager and of the
//! agents that share the store. Reads the store.

pub use crate::append::NO_LEAGUE;
pub use crate::read::LeagueState;

use crate::error::StoreError;
use crate::open;
use crate::reader::Reader;
use crate::store_url::StoreUrl;
use crate::stream::Stream;
use matchday_core::event_codec;
use matchday_core::league::LeagueEvent;
use matchday_core::protocol::LeagueId;

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
    pub store: StoreUrl,
    pub league: LeagueChoice,
}

impl Location {
    /// The latest league of a store.
    pub fn latest(store: impl Into<StoreUrl>) -> Self {
        Self {
            store: store.into(),
            league: LeagueChoice::Latest,
        }
    }

    pub fn open(&self) -> Result<Reader, StoreError> {
        let reader = open::to_read(&self.store)?;
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
        self.rows
            .manager_stream(self.league)
            .ok()
            .flatten()
            .unwrap_or_else(Stream::league)
    }

    /// Every league, the first one first.
    pub fn leagues(&self) -> Result<Vec<StoredLeague>, StoreError> {
        let leagues = self
            .rows
            .leagues()?
            .into_iter()
            .filter(|(_, stream, _)| stream.is_managers());
        let leagues = leagues.map(|(number, stream, line)| StoredLeague {
            number,
            stream,
            id: id_of(&line),
        });
        Ok(leagues.collect())
    }

    /// Whether the store is that of a service, which keeps a log of its leagues.
    pub fn is_of_a_service(&self) -> Result<bool, StoreError> {
        Ok(self.rows.head(NO_LEAGUE, &Stream::service())?.is_some())
    }

    /// Chooses the league of this name; of several, the latest. A store without any league is left as it is.
    pub fn choose(self, league_id: Option<&LeagueId>) -> Result<Self, StoreError> {
        let Some(wanted) = league_id else {
            return Ok(self);
        };
        let known = self.leagues()?;
        let found = known
            .iter()
            .rev()
            .find(|league| league.id.as_ref() == Some(wanted));
        match found {
            Some(league) => Ok(self.in_league(league.number)),
            None if known.is_empty() => Ok(self),
            None => Err(StoreError::NoSuchLeague {
                store: self.url().clone(),
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
    let names: Vec<String> = known
        .iter()
        .skip(hidden)
        .filter_map(|league| Some(league.id.as_ref()?.to_string()))
        .collect();
    match hidden {
        0 => names.join(", "),
        hidden => format!("{} and {hidden} others", names.join(", ")),
    }
}

/// The id of a league, from its first event.
fn id_of(line: &str) -> Option<LeagueId> {
    match event_codec::decode::<LeagueEvent>(line) {
        Ok((_, LeagueEvent::LeagueCreated { settings })) => Some(settings.league_id),
        _ => None,
    }
}
