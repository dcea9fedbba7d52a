//! The leagues that a store holds, one after the other. Each has a stream of its own, and so a chain of its own: the first
//! is `league`, the second `league/2`. Reads the database.

use super::error::StoreError;
use super::{Inner, Reader, Store, Stream};
use matchday_core::league::LeagueEvent;
use matchday_core::log;
use matchday_core::protocol::LeagueId;
use smol_str::{SmolStr, format_smolstr};

/// What all streams of managers are called.
const ROLE: &str = "league";

impl Stream {
    /// The manager's stream in the first league of a store.
    pub fn league() -> Self {
        Self(SmolStr::new_static(ROLE))
    }

    /// The same in the league with this number, counted from 1.
    pub fn of_league(number: u32) -> Self {
        match number {
            0 | 1 => Self::league(),
            more => Self(format_smolstr!("{ROLE}/{more}")),
        }
    }

    /// Which of the store's leagues this is the manager's stream of; `None` if it is that of another agent.
    pub fn league_number(&self) -> Option<u32> {
        let rest = self.0.strip_prefix(ROLE)?;
        match rest.strip_prefix('/') {
            Some(number) => number.parse().ok().filter(|number| *number > 1),
            None => rest.is_empty().then_some(1),
        }
    }
}

impl Reader {
    /// The league that is looked at: the latest, unless another was chosen.
    pub fn league(&self) -> Stream {
        Stream::of_league(self.league)
    }

    /// Every league's stream, the first one first.
    pub fn leagues(&self) -> Result<Vec<Stream>, StoreError> {
        Ok(in_order(self.first_events()?.iter().map(|(stream, _)| stream)))
    }

    /// Looks at the league of this name; of several, at the latest. A store without any league is left as it is.
    pub fn choose(mut self, league_id: Option<&LeagueId>) -> Result<Self, StoreError> {
        let Some(wanted) = league_id else { return Ok(self) };
        let mut known = Vec::new();
        for (stream, line) in self.first_events()? {
            if let Some(number) = stream.league_number() {
                known.push((number, id_of(&line)));
            }
        }
        known.sort_unstable();
        let found = known.iter().rev().find(|(_, id)| id.as_ref() == Some(wanted));
        match found {
            Some((number, _)) => self.league = *number,
            None if known.is_empty() => {}
            None => {
                let known: Vec<String> =
                    known.into_iter().filter_map(|(_, id)| Some(id?.to_string())).collect();
                return Err(StoreError::NoSuchLeague {
                    path: self.path().to_owned(),
                    id: wanted.clone(),
                    known: known.join(", "),
                });
            }
        }
        Ok(self)
    }
}

/// Those of managers, the first league's first.
fn in_order<'a>(streams: impl Iterator<Item = &'a Stream>) -> Vec<Stream> {
    let mut numbers: Vec<u32> = streams.filter_map(Stream::league_number).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(Stream::of_league).collect()
}

/// What a league calls itself in its first event.
fn id_of(line: &str) -> Option<LeagueId> {
    match log::read::<LeagueEvent>(line) {
        Ok((_, LeagueEvent::LeagueCreated { settings })) => Some(settings.league_id),
        _ => None,
    }
}

impl Store {
    /// Every league's stream, the first one first.
    pub fn leagues(&self) -> Result<Vec<Stream>, StoreError> {
        match &*self.0 {
            Inner::File { path, .. } => Reader::of(path)?.leagues(),
            Inner::Memory { memory, .. } => Ok(in_order(memory.names().iter())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_leagues_are_told_from_all_others() {
        for (name, number) in [
            ("league", Some(1)),
            ("league/2", Some(2)),
            ("league/10", Some(10)),
            ("league/1", None),
            ("league/x", None),
            ("leagues", None),
            ("referee/8001", None),
            ("player", None),
        ] {
            assert_eq!(Stream(name.into()).league_number(), number, "{name}");
        }
        assert_eq!(Stream::of_league(1), Stream::league());
        assert_eq!(Stream::of_league(3).league_number(), Some(3));
    }
}
