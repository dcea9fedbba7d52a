//! The generic pair by which a referee asks for a move in any game.

use crate::fair::Nonce;
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// GAME_MOVE_CALL: the referee asks a player for a move.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameMoveCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    pub match_id: MatchId,
    pub player_id: PlayerId,
    pub game_type: GameType,
    pub move_request: MoveRequest,
    pub deadline: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MoveRequest {
    /// What kind of move is wanted, `place_mark`.
    pub move_type: SmolStr,
    /// Every move that the rules allow now.
    pub valid_options: Vec<Value>,
    /// What this player may see of the game.
    pub context: Map<String, Value>,
}

/// GAME_MOVE_RESPONSE: the player's move.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameMoveResponse {
    pub match_id: MatchId,
    pub player_id: PlayerId,
    pub game_type: GameType,
    pub move_data: MoveData,
    /// The player's share in whatever is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MoveData {
    pub move_type: SmolStr,
    pub choice: Value,
}
