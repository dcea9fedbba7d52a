//! An agent's own events, read back: what a referee or a player did, from the day it was taken on. Pure.

use super::{Stored, Stream};
use matchday_core::enrol::Identity;
use matchday_core::log::{self, LogError};
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::{LeagueId, MatchId, Timestamp, Token};
use matchday_core::referee::RefereeEvent;
use serde::Serialize;
use serde::de::DeserializeOwned;
use smol_str::{SmolStr, format_smolstr};
use std::fmt;
use std::path::{Path, PathBuf};

/// What an agent writes down for itself.
pub trait Own: DeserializeOwned + Serialize {
    /// Who it is from here on, if this event says so.
    fn enrolled(&self) -> Option<Name>;

    fn concerns(&self, match_id: &MatchId) -> bool {
        self.matches().contains(&match_id)
    }

    /// The matches that this is about.
    fn matches(&self) -> Vec<&MatchId>;

    /// In words that follow the agent's name: `decides R1M1: ...`.
    fn words(&self) -> String;
}

/// Who an agent is in a league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub id: SmolStr,
    pub league_id: Option<LeagueId>,
    token: Option<Token>,
}

impl Name {
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
pub struct Diary<E> {
    pub file: PathBuf,
    pub stream: Stream,
    /// `None` if it was never taken on.
    pub name: Option<Name>,
    pub entries: Vec<Note<E>>,
    /// When it was taken on, and when it left for another league.
    from: Timestamp,
    until: Timestamp,
}

#[derive(Debug, Clone)]
pub struct Note<E> {
    pub seq: u64,
    pub at: Timestamp,
    pub event: E,
}

const ALWAYS: Timestamp = Timestamp::from_micros(i64::MIN);
const NEVER: Timestamp = Timestamp::from_micros(i64::MAX);

impl<E: Own> Diary<E> {
    /// An agent's events, cut where it went from one league to the next. There is at least one part.
    pub fn read(file: &Path, stream: &Stream, events: &[Stored]) -> Result<Vec<Self>, LogError> {
        let begin = |name, from| Self {
            file: file.to_owned(),
            stream: stream.clone(),
            name,
            entries: Vec::new(),
            from,
            until: NEVER,
        };
        let mut done = Vec::new();
        let mut open = begin(None, ALWAYS);
        for stored in events {
            let (at, event) = log::read::<E>(&stored.line)?;
            if let Some(name) = event.enrolled() {
                if open.name.as_ref().is_some_and(|before| before.is_another(&name)) {
                    open.until = at;
                    done.push(std::mem::replace(&mut open, begin(None, at)));
                }
                open.name = Some(name);
            }
            open.entries.push(Note { seq: stored.seq, at, event });
        }
        done.push(open);
        Ok(done)
    }

    /// How the agent is called, as well as is known.
    pub fn id(&self) -> &str {
        self.name.as_ref().map_or(self.stream.0.as_str(), |name| name.id.as_str())
    }

    pub fn of_match<'a>(&'a self, match_id: &'a MatchId) -> impl Iterator<Item = &'a Note<E>> {
        self.entries.iter().filter(move |note| note.event.concerns(match_id))
    }

    /// Whether it was in this league at that time.
    pub(super) fn covers(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }
}

impl Own for RefereeEvent {
    fn enrolled(&self) -> Option<Name> {
        match self {
            Self::Enrolled { identity } => Some(Name::of(identity)),
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
            | Self::Enrolled { .. }
            | Self::DialectLearned { .. }
            | Self::RoundClosed { .. }
            | Self::LeagueClosed => Vec::new(),
        }
    }

    fn words(&self) -> String {
        super::own_words::of_referee(self)
    }
}

impl Own for PlayerEvent {
    fn enrolled(&self) -> Option<Name> {
        match self {
            Self::Enrolled { identity } => Some(Name::of(identity)),
            _ => None,
        }
    }

    fn matches(&self) -> Vec<&MatchId> {
        match self {
            Self::Announced { matches, .. } => matches.iter().map(|fixture| &fixture.match_id).collect(),
            Self::Invited { match_id, .. } | Self::Chosen { match_id, .. } => vec![match_id],
            Self::Finished { game } => vec![&game.match_id],
            Self::Applied { .. } | Self::Enrolled { .. } | Self::RoundClosed { .. } | Self::LeagueClosed => {
                Vec::new()
            }
        }
    }

    fn words(&self) -> String {
        super::own_words::of_player(self)
    }
}
