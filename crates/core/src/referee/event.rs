//! The events of a referee, and its assignments.

use crate::fair::{MatchDraw, Secret};
use crate::game::Seat;
use crate::metrics::Milestone;
use crate::protocol::decode::Conformance;
use crate::protocol::dialect::Dialect;
use crate::protocol::draw::Commitment;
use crate::protocol::messages::{Cause, MatchResult, Record, Timeouts};
use crate::protocol::time::exact;
use crate::protocol::token::{Direction, same_token};
use crate::protocol::{
    Attempt, ConversationId, Endpoint, ErrorCode, GameType, LeagueId, MatchId, PlayerId, RefereeId,
    RoundId, Timestamp, Token, UntrustedText,
};
use crate::referee_statement::AttemptRef;
use crate::registration::{Application, Identity};
use crate::signature::PublicKey;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The log holds the referee's token, match tokens and the secrets of undecided draws: it must be kept secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RefereeEvent {
    /// About to register.
    Applied(Application),
    /// Registered under this identity.
    #[serde(rename = "enrolled")]
    Registered {
        /// As the manager's answer gave it.
        identity: Identity<RefereeId>,
    },
    /// A match was assigned. It replaces an earlier, undecided attempt at the same match.
    Assigned {
        /// With all that a restart needs to run it from its beginning.
        assignment: Arc<Assignment>,
    },
    /// A match has its final result.
    Decided {
        /// An open match of this referee.
        match_id: MatchId,
        /// The attempt that was run.
        attempt: Attempt,
        /// What will be reported.
        result: Arc<MatchResult>,
    },
    /// The manager has recorded the result.
    Reported {
        /// A match that this referee decided.
        match_id: MatchId,
        /// The attempt that was run.
        attempt: Attempt,
    },
    /// The manager has rejected the result.
    ReportRefused {
        /// A match that this referee decided.
        match_id: MatchId,
        /// The attempt that was run.
        attempt: Attempt,
        /// As the manager gave it.
        code: ErrorCode,
        /// In the words of the manager.
        reason: UntrustedText,
    },
    /// The match was handed back to the manager.
    HandedBack {
        /// An open match of this referee.
        match_id: MatchId,
        /// The attempt that ended without a result.
        attempt: Attempt,
        /// For people, and for the manager.
        reason: UntrustedText,
    },
    /// The match was cancelled before it was decided.
    Abandoned {
        /// An open match of this referee.
        match_id: MatchId,
        /// The attempt that ended without a result.
        attempt: Attempt,
    },
    /// A player uses another dialect than its assignment says.
    DialectLearned {
        /// Where the player listens.
        endpoint: Endpoint,
        /// The dialect of the assignment.
        told: Dialect,
        /// The dialect that it understood.
        dialect: Dialect,
    },
    /// Every match of the round has its result.
    RoundClosed {
        /// Closed matches of this round and of earlier ones are dropped.
        round_id: RoundId,
    },
    /// The league is over.
    LeagueClosed,
}

impl RefereeEvent {
    pub(super) fn milestone(&self) -> Option<Milestone<'_>> {
        Some(match self {
            Self::Assigned { assignment } => Milestone::MatchAssigned {
                league_id: Some(&assignment.league_id),
                match_id: &assignment.match_id,
                attempt: assignment.attempt,
            },
            Self::Decided {
                match_id,
                attempt,
                result,
            } => Milestone::MatchDecided {
                match_id,
                attempt: *attempt,
                status: result.status?,
                winner: result.winner.as_ref(),
                by: None,
            },
            Self::ReportRefused { .. } => Milestone::ReportRefused,
            Self::HandedBack {
                match_id, attempt, ..
            }
            | Self::Abandoned { match_id, attempt } => Milestone::AttemptLost {
                match_id,
                attempt: *attempt,
            },
            _ => return None,
        })
    }
}

