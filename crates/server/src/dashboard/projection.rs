//! A projection of a league's log, continued from where the last read ended: the running manager is not disturbed, and nothing
//! is shown that a crash could take back. Reads the store.

use super::topics::{TOPICS, Topic};
use matchday_core::league::{League, LeagueEvent, LeagueSettings, LossCause};
use matchday_core::protocol::messages::Culprit;
use matchday_core::protocol::{MatchId, PlayerId, RefereeId, Timestamp};
use matchday_store::entry::Entry;
use matchday_store::{Location, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A league, with times that its state does not have.
#[derive(Debug, Clone)]
pub struct Projection {
    pub league: League,
    /// The number of the league in its store.
    number: u32,
    /// The versions of the leagues before it, so that versions only grow.
    base: u64,
    pub created_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// By the number of the round.
    pub announced_at: BTreeMap<u32, Timestamp>,
    /// When each match was last given to a referee.
    pub assigned_at: BTreeMap<MatchId, Timestamp>,
    pub lost: BTreeMap<RefereeId, Lost>,
    /// The ranks when the last round was announced; none before the first result.
    pub ranks_before: BTreeMap<PlayerId, u32>,
    /// The number of the last event that changed what belongs to a topic.
    changed: [u64; TOPICS.len()],
    seq: u64,
}

/// The matches that were taken from a referee.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    pub handed_back: u32,
    pub overdue: u32,
    pub refused: u32,
}

/// The state at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub projection: Arc<Projection>,
    /// How many messages have been recorded.
    pub messages: u64,
}

impl Snapshot {
    /// Grows whenever anything durable has changed, also over a restart.
    pub fn version(&self) -> u64 {
        self.log_version().saturating_add(self.messages)
    }

    /// Grows whenever the league's log has.
    pub fn log_version(&self) -> u64 {
        self.projection.base.saturating_add(self.projection.seq)
    }

    /// The version of a topic, which changes when the topic does.
    pub fn mark(&self, topic: Topic) -> u64 {
        match topic {
            Topic::Messages => self.messages,
            other => self
                .projection
                .changed
                .get(other as usize)
                .copied()
                .unwrap_or(0),
        }
    }

    /// Reads the new events of the manager's store, and counts the messages of all stores.
    pub fn refresh(&self, store: &Location, others: &[Location]) -> Result<Self, StoreError> {
        let reader = store.open()?;
        let mut messages = reader.last_message()?.cast_unsigned();
        for other in others {
            // The page of a match reports errors of other agents' stores.
            let last = other.open().and_then(|reader| reader.last_message());
            messages = messages.saturating_add(last.unwrap_or(0).cast_unsigned());
        }
        // Another store may have been deleted, but versions only grow.
        let messages = messages.max(self.messages);
        let mut projection = Arc::clone(&self.projection);
        if projection.number != reader.league_number() {
            let base = projection.base.saturating_add(projection.seq);
            projection = Arc::new(Projection::of(reader.league_number(), base));
        }
        let entries = reader.entries_after(&reader.league(), projection.seq)?;
        if !entries.is_empty() {
            let projection = Arc::make_mut(&mut projection);
            for Entry { seq, at, event } in &entries {
                projection.apply(*seq, *at, event);
            }
        }
        Ok(Self {
            projection,
            messages,
        })
    }

    /// The snapshot of a store.
    pub fn of(store: &Location) -> Result<Self, StoreError> {
        Self::default().refresh(store, &[])
    }
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            projection: Arc::new(Projection::new()),
            messages: 0,
        }
    }
}

impl Projection {
    pub fn new() -> Self {
        Self::of(1, 0)
    }

    fn of(number: u32, base: u64) -> Self {
        Self {
            league: League::new(LeagueSettings::default()),
            number,
            base,
            created_at: None,
            started_at: None,
            completed_at: None,
            announced_at: BTreeMap::new(),
            assigned_at: BTreeMap::new(),
            lost: BTreeMap::new(),
            ranks_before: BTreeMap::new(),
            changed: [base; TOPICS.len()],
            seq: 0,
        }
    }

    /// How many events it was made from.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The version of results and players.
    pub fn results_mark(&self) -> u64 {
        self.changed
            .get(Topic::Standings as usize)
            .copied()
            .unwrap_or(0)
    }

    pub fn apply(&mut self, seq: u64, at: Timestamp, event: &LeagueEvent) {
        self.league.apply(at, event);
        self.seq = seq;
        match event {
            LeagueEvent::LeagueCreated { .. } => self.created_at = Some(at),
            LeagueEvent::LeagueStarted { .. } => self.started_at = Some(at),
            LeagueEvent::LeagueCompleted { .. } => self.completed_at = Some(at),
            LeagueEvent::RoundAnnounced { round_id, .. } => {
                self.announced_at.insert(round_id.0, at);
                if self.league.matches_decided > 0 {
                    let rows = self.league.rows();
                    self.ranks_before = rows
                        .iter()
                        .map(|row| (row.player_id.clone(), row.shown_rank()))
                        .collect();
                }
            }
            LeagueEvent::MatchAssigned { match_id, .. } => {
                self.assigned_at.insert(match_id.clone(), at);
            }
            LeagueEvent::AttemptLost {
                referee_id,
                culprit,
                cause,
                ..
            } => {
                let lost = self.lost.entry(referee_id.clone()).or_default();
                match culprit {
                    Culprit::Infrastructure => lost.handed_back += 1,
                    _ if *cause == LossCause::Refused => lost.refused += 1,
                    _ => lost.overdue += 1,
                }
            }
            LeagueEvent::MatchVoided { .. } => self.completed_at = None,
            _ => {}
        }
        for topic in topics_of(event) {
            if let Some(changed) = self.changed.get_mut(*topic as usize) {
                *changed = self.base.saturating_add(seq);
            }
        }
    }
}

/// The topics that an event changes.
fn topics_of(event: &LeagueEvent) -> &'static [Topic] {
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
        | LeagueEvent::PlayerCarriedOver { .. }
        | LeagueEvent::PlayerLeft { .. }
        | LeagueEvent::PlayerWithdrawn { .. } => &[Topic::League, Topic::Standings, Topic::Players],
        LeagueEvent::TokenShown { .. }
        | LeagueEvent::OperatorTokenRotated { .. }
        | LeagueEvent::ManagerKeyAnnounced { .. }
        | LeagueEvent::CheckpointSigned { .. }
        | LeagueEvent::JoinCodeIssued { .. } => &[],
        _ => &[
            Topic::League,
            Topic::Standings,
            Topic::Rounds,
            Topic::Players,
            Topic::Referees,
        ],
    }
}
