//! The course of a league, read from its stream: each event in order, and where they led. Pure.

use super::error::StoreError;
use super::verify::result::{self, Played};
use super::{Reader, Stored, Stream};
use matchday_core::league::fixture::Decision;
use matchday_core::league::{League, LeagueEvent, Settings};
use matchday_core::log::{self, LogError};
use matchday_core::protocol::{MatchId, Sender, Timestamp};

#[derive(Debug)]
pub struct History {
    pub entries: Vec<Entry>,
    /// The league after the last of them.
    pub league: League,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub seq: u64,
    pub at: Timestamp,
    pub event: LeagueEvent,
}

impl History {
    /// The league of a store that is looked at: the latest, unless another was chosen.
    pub fn load(reader: &Reader) -> Result<Self, StoreError> {
        Self::of_stream(reader, &reader.league())
    }

    /// One of the leagues of a store.
    pub fn of_stream(reader: &Reader, stream: &Stream) -> Result<Self, StoreError> {
        let path = || reader.path().to_owned();
        let events = reader.load(stream)?;
        if events.is_empty() {
            return Err(StoreError::NoLeague(path()));
        }
        Self::read(&events).map_err(|error| StoreError::Unreadable { path: path(), error })
    }

    /// What a league that is at hand has to do with some of its events.
    pub(super) fn around(league: League, events: &[Stored]) -> Result<Self, LogError> {
        let entries = events.iter().map(|stored| {
            let (at, event) = log::read(&stored.line)?;
            Ok(Entry { seq: stored.seq, at, event })
        });
        Ok(Self { entries: entries.collect::<Result<_, LogError>>()?, league })
    }

    /// Reads the events and takes them in one after the other; whether they are right is for `verify` to say.
    pub fn read(events: &[Stored]) -> Result<Self, LogError> {
        let mut league = League::new(Settings::default());
        let mut entries = Vec::with_capacity(events.len());
        for stored in events {
            let (at, event) = log::read(&stored.line)?;
            league.apply(at, &event);
            entries.push(Entry { seq: stored.seq, at, event });
        }
        Ok(Self { entries, league })
    }

    /// Whether the draw of a match is proven: `proven`, `unproven`, or why it is wrong; `None` if there was none.
    pub fn proof(&self, match_id: &MatchId) -> Option<String> {
        let game = self.league.matches.get(match_id)?;
        let Decision { attempt, status, result, .. } = game.decision.as_ref()?;
        result::proof(&Played::in_league(&self.league, match_id, game, *attempt), *status, result)
    }

    /// What happened to a match, from the announcement of its round to its result.
    pub fn of_match<'a>(&'a self, match_id: &'a MatchId) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(move |entry| concerns(&entry.event, match_id))
    }
}

fn concerns(event: &LeagueEvent, wanted: &MatchId) -> bool {
    match event {
        LeagueEvent::RoundAnnounced { plan, .. } => plan.iter().any(|(id, _)| id == wanted),
        LeagueEvent::MatchAssigned { match_id, .. }
        | LeagueEvent::AttemptLost { match_id, .. }
        | LeagueEvent::MatchDecided { match_id, .. }
        | LeagueEvent::MatchVoided { match_id } => match_id == wanted,
        _ => false,
    }
}

/// Whether an agent belongs to the league.
pub(super) fn is_member(league: &League, agent: &Sender) -> bool {
    match agent {
        Sender::Player(id) => league.players.contains_key(id),
        Sender::Referee(id) => league.referees.contains_key(id),
        Sender::LeagueManager | Sender::Launcher => false,
    }
}
