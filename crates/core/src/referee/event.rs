//! What a referee must not forget, and what it is assigned. Values only.

use crate::census::Milestone;
use crate::enrol::{Application, Identity};
use crate::fair::{Commitment, MatchDraw, Scheme, Secret};
use crate::game::Seat;
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{Cause, MatchResult, Record, Timeouts};
use crate::protocol::time::exact;
use crate::protocol::token::{Direction, same_token};
use crate::protocol::{
    Attempt, ConversationId, Endpoint, ErrorCode, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId,
    Timestamp, Token, UntrustedText,
};
use crate::signature::PublicKey;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::sync::Arc;

/// The referee's log holds its own token, match tokens and the secrets of undecided draws: keep it as keys are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RefereeEvent {
    /// This referee is about to ask the manager to take it on.
    Applied(Application),
    /// The manager has taken this referee on, under this name.
    Enrolled { identity: Identity<RefereeId> },
    /// A match is this referee's to run. It replaces an earlier, undecided attempt at the same match.
    Assigned { assignment: Arc<Assignment> },
    /// A match has its result. Nothing changes it from here on.
    Decided { match_id: MatchId, attempt: Attempt, result: Arc<MatchResult> },
    /// The manager has recorded the result.
    Reported { match_id: MatchId, attempt: Attempt },
    /// The manager will not have the result.
    ReportRefused { match_id: MatchId, attempt: Attempt, code: ErrorCode, reason: UntrustedText },
    /// The match cannot be played from here, and is the manager's to give to another.
    HandedBack { match_id: MatchId, attempt: Attempt, reason: UntrustedText },
    /// The match was taken away before it was decided.
    Abandoned { match_id: MatchId, attempt: Attempt },
    /// A player understands another dialect than its match was assigned with.
    DialectLearned { endpoint: Endpoint, told: Dialect, dialect: Dialect },
    /// Every match of the round has its result.
    RoundClosed { round_id: RoundId },
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
            Self::Decided { match_id, attempt, result } => Milestone::MatchDecided {
                match_id,
                attempt: *attempt,
                status: result.status?,
                winner: result.winner.as_ref(),
                by: None,
            },
            Self::ReportRefused { .. } => Milestone::ReportRefused,
            Self::HandedBack { match_id, attempt, .. } | Self::Abandoned { match_id, attempt } => {
                Milestone::AttemptLost { match_id, attempt: *attempt }
            }
            _ => return None,
        })
    }
}

/// One attempt at a match, and all that is needed to run it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    pub league_id: LeagueId,
    pub round_id: RoundId,
    pub match_id: MatchId,
    pub game_type: GameType,
    pub attempt: Attempt,
    pub conversation_id: ConversationId,
    /// No invitation goes out before.
    #[serde(with = "exact")]
    pub starts_at: Timestamp,
    /// What chance in this attempt comes from. It is drawn with the assignment, so that starting over cannot redraw it.
    pub secret: Secret,
    /// How it is drawn. Assignments of old logs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw_scheme: Option<SmolStr>,
    /// In the order A, B.
    pub players: [Seated; 2],
    /// The manager's windows and retry policy; none from a manager that hands none over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
    /// Who loses it without play, and why; empty for a match that is to be played.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forfeits: Vec<(PlayerId, Cause)>,
}

/// A player of a match, as the referee knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seated {
    pub player_id: PlayerId,
    /// Some managers name the players alone: the referee then asks where they are.
    pub endpoint: Option<Endpoint>,
    pub dialect: Dialect,
    pub record: Option<Record>,
    /// The token that this player is shown in every message of the match.
    pub shows: Token,
    /// The token that a player of ours shows in its answers; none under a manager that makes none.
    pub expects: Option<Token>,
    /// The key by which its moves are checked, if it signs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<PublicKey>,
}

impl Assignment {
    pub fn player(&self, seat: Seat) -> &Seated {
        seat.of(&self.players)
    }

    pub fn seat_of(&self, player: &PlayerId) -> Option<Seat> {
        Seat::BOTH.into_iter().find(|seat| self.player(*seat).player_id == *player)
    }

    pub fn player_ids(&self) -> [PlayerId; 2] {
        self.players.each_ref().map(|player| player.player_id.clone())
    }

    /// Whether a token proves that an answer is this player's: the one made for it in this match, or its own, from which
    /// that was made. A referee does not know the latter, and yet can tell it from any other. `None` where the manager
    /// makes no tokens.
    pub fn recognises(&self, seat: Seat, shown: &Token) -> Option<bool> {
        let expected = self.player(seat).expects.as_ref()?;
        let direction = Direction::PlayerToReferee;
        let made = || shown.hash().match_token(&self.league_id, &self.match_id, self.attempt, direction);
        Some(same_token(shown, expected) || same_token(&made(), expected))
    }

    /// Whether a token is the one that this player is shown in this match.
    pub fn is_shown(&self, seat: Seat, token: &Token) -> bool {
        same_token(token, &self.player(seat).shows)
    }

    pub fn draw(&self) -> MatchDraw<'_> {
        let scheme = self.draw_scheme.as_deref().and_then(Scheme::parse).unwrap_or(Scheme::Draw1);
        let Self { league_id, match_id, attempt, .. } = self;
        MatchDraw { scheme, league_id, match_id, attempt: *attempt }
    }

    pub fn commitment(&self) -> Commitment {
        self.draw().commitment(&self.secret)
    }
}
