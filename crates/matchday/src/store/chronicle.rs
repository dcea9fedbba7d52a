//! What one store tells, or several together: the manager's, and those of referees and players. Reads stores.

use super::diary::{Diary, Name, Own};
use super::error::StoreError;
use super::history::History;
use super::{Exchange, Reader, Stored, Stream};
use matchday_core::league::League;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::{LeagueId, MatchId, PlayerId, RefereeId};
use matchday_core::referee::RefereeEvent;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Everything that can be read from the stores at hand.
#[derive(Debug)]
pub struct Chronicle {
    /// What the manager's store tells, if it is among them.
    pub league: Option<History>,
    pub referees: Vec<Diary<RefereeEvent>>,
    pub players: Vec<Diary<PlayerEvent>>,
    readers: Vec<Reader>,
}

impl Chronicle {
    /// Opens stores to look at them together. One that is named twice is read once.
    pub fn open(paths: &[PathBuf]) -> Result<Self, StoreError> {
        Self::open_league(paths, None)
    }

    /// The same, with the league of this name rather than the latest.
    pub fn open_league(paths: &[PathBuf], league_id: Option<&LeagueId>) -> Result<Self, StoreError> {
        let mut seen = BTreeSet::new();
        let fresh = |path: &&PathBuf| seen.insert(path.canonicalize().unwrap_or_else(|_| (*path).clone()));
        let readers = paths.iter().filter(fresh).map(|path| Reader::open(path)?.choose(league_id));
        let chronicle = Self::of(readers.collect::<Result<_, _>>()?)?;
        match (league_id, &chronicle.league, paths.first()) {
            (Some(_), None, Some(path)) => Err(StoreError::NoLeague(path.clone())),
            _ => Ok(chronicle),
        }
    }

    pub fn of(readers: Vec<Reader>) -> Result<Self, StoreError> {
        let league = the_one_league(&readers)?;
        let (mut referees, mut players) = (Vec::new(), Vec::new());
        for reader in &readers {
            for stream in reader.streams()? {
                let events = || reader.load(&stream);
                let league = league.as_ref().map(|history| &history.league);
                match stream.role() {
                    "referee" => {
                        referees.extend(of_league(reader, chosen(reader, &stream, &events()?, league))?)
                    }
                    "player" => {
                        players.extend(of_league(reader, chosen(reader, &stream, &events()?, league))?)
                    }
                    _ => {}
                }
            }
        }
        Ok(Self { league, referees, players, readers })
    }