/// One attempt at a match, and all that is needed to run it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The league of the manager that assigned the match.
    pub league_id: LeagueId,
    /// The round of the match.
    pub round_id: RoundId,
    /// Named in every message about the match.
    pub match_id: MatchId,
    /// A game that this referee knows.
    pub game_type: GameType,
    /// Counted from 1 by the manager.
    pub attempt: Attempt,
    /// The conversation of all messages of this attempt.
    pub conversation_id: ConversationId,
    /// No invitation is sent before.
    #[serde(with = "exact")]
    pub starts_at: Timestamp,
    /// The secret of the commit-reveal draw. Drawn with the assignment, so that a restart cannot redraw it.
    pub secret: Secret,
    /// In the order A, B.
    pub players: [SeatedPlayer; 2],
    /// The manager's timeouts and retry policy, if it hands them over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
    /// The players that forfeit, and why; empty for a match that is played.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forfeits: Vec<(PlayerId, Cause)>,
    /// How strictly the league reads answers, if the manager says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conformance: Option<Conformance>,
}

/// A player of an assigned match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeatedPlayer {
    /// Assigned by the manager.
    pub player_id: PlayerId,
    /// Some managers send ids only; the referee then queries the endpoints.
    pub endpoint: Option<Endpoint>,
    /// The dialect of the first attempt to call it.
    pub dialect: Dialect,
    /// Its results so far, to be shown to it; absent if the manager sent none.
    pub record: Option<Record>,
    /// The token in every message to this player.
    pub shows: Token,
    /// The token expected in its answers; none under a manager without match tokens.
    pub expects: Option<Token>,
    /// The key that verifies its signed moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<PublicKey>,
}

impl Assignment {
    /// The player at this seat.
    pub fn player(&self, seat: Seat) -> &SeatedPlayer {
        seat.of(&self.players)
    }

    /// `None` if the player is not in this match.
    pub fn seat_of(&self, player: &PlayerId) -> Option<Seat> {
        Seat::BOTH
            .into_iter()
            .find(|seat| self.player(*seat).player_id == *player)
    }

    /// In the order A, B.
    pub fn player_ids(&self) -> [PlayerId; 2] {
        self.players
            .each_ref()
            .map(|player| player.player_id.clone())
    }

    /// Whether a token authenticates this player: its match token, or its own token, from which the match token is
    /// derived. `None` if the manager makes no match tokens.
    pub fn recognises(&self, seat: Seat, shown: &Token) -> Option<bool> {
        let expected = self.player(seat).expects.as_ref()?;
        let direction = Direction::PlayerToReferee;
        let made = || {
            shown
                .hash()
                .match_token(&self.league_id, &self.match_id, self.attempt, direction)
        };
        Some(same_token(shown, expected) || same_token(&made(), expected))
    }

    /// Whether a token is one that this player is shown or shows.
    pub(super) fn holds(&self, seat: Seat, token: &Token) -> bool {
        self.is_shown(seat, token) || self.recognises(seat, token) == Some(true)
    }

    /// Whether a token is the one that this player is shown.
    pub fn is_shown(&self, seat: Seat, token: &Token) -> bool {
        same_token(token, &self.player(seat).shows)
    }

    /// What the referee's signatures depend on.
    pub fn attempt_ref(&self) -> AttemptRef<'_> {
        let Self {
            league_id,
            match_id,
            attempt,
            ..
        } = self;
        AttemptRef {
            league_id,
            match_id,
            attempt: *attempt,
        }
    }

    /// What the draw's hashes depend on.
    pub fn draw(&self) -> MatchDraw<'_> {
        let Self {
            league_id,
            match_id,
            attempt,
            ..
        } = self;
        MatchDraw {
            league_id,
            match_id,
            attempt: *attempt,
        }
    }

    /// What the invitation shows of the secret.
    pub fn commitment(&self) -> Commitment {
        self.draw().commitment(&self.secret)
    }
}
