//! How referees and players enter a league. The token an agent is given travels in the envelope's `auth_token`.

use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{GameType, LeagueId, PlayerId, RefereeId};
use crate::protocol::text::{DisplayName, Endpoint, Version};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// REFEREE_REGISTER_REQUEST: a referee offers its services.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefereeRegisterRequest {
    pub referee_meta: RefereeMeta,
}

/// What a referee says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefereeMeta {
    pub display_name: DisplayName,
    pub version: Version,
    pub game_types: Vec<GameType>,
    pub contact_endpoint: Endpoint,
    pub max_concurrent_matches: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<SmolStr>,
    /// Extensions that this referee speaks, such as [`MATCH_TOKENS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<SmolStr>,
}

/// The capability of a referee that shows players a token made for one match instead of its own.
pub const MATCH_TOKENS: &str = "match_tokens";

/// LEAGUE_REGISTER_REQUEST: a player asks to take part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeagueRegisterRequest {
    pub player_meta: PlayerMeta,
}

/// What a player says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerMeta {
    pub display_name: DisplayName,
    pub version: Version,
    pub game_types: Vec<GameType>,
    pub contact_endpoint: Endpoint,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<SmolStr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RegisterStatus {
    Accepted,
    Rejected,
}

/// REFEREE_REGISTER_RESPONSE: the manager takes a referee on, or says why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefereeRegisterResponse {
    pub referee_id: Option<RefereeId>,
    #[serde(flatten)]
    pub answer: RegisterAnswer,
}

/// LEAGUE_REGISTER_RESPONSE: the manager takes a player on, or says why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeagueRegisterResponse {
    pub player_id: Option<PlayerId>,
    #[serde(flatten)]
    pub answer: RegisterAnswer,
}

/// What both registration responses share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterAnswer {
    pub status: RegisterStatus,
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// Whether this manager derives a token for each match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_tokens: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_name: Option<String>,
    /// What would help to mend a rejected registration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
}
