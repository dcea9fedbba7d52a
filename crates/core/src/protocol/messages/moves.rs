//! The generic pair by which a referee asks for a move in any game.

#[cfg(feature = "schema")]
use super::conditions;
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::nonce::{Nonce, NonceCommitment};
#[cfg(feature = "schema")]
use crate::protocol::schema_words::{NotNull, Word};
use crate::protocol::time::Timestamp;
use crate::signature::Signature;
use serde::Serialize;
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// GAME_MOVE_CALL: the referee asks a player for a move. The answer is GAME_MOVE_RESPONSE before the deadline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameMoveCall {
    /// The league that the match counts for; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round that the match belongs to; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match to move in: repeat it in the answer.
    pub match_id: MatchId,
    /// Who is asked.
    pub player_id: PlayerId,
    /// The game that is played: repeat it in the answer.
    pub game_type: GameType,
    /// What is asked, with the moves to choose from.
    pub move_request: MoveRequest,
    /// When this try ends.
    pub deadline: Timestamp,
    /// The number of the turn, from 1. A player that signs makes one move in a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// What the opponent has bound itself to: it goes into the player's signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opponent_nonce_commitment: Option<NonceCommitment>,
}

/// What is asked of the player.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoveRequest {
    /// What kind of move is wanted, `place_mark`.
    #[cfg_attr(feature = "schema", schemars(with = "Word"))]
    pub move_type: SmolStr,
    /// Every move that the rules allow now: answer with one of them.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<NotNull>"))]
    pub valid_options: Vec<Value>,
    /// What this player may see of the game.
    pub context: Map<String, Value>,
}

/// GAME_MOVE_RESPONSE: the player's move.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameMoveResponse {
    /// The match of the call that this answers.
    pub match_id: MatchId,
    /// The player that moves, by the id that the manager assigned.
    pub player_id: PlayerId,
    /// As in the call.
    pub game_type: GameType,
    /// The move itself.
    pub move_data: MoveData,
    /// The player's share in whatever is drawn: any text that nobody can guess.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
    /// The player's signature over this move and all of its moves before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// A move.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = conditions::parity_as_move))]
pub struct MoveData {
    /// As asked.
    #[cfg_attr(feature = "schema", schemars(with = "Word"))]
    pub move_type: SmolStr,
    /// One of `valid_options`.
    #[cfg_attr(feature = "schema", schemars(with = "NotNull"))]
    pub choice: Value,
}
