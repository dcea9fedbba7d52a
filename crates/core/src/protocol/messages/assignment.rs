//! A match handed to a referee directly, as some managers do instead of announcing a round to it.

use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::schema::conditions;
use crate::protocol::text::Endpoint;
use schemars::JsonSchema;
use serde::Serialize;

/// MATCH_ASSIGNMENT (or START_MATCH): a foreign manager gives this referee a match. We read it and never send it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = conditions::any_spelling)]
pub struct MatchAssignment {
    /// Else that of the registration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// Else by the match's id, else 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    pub match_id: MatchId,
    /// Else the referee's first game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<GameType>,
    #[serde(rename = "player_A_id")]
    pub player_a_id: PlayerId,
    #[serde(rename = "player_B_id")]
    pub player_b_id: PlayerId,
    /// Where it is missing, the referee asks the manager by GET_PLAYERS.
    #[serde(rename = "player_A_endpoint", skip_serializing_if = "Option::is_none")]
    pub player_a_endpoint: Option<Endpoint>,
    /// As for player A.
    #[serde(rename = "player_B_endpoint", skip_serializing_if = "Option::is_none")]
    pub player_b_endpoint: Option<Endpoint>,
}
