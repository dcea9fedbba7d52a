//! The league as its durable events tell it, read on from where the last look ended: the running manager is never
//! disturbed, and nothing is seen that a crash could take back. Reads the store.

use super::topics::{TOPICS, Topic};
use crate::store::{Reader, Store, StoreError, Stream};
use matchday_core::league::{League, LeagueEvent, LossCause, Settings};
use matchday_core::log;
use matchday_core::protocol::messages::Culprit;
use matchday_core::protocol::{MatchId, RefereeId, Timestamp};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A league, and what of its course is not in its state.
#[derive(Debug, Clone)]
pub(crate) struct Annals {
    pub(crate) league: League,
    /// The manager's stream, of which the latest league of the store has one of its own.
    stream: Stream,
    /// What the marks of the leagues before it came to.
    base: u64,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) completed_at: Option<Timestamp>,
    /// By the number of the round.
    pub(crate) announced_at: BTreeMap<u32, Timestamp>,
    /// When each match was last given to a referee.
    pub(crate) assigned_at: BTreeMap<MatchId, Timestamp>,
    pub(crate) lost: BTreeMap<RefereeId, Lost>,
    /// The number of the last event that changed what belongs to a topic.
    changed: [u64; TOPICS.len()],
    seq: u64,
}

/// The matches that were taken from a referee.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) handed_back: u32,
    pub(crate) overdue: u32,
    pub(crate) refused: u32,
}

/// What there is to see at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) annals: Arc<Annals>,
    /// How many messages have been recorded.
    pub(crate) messages: u64,
}

impl Snapshot {
    /// Grows whenever anything durable has changed, also over a restart.
    pub(crate) fn version(&self) -> u64 {
        self.annals.base.saturating_add(self.annals.seq).saturating_add(self.messages)
    }

    /// By which it is seen whether a topic has changed.
    pub(crate) fn mark(&self, topic: Topic) -> u64 {
        match topic {
            Topic::Messages => self.messages,
            other => self.annals.changed.get(other as usize).copied().unwrap_or(0),
        }
    }

    /// What the manager's store adds to this, if anything, and how many messages there are in the others.
    pub(crate) fn read_on(&self, path: &Path, others: &[PathBuf]) -> Result<Self, StoreError> {
        let reader = Store::open_read_only(path)?;
        let mut messages = reader.last_message()?.cast_unsigned();
        for other in others {
            // What is wrong with it is told where it would be shown.
            let last = Store::open_read_only(other).and_then(|reader| reader.last_message());
            messages = messages.saturating_add(last.unwrap_or(0).cast_unsigned());
        }
        // One of the others may have gone, and yet nothing may seem to run backwards.
        let messages = messages.max(self.messages);
        let mut annals = Arc::clone(&self.annals);
        if annals.stream != reader.league() {
            annals = Arc::new(Annals::of(reader.league(), annals.base.saturating_add(annals.seq)));
        }
        let events = reader.load_after(&annals.stream, annals.seq)?;
        if !events.is_empty() {
            let unreadable = |error| StoreError::Unreadable { path: path.to_owned(), error };
            let annals = Arc::make_mut(&mut annals);
            for stored in &events {
                let (at, event) = log::read(&stored.line).map_err(unreadable)?;
                annals.take_in(stored.seq, at, &event);
            }
        }
        Ok(Self { annals, messages })
    }

    /// All that a store holds.
    pub(crate) fn of(reader: &Reader) -> Result<Self, StoreError> {
        Self::default().read_on(reader.path(), &[])
    }
}

impl Default for Snapshot {
    fn default() -> Self {
        Self { annals: Arc::new(Annals::new()), messages: 0 }
    }
}

impl Annals {
    pub(crate) fn new() -> Self {
        Self::of(Stream::league(), 0)
    }

    fn of(stream: Stream, base: u64) -> Self {
        Self {
            league: League::new(Settings::default()),
            stream,
            base,
            created_at: None,
            started_at: None,
            completed_at: None,
            announced_at: BTreeMap::new(),
            assigned_at: BTreeMap::new(),
            lost: BTreeMap::new(),
            changed: [base; TOPICS.len()],
            seq: 0,
        }
    }

    /// By which it is seen whether results or players have changed.
    pub(crate) fn results_mark(&self) -> u64 {
        self.changed.get(Topic::Standings as usize).copied().unwrap_or(0)
    }

    pub(crate) fn take_in(&mut self, seq: u64, at: Timestamp, event: &LeagueEvent) {
        self.league.apply(at, event);
        self.seq = seq;
        match event {
            LeagueEvent::LeagueCreated { .. } => self.created_at = Some(at),
            LeagueEvent::LeagueStarted { .. } => self.started_at = Some(at),
            LeagueEvent::LeagueCompleted { .. } => self.completed_at = Some(at),
            LeagueEvent::RoundAnnounced { round_id, .. } => {
                self.announced_at.insert(round_id.0, at);
            }
            LeagueEvent::MatchAssigned { match_id, .. } => {
                self.assigned_at.insert(match_id.clone(), at);
            }
            LeagueEvent::AttemptLost { referee_id, culprit, cause, .. } => {
                let lost = self.lost.entry(referee_id.clone()).or_default();
                match culprit {
                    Culprit::Infrastructure => lost.handed_back += 1,
                    _ if *cause == Some(LossCause::Refused) => lost.refused += 1,
                    _ => lost.overdue += 1,
                }
            }
            LeagueEvent::MatchVoided { .. } => self.completed_at = None,
            _ => {}
        }
        for topic in concerned(event) {
            if let Some(changed) = self.changed.get_mut(*topic as usize) {
                *changed = self.base.saturating_add(seq);
            }
        }
    }
}

/// What looks different after an event.
fn concerned(event: &LeagueEvent) -> &'static [Topic] {
    match event {
        LeagueEvent::MatchAssigned { .. } | LeagueEvent::AttemptLost { .. } => {
            &[Topic::League, Topic::Rounds, Topic::Referees]
        }
        LeagueEvent::RoundAnnounced { .. } | LeagueEvent::RoundCompleted { .. } => {
            &[Topic::League, Topic::Rounds]
        }
        LeagueEvent::LeaguePaused | LeagueEvent::LeagueResumed => &[Topic::League],
        LeagueEvent::RefereeRegistered { .. } | LeagueEvent::RefereeRejoined { .. } => {
            &[Topic::League, Topic::Referees]
        }
        LeagueEvent::PlayerRegistered { .. }
        | LeagueEvent::PlayerRejoined { .. }
        | LeagueEvent::PlayerWithdrawn { .. } => &[Topic::League, Topic::Standings, Topic::Players],
        LeagueEvent::TokenShown { .. }
        | LeagueEvent::OperatorTokenRotated { .. }
        | LeagueEvent::ManagerKeyAnnounced { .. }
        | LeagueEvent::CheckpointSigned { .. }
        | LeagueEvent::JoinCodeIssued { .. } => &[],
        _ => &[Topic::League, Topic::Standings, Topic::Rounds, Topic::Players, Topic::Referees],
    }
}
