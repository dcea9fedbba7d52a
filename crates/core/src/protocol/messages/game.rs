//! The frame of every match, whatever is played: invitation, arrival, end.

use super::by_player::ByPlayer;
use super::parity::Parity;
use crate::fair::{Commitment, Reveal};
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// GAME_INVITATION: a referee calls a player to a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GameInvitation {
    pub league_id: LeagueId,
    pub round_id: RoundId,
    pub match_id: MatchId,
    pub game_type: GameType,
    pub role_in_match: Role,
    pub opponent_id: PlayerId,
    /// Whom the invitation is for; the sources leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The referee's promise of what it will draw from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw_commitment: Option<Commitment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    #[serde(rename = "PLAYER_A")]
    PlayerA,
    #[serde(rename = "PLAYER_B")]
    PlayerB,
}

/// GAME_JOIN_ACK: a player has arrived, or declines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GameJoinAck {
    pub match_id: MatchId,
    pub player_id: PlayerId,
    pub arrival_timestamp: Timestamp,
    pub accept: bool,
}

/// GAME_OVER: how the match ended, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameOver {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    pub match_id: MatchId,
    pub game_type: GameType,
    pub game_result: GameResult,
    /// The reason once more, where another source looks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameResult {
    pub status: GameStatus,
    /// Null for a draw, and when both players forfeited.
    pub winner_player_id: Option<PlayerId>,
    #[serde(flatten)]
    pub details: GameDetails,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// All that is needed to recompute the draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Reveal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GameStatus {
    Win,
    Draw,
    TechnicalLoss,
}

/// What there is to tell of a match beyond who won.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GameDetails {
    /// Even/odd, whose details the protocol itself defines.
    Parity(ParityDetails),
    /// Any other game, in its own words.
    Other(Map<String, Value>),
}

/// Null where the game did not get so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParityDetails {
    pub drawn_number: Option<u8>,
    #[serde(default)]
    pub number_parity: Option<Parity>,
    pub choices: ByPlayer<Option<Parity>>,
}
