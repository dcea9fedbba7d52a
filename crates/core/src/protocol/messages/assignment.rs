//! A match handed to a referee directly, as some managers do instead of announcing a round to it.

use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::text::Endpoint;
use serde::Serialize;

/// MATCH_ASSIGNMENT (or START_MATCH): a foreign manager gives this referee a match. We read it and never send it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchAssignment {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    pub match_id: MatchId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<GameType>,
    #[serde(rename = "player_A_id")]
    pub player_a_id: PlayerId,
    #[serde(rename = "player_B_id")]
    pub player_b_id: PlayerId,
    #[serde(rename = "player_A_endpoint", skip_serializing_if = "Option::is_none")]
    pub player_a_endpoint: Option<Endpoint>,
    #[serde(rename = "player_B_endpoint", skip_serializing_if = "Option::is_none")]
    pub player_b_endpoint: Option<Endpoint>,
}