    /// What the stores tell of one match of a league that is at hand: far less to read than all. The first of them is
    /// the manager's. One of the others that cannot be read is named, and told of nothing.
    pub(crate) fn about(
        paths: &[PathBuf],
        league: &League,
        match_id: &MatchId,
    ) -> Result<(Self, Vec<StoreError>), StoreError> {
        let mut told = Self { league: None, referees: Vec::new(), players: Vec::new(), readers: Vec::new() };
        let mut trouble = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            match told.add(path, (number == 0).then_some(league), league, match_id) {
                Err(error) if number == 0 => return Err(error),
                Err(error) => trouble.push(error),
                Ok(()) => {}
            }
        }
        Ok((told, trouble))
    }

    fn add(
        &mut self,
        path: &Path,
        own: Option<&League>,
        league: &League,
        match_id: &MatchId,
    ) -> Result<(), StoreError> {
        let reader = Reader::open(path)?;
        let quoted = format!("\"{match_id}\"");
        let unreadable = |error| StoreError::Unreadable { path: path.to_owned(), error };
        let streams = reader.load_about([&quoted, "\"enrolled\""])?;
        if let Some(own) = own {
            let events = streams.get(&reader.league()).map_or(&[][..], Vec::as_slice);
            self.league = Some(History::around(own.clone(), events).map_err(unreadable)?);
        }
        let (mut referees, mut players) = (Vec::new(), Vec::new());
        for (stream, events) in &streams {
            match stream.role() {
                "referee" => {
                    referees.extend(of_league(&reader, chosen(&reader, stream, events, Some(league)))?)
                }
                "player" => {
                    players.extend(of_league(&reader, chosen(&reader, stream, events, Some(league)))?)
                }
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

    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.readers.iter().map(Reader::path)
    }

    /// Every match that is heard of.
    pub fn matches(&self) -> BTreeSet<MatchId> {
        let league = self.league.iter().flat_map(|history| history.league.matches.keys());
        let referees = self.referees.iter().flat_map(|diary| &diary.entries);
        let players = self.players.iter().flat_map(|diary| &diary.entries);
        let referees = referees.flat_map(|note| note.event.matches());
        let players = players.flat_map(|note| note.event.matches());
        league.chain(referees).chain(players).cloned().collect()
    }

    /// The exchanges that belong to a match of this league, from all stores, in the order in which they began.
    pub fn exchanges_of(&self, match_id: &MatchId) -> Result<Vec<Exchange>, StoreError> {
        let mut all = Vec::new();
        for reader in &self.readers {
            let kept = reader.exchanges_of(match_id)?;
            all.extend(kept.into_iter().filter(|exchange| self.is_of_this_league(reader.path(), exchange)));
        }
        all.sort_by_key(|exchange| exchange.at);
        Ok(all)
    }

    /// An agent that has been in another league may have had a match of the same name there.
    fn is_of_this_league(&self, file: &Path, exchange: &Exchange) -> bool {
        let referee = self.referees.iter().filter(|diary| diary.file == file);
        let player = self.players.iter().filter(|diary| diary.file == file);
        let covers =
            referee.filter(|diary| diary.id() == exchange.agent).map(|diary| diary.covers(exchange.at));
        let mut covers = covers
            .chain(player.filter(|diary| diary.id() == exchange.agent).map(|diary| diary.covers(exchange.at)))
            .peekable();
        covers.peek().is_none() || covers.any(|covers| covers)
    }
}

fn the_one_league(readers: &[Reader]) -> Result<Option<History>, StoreError> {
    let mut found: Option<(&Reader, History)> = None;
    for reader in readers {
        match (History::load(reader), &found) {
            (Err(StoreError::NoLeague(_)), _) => {}
            (Err(error), _) => return Err(error),
            (Ok(_), Some((first, _))) => {
                return Err(StoreError::TwoLeagues(first.path().to_owned(), reader.path().to_owned()));
            }
            (Ok(history), None) => found = Some((reader, history)),
        }
    }
    Ok(found.map(|(_, history)| history))
}

/// The part of an agent's events that belongs to the league, or else the last.
fn chosen<E: Own>(
    reader: &Reader,
    stream: &Stream,
    events: &[Stored],
    league: Option<&League>,
) -> Result<Diary<E>, StoreError> {
    let path = || reader.path().to_owned();
    let unreadable = |error| StoreError::Unreadable { path: path(), error };
    let mut parts = Diary::read(reader.path(), stream, events).map_err(unreadable)?;
    let Some(last) = parts.pop() else { return Err(StoreError::Empty(path())) };
    let fits = |diary: &Diary<E>| match (&diary.name, league) {
        (Some(name), Some(league)) => is_known(league, name),
        _ => true,
    };
    if fits(&last) {
        return Ok(last);
    }
    let id = last.id().to_owned();
    parts.into_iter().rev().find(fits).ok_or_else(|| StoreError::Stranger { path: path(), id })
}

/// An agent of the league, if it is one. Beside the league itself a store may hold agents of others, such as seats that
/// only another league has seen; a store that was named for its agent alone must not.
fn of_league<E>(
    reader: &Reader,
    chosen: Result<Diary<E>, StoreError>,
) -> Result<Option<Diary<E>>, StoreError> {
    match chosen {
        Err(StoreError::Stranger { .. }) if !reader.leagues()?.is_empty() => Ok(None),
        chosen => chosen.map(Some),
    }
}

/// Whether an agent is the league's own: the manager knows its token, or one that was replaced since.
pub(super) fn is_known(league: &League, name: &Name) -> bool {
    let Some(token) = name.token() else { return false };
    let player = league.players.get(&PlayerId::new(name.id.clone()));
    let referee = league.referees.get(&RefereeId::new(name.id.clone()));
    player.is_some_and(|player| player.has_had(token))
        || referee.is_some_and(|referee| referee.has_had(token))
}
