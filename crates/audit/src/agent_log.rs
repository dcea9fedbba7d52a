//! An agent's log: the events of a referee or a player, one part for each league that it was registered in. Pure.

use crate::describe;
use matchday_core::event_codec::EventCodecError;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::{LeagueId, MatchId, Timestamp, Token};
use matchday_core::referee::RefereeEvent;
use matchday_core::registration::Identity;
use matchday_store::StoreUrl;
use matchday_store::batch::Stored;
use matchday_store::entry::Entry;
use matchday_store::stream::Stream;
use serde::Serialize;
use serde::de::DeserializeOwned;
use smol_str::{SmolStr, format_smolstr};
use std::fmt;

/// An event of a referee or a player.
pub trait AgentEvent: DeserializeOwned + Serialize {
    /// The identity that the agent registered under, if this event is its registration.
    fn identity(&self) -> Option<AgentIdentity>;

    fn concerns(&self, match_id: &MatchId) -> bool {
        self.matches().contains(&match_id)
    }

    /// The matches that it concerns.
    fn matches(&self) -> Vec<&MatchId>;

    /// In brief, to follow the agent's name: `decides R1M1: ...`.
    fn describe(&self) -> String;
}

/// An agent as a league has registered it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentIdentity {
    pub id: SmolStr,
    pub league_id: Option<LeagueId>,
    token: Option<Token>,
}

impl AgentIdentity {
    fn of<I: fmt::Display>(identity: &Identity<I>) -> Self {
        Self {
            id: format_smolstr!("{}", identity.id),
            league_id: identity.league_id.clone(),
            token: identity.auth_token.clone(),
        }
    }

    pub(super) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// Under another name or with another token this is another league, or the same begun anew.
    fn is_another(&self, other: &Self) -> bool {
        self.id != other.id || self.token != other.token
    }
}

/// One agent in one league.
#[derive(Debug, Clone)]
pub struct AgentLog<E> {
    /// `None` if its events were not read from one, or need not be told apart.
    pub store: Option<StoreUrl>,
    pub stream: Stream,
    /// `None` if it never registered.
    pub identity: Option<AgentIdentity>,
    pub entries: Vec<Entry<E>>,
    /// When it registered, and when it registered in another league.
    from: Timestamp,
    until: Timestamp,
}

const ALWAYS: Timestamp = Timestamp::from_micros(i64::MIN);
const NEVER: Timestamp = Timestamp::from_micros(i64::MAX);

impl<E: AgentEvent> AgentLog<E> {
    /// An agent's events, cut where it went from one league to the next. There is at least one part.
    pub fn decode(
        store: Option<&StoreUrl>,
        stream: &Stream,
        events: &[Stored],
    ) -> Result<Vec<Self>, EventCodecError> {
        let begin = |identity, from| Self {
            store: store.cloned(),
            stream: stream.clone(),
            identity,
            entries: Vec::new(),
            from,
            until: NEVER,
        };
        let mut done = Vec::new();
        let mut open = begin(None, ALWAYS);
        for entry in Entry::<E>::decode_all(events)? {
            if let Some(identity) = entry.event.identity() {
                if open
                    .identity
                    .as_ref()
                    .is_some_and(|before| before.is_another(&identity))
                {
                    open.until = entry.at;
                    done.push(std::mem::replace(&mut open, begin(None, entry.at)));
                }
                open.identity = Some(identity);
            }
            open.entries.push(entry);
        }
        done.push(open);
        Ok(done)
    }

    /// The agent's id, or its stream if it never registered.
    pub fn id(&self) -> &str {
        self.identity
            .as_ref()
            .map_or(self.stream.0.as_str(), |identity| identity.id.as_str())
    }

    pub fn of_match<'a>(&'a self, match_id: &'a MatchId) -> impl Iterator<Item = &'a Entry<E>> {
        self.entries
            .iter()
            .filter(move |entry| entry.event.concerns(match_id))
    }

    /// Whether it was in this league at that time.
    pub(super) fn covers(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }
}

impl AgentEvent for RefereeEvent {
    fn identity(&self) -> Option<AgentIdentity> {
        match self {
            Self::Registered { identity } => Some(AgentIdentity::of(identity)),
            _ => None,
        }
    }

    fn matches(&self) -> Vec<&MatchId> {
        match self {
            Self::Assigned { assignment } => vec![&assignment.match_id],
            Self::Decided { match_id, .. }
            | Self::Reported { match_id, .. }
            | Self::ReportRefused { match_id, .. }
            | Self::HandedBack { match_id, .. }
            | Self::Abandoned { match_id, .. } => vec![match_id],
            Self::Applied { .. }
            | Self::Registered { .. }
            | Self::DialectLearned { .. }
            | Self::RoundClosed { .. }
            | Self::LeagueClosed => Vec::new(),
        }
    }

    fn describe(&self) -> String {
        describe::referee_event(self)
    }
}

impl AgentEvent for PlayerEvent {
    fn identity(&self) -> Option<AgentIdentity> {
        match self {
            Self::Registered { identity } => Some(AgentIdentity::of(identity)),
            _ => None,
        }
    }

    fn matches(&self) -> Vec<&MatchId> {
        match self {
            Self::Announced { matches, .. } => {
                matches.iter().map(|fixture| &fixture.match_id).collect()
            }
            Self::Invited { match_id, .. }
            | Self::Chosen { match_id, .. }
            | Self::NotSigned { match_id, .. } => vec![match_id],
            Self::Finished { game, .. } => vec![&game.match_id],
            Self::Applied { .. }
            | Self::Registered { .. }
            | Self::CheckpointReceived { .. }
            | Self::RoundClosed { .. }
            | Self::LeagueClosed => Vec::new(),
        }
    }

    fn describe(&self) -> String {
        describe::player_event(self)
    }
}
