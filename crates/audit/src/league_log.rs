//! A league's log: the events of its manager's stream in order, and the league they lead to. Pure, but for reading them.

use matchday_core::event_codec::EventCodecError;
use matchday_core::league::{League, LeagueEvent, LeagueSettings};
use matchday_core::protocol::{MatchId, Sender};
use matchday_store::batch::Stored;
use matchday_store::entry::Entry;
use matchday_store::error::StoreError;
use matchday_store::reader::Reader;

#[derive(Debug)]
pub struct LeagueLog {
    pub entries: Vec<Entry<LeagueEvent>>,
    /// The league after the last of them.
    pub league: League,
}

impl LeagueLog {
    /// The league that the reader has chosen: the latest, unless another was asked for.
    pub fn load(reader: &Reader) -> Result<Self, StoreError> {
        match reader.entries_after(&reader.league(), 0)? {
            entries if entries.is_empty() => Err(StoreError::NoLeague(reader.url().clone())),
            entries => Self::replay(entries).with_rounds_within_limits(reader),
        }
    }

    /// What is made of a league takes its time for each of its rounds.
    fn with_rounds_within_limits(self, reader: &Reader) -> Result<Self, StoreError> {
        let rounds = self.league.rounds.len();
        let most = self.league.settings.competition.rounds_max();
        if rounds <= most {
            return Ok(self);
        }
        let what = format!("it has a league of {rounds} rounds, and a league has {most} at most");
        Err(StoreError::Damaged {
            store: reader.url().clone(),
            what,
        })
    }

    /// A league that has been replayed already, with some of its events.
    pub(crate) fn excerpt(league: League, entries: Vec<Entry<LeagueEvent>>) -> Self {
        Self { entries, league }
    }

    /// Decodes the events and applies them one after the other; whether they are right is for `verify` to say.
    pub fn decode(events: &[Stored]) -> Result<Self, EventCodecError> {
        Ok(Self::replay(Entry::decode_all(events)?))
    }

    fn replay(entries: Vec<Entry<LeagueEvent>>) -> Self {
        let mut league = League::new(LeagueSettings::default());
        for entry in &entries {
            league.apply(entry.at, &entry.event);
        }
        Self { entries, league }
    }

    /// What happened to a match, from the announcement of its round to its result.
    pub fn of_match<'a>(
        &'a self,
        match_id: &'a MatchId,
    ) -> impl Iterator<Item = &'a Entry<LeagueEvent>> {
        self.entries
            .iter()
            .filter(move |entry| concerns(&entry.event, match_id))
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
