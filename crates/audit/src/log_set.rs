//! The logs of one league from one store or several: the manager's, and those of referees and players. Reads stores.

use crate::agent_log::{AgentEvent, AgentIdentity, AgentLog};
use crate::league_log::LeagueLog;
use matchday_core::league::League;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::{LeagueId, MatchId, PlayerId, RefereeId};
use matchday_core::referee::RefereeEvent;
use matchday_store::StoreUrl;
use matchday_store::batch::Stored;
use matchday_store::entry::Entry;
use matchday_store::error::StoreError;
use matchday_store::exchange::Exchange;
use matchday_store::leagues::Location;
use matchday_store::open;
use matchday_store::reader::Reader;
use matchday_store::stream::Stream;
use std::collections::BTreeSet;

/// The logs of a league and of its agents, as far as their stores are at hand.
#[derive(Debug)]
pub struct LogSet {
    /// The manager's log, if its store is among them.
    pub league: Option<LeagueLog>,
    pub referees: Vec<AgentLog<RefereeEvent>>,
    pub players: Vec<AgentLog<PlayerEvent>>,
    readers: Vec<Reader>,
}

impl LogSet {
    /// Opens stores to look at them together. One that is named twice is read once.
    pub fn open(stores: &[StoreUrl]) -> Result<Self, StoreError> {
        Self::open_league(stores, None)
    }

    /// Opens stores with the league of this name rather than the latest.
    pub fn open_league(
        stores: &[StoreUrl],
        league_id: Option<&LeagueId>,
    ) -> Result<Self, StoreError> {
        let mut seen = Vec::new();
        let fresh = |url: &&StoreUrl| {
            let url = url.canonical();
            let is_new = !seen.contains(&url);
            seen.push(url);
            is_new
        };
        let readers = stores
            .iter()
            .filter(fresh)
            .map(|url| open::to_read(url)?.choose(league_id));
        let logs = Self::of(readers.collect::<Result<_, _>>()?)?;
        match (league_id, &logs.league, stores.first()) {
            (Some(_), None, Some(url)) => Err(StoreError::NoLeague(url.clone())),
            _ => Ok(logs),
        }
    }

    pub fn of(readers: Vec<Reader>) -> Result<Self, StoreError> {
        let league = the_one_league(&readers)?;
        let mut referees = Vec::new();
        let mut players = Vec::new();
        for reader in &readers {
            for stream in reader.streams()? {
                let events = || reader.load(&stream);
                let league = league.as_ref().map(|league_log| &league_log.league);
                match stream.role() {
                    "referee" => referees.extend(of_league(
                        reader,
                        chosen(reader, &stream, &events()?, league),
                    )?),
                    "player" => players.extend(of_league(
                        reader,
                        chosen(reader, &stream, &events()?, league),
                    )?),
                    _ => {}
                }
            }
        }
        Ok(Self {
            league,
            referees,
            players,
            readers,
        })
    }

    /// The logs of one match of a league that is in memory: far less to read than all. The first store is the manager's; the
    /// errors of the others are returned beside what can be read.
    pub fn open_match(
        stores: &[Location],
        league: &League,
        match_id: &MatchId,
    ) -> Result<(Self, Vec<StoreError>), StoreError> {
        Self::open_about(stores, league, &format!("\"{match_id}\""))
    }

    /// The events in which a fallback chose, and the registrations of those who logged them.
    pub fn open_fallbacks(stores: &[Location], league: &League) -> Result<Self, StoreError> {
        Ok(Self::open_about(stores, league, "\"fallback\":")?.0)
    }

    fn open_about(
        stores: &[Location],
        league: &League,
        text: &str,
    ) -> Result<(Self, Vec<StoreError>), StoreError> {
        let mut told = Self {
            league: None,
            referees: Vec::new(),
            players: Vec::new(),
            readers: Vec::new(),
        };
        let mut trouble = Vec::new();
        for (number, store) in stores.iter().enumerate() {
            match told.add(store, (number == 0).then_some(league), league, text) {
                Err(error) if number == 0 => return Err(error),
                Err(error) => trouble.push(error),
                Ok(()) => {}
            }
        }
        Ok((told, trouble))
    }

    fn add(
        &mut self,
        store: &Location,
        own: Option<&League>,
        league: &League,
        text: &str,
    ) -> Result<(), StoreError> {
        let reader = store.open()?;
        let streams = reader.load_about([text, "\"enrolled\""])?;
        if let Some(own) = own {
            let events = streams.get(&reader.league()).map_or(&[][..], Vec::as_slice);
            let entries = Entry::decode_all(events).map_err(|error| reader.unreadable(error))?;
            self.league = Some(LeagueLog::excerpt(own.clone(), entries));
        }
        let mut referees = Vec::new();
        let mut players = Vec::new();
        for (stream, events) in &streams {
            match stream.role() {
                "referee" => referees.extend(of_league(
                    &reader,
                    chosen(&reader, stream, events, Some(league)),
                )?),
                "player" => players.extend(of_league(
                    &reader,
                    chosen(&reader, stream, events, Some(league)),
                )?),
                _ => {}
            }
        }
        self.referees.extend(referees);
        self.players.extend(players);
        self.readers.push(reader);
        Ok(())
    }

