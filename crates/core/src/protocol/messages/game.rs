//! GAME_INVITATION, GAME_JOIN_ACK and GAME_OVER: the messages of every match, whatever the game.

#[cfg(feature = "schema")]
use super::conditions;
use super::parity::ParityDetails;
use super::result::MatchResult;
use crate::protocol::draw::{Commitment, Reveal};
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::nonce::NonceCommitment;
#[cfg(feature = "schema")]
use crate::protocol::schema_words::Word;
use crate::protocol::time::Timestamp;
use crate::protocol::untrusted::UntrustedText;
use crate::signature::Signature;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// GAME_INVITATION: a referee calls a player to a match. The answer is GAME_JOIN_ACK within 5 s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameInvitation {
    /// The league that the match counts for.
    pub league_id: LeagueId,
    /// The round that the match belongs to.
    pub round_id: RoundId,
    /// Repeat it in every answer about this match.
    pub match_id: MatchId,
    /// The game to play, which decides which calls for moves will come.
    pub game_type: GameType,
    /// The seat of the invited player.
    pub role_in_match: Role,
    /// The player in the other seat.
    pub opponent_id: PlayerId,
    /// Whom the invitation is for; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The referee's promise of what it will draw from: keep it, to check the draw in GAME_OVER.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw_commitment: Option<Commitment>,
    /// The referee's signature over `draw_commitment`, if it has registered a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commitment_signature: Option<Signature>,
    /// How the referee will draw: `matchday-draw-2`. Missing, or another: players prove nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Word>"))]
    pub draw_scheme: Option<SmolStr>,
}

/// A player's seat. In games of turns, A begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Role {
    /// The player announced as `player_A_id`.
    #[serde(rename = "PLAYER_A")]
    PlayerA,
    /// The player announced as `player_B_id`.
    #[serde(rename = "PLAYER_B")]
    PlayerB,
}

/// GAME_JOIN_ACK: a player has arrived, or declines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameJoinAck {
    /// The match of the invitation that this answers.
    pub match_id: MatchId,
    /// The player that answers, by the id that the manager assigned.
    pub player_id: PlayerId,
    /// When the player was there.
    pub arrival_timestamp: Timestamp,
    /// False forfeits the match.
    pub accept: bool,
    /// The hash of the nonce that the player will reveal with its move. Required of players that sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce_commitment: Option<NonceCommitment>,
}

/// GAME_OVER: how the match ended, and why. The same to both players.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = conditions::details_in_result))]
pub struct GameOver {
    /// The league that the match counts for; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round that the match belongs to; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match that has ended.
    pub match_id: MatchId,
    /// The game that was played: it decides which details `game_result` has.
    pub game_type: GameType,
    /// The outcome, with the game's own details and the proof of the draw.
    pub game_result: GameResult,
    /// The reason once more, where another source looks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub reason: Option<UntrustedText>,
    /// The referee's signature over `game_result`, if it has registered a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// How a match ended. Beside the fields that are named here stand those of the game itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameResult {
    /// Whether the match was won, drawn or forfeited.
    pub status: GameStatus,
    /// Null for a draw, and when both players forfeited.
    pub winner_player_id: Option<PlayerId>,
    /// The fields of the game itself, beside the others.
    #[serde(flatten)]
    pub details: GameDetails,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reason: Option<UntrustedText>,
    /// All that is needed to recompute the draw; only there if something was drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Reveal>,
}

impl GameResult {
    /// As GAME_OVER tells players what the report tells the manager.
    pub fn of(result: &MatchResult) -> Self {
        Self {
            status: result.status.unwrap_or(GameStatus::TechnicalLoss),
            winner_player_id: result.winner.clone(),
            details: result.details.game.clone(),
            reason: result.reason.clone(),
            fairness: result.details.fairness.clone(),
        }
    }
}

/// How a match ended: TECHNICAL_LOSS if at least one player forfeited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GameStatus {
    /// Played out, with a winner.
    Win,
    /// Played out, without a winner.
    Draw,
    /// Not played out: one player or both forfeited.
    TechnicalLoss,
}

impl GameStatus {
    /// The points of one side. `has_won`: whether the winner is this side, if there is one.
    pub fn points(self, has_won: Option<bool>) -> u32 {
        match (self, has_won) {
            (_, Some(true)) => 3,
            (Self::Draw, None) => 1,
            _ => 0,
        }
    }
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

/// Of what kind the details are, the message's `game_type` says: `schema::conditions` adds those of even/odd.
#[cfg(feature = "schema")]
impl JsonSchema for GameDetails {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GameDetails".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}