    pub fn readers(&self) -> &[Reader] {
        &self.readers
    }

    pub fn stores(&self) -> impl Iterator<Item = &StoreUrl> {
        self.readers.iter().map(Reader::url)
    }

    /// Every match that one of the logs mentions.
    pub fn matches(&self) -> BTreeSet<MatchId> {
        let league = self
            .league
            .iter()
            .flat_map(|league_log| league_log.league.matches.keys());
        let referees = self.referees.iter().flat_map(|log| &log.entries);
        let players = self.players.iter().flat_map(|log| &log.entries);
        let referees = referees.flat_map(|entry| entry.event.matches());
        let players = players.flat_map(|entry| entry.event.matches());
        league.chain(referees).chain(players).cloned().collect()
    }

    /// The exchanges that belong to a match of this league, from all stores, in the order in which they began.
    pub fn exchanges_of(&self, match_id: &MatchId) -> Result<Vec<Exchange>, StoreError> {
        let mut all = Vec::new();
        for reader in &self.readers {
            let kept = reader.exchanges_of(match_id)?;
            all.extend(
                kept.into_iter()
                    .filter(|exchange| self.is_of_this_league(reader.url(), exchange)),
            );
        }
        all.sort_by_key(|exchange| exchange.at);
        Ok(all)
    }

    /// An agent that has been in another league may have had a match of the same name there.
    fn is_of_this_league(&self, store: &StoreUrl, exchange: &Exchange) -> bool {
        let referee = self
            .referees
            .iter()
            .filter(|log| log.store.as_ref() == Some(store));
        let player = self
            .players
            .iter()
            .filter(|log| log.store.as_ref() == Some(store));
        let covers = referee
            .filter(|log| log.id() == exchange.agent)
            .map(|log| log.covers(exchange.at));
        let mut covers = covers
            .chain(
                player
                    .filter(|log| log.id() == exchange.agent)
                    .map(|log| log.covers(exchange.at)),
            )
            .peekable();
        covers.peek().is_none() || covers.any(|covers| covers)
    }
}

fn the_one_league(readers: &[Reader]) -> Result<Option<LeagueLog>, StoreError> {
    let mut found: Option<(&Reader, LeagueLog)> = None;
    for reader in readers {
        match (LeagueLog::load(reader), &found) {
            (Err(StoreError::NoLeague(_)), _) => {}
            (Err(error), _) => return Err(error),
            (Ok(_), Some((first, _))) => {
                return Err(StoreError::TwoLeagues(
                    first.url().clone(),
                    reader.url().clone(),
                ));
            }
            (Ok(league_log), None) => found = Some((reader, league_log)),
        }
    }
    Ok(found.map(|(_, league_log)| league_log))
}

/// The part of an agent's events that belongs to the league, or else the last.
fn chosen<E: AgentEvent>(
    reader: &Reader,
    stream: &Stream,
    events: &[Stored],
    league: Option<&League>,
) -> Result<AgentLog<E>, StoreError> {
    let store = || reader.url().clone();
    let parts = AgentLog::decode(Some(reader.url()), stream, events);
    let mut parts = parts.map_err(|error| reader.unreadable(error))?;
    let Some(last) = parts.pop() else {
        return Err(StoreError::Empty(store()));
    };
    let fits = |log: &AgentLog<E>| match (&log.identity, league) {
        (Some(identity), Some(league)) => is_known(league, identity),
        _ => true,
    };
    if fits(&last) {
        return Ok(last);
    }
    let id = last.id().to_owned();
    parts
        .into_iter()
        .rev()
        .find(fits)
        .ok_or_else(|| StoreError::OtherLeague { store: store(), id })
}

/// An agent of the league, if it is one. Beside the league itself a store may hold agents of others, such as seats that
/// only another league has seen; a store that was named for its agent alone must not.
fn of_league<E>(
    reader: &Reader,
    chosen: Result<AgentLog<E>, StoreError>,
) -> Result<Option<AgentLog<E>>, StoreError> {
    match chosen {
        Err(StoreError::OtherLeague { .. }) if !reader.leagues()?.is_empty() => Ok(None),
        chosen => chosen.map(Some),
    }
}

/// Whether an agent is the league's own: the manager knows its token, or one that was replaced since.
pub(crate) fn is_known(league: &League, agent: &AgentIdentity) -> bool {
    let Some(token) = agent.token() else {
        return false;
    };
    let player = league.players.get(&PlayerId::new(agent.id.clone()));
    let referee = league.referees.get(&RefereeId::new(agent.id.clone()));
    player.is_some_and(|player| player.has_had(token))
        || referee.is_some_and(|referee| referee.has_had(token))
}
