//! How the manager and the referees say that something is wrong.

use crate::protocol::decode::Rejection;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::time::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// LEAGUE_ERROR: a request was refused.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeagueError {
    pub error_code: ErrorCode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_name: Option<String>,
    /// The name once more: two sources call it so. A foreign manager may put prose here.
    pub error_description: String,
    /// For people: what was wrong, where, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_message_type: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
}

impl LeagueError {
    /// Refuses the message that called itself `original`, in the words of the catalogue and `message`.
    pub fn new(
        code: ErrorCode,
        message: impl Into<String>,
        original: Option<SmolStr>,
        context: Option<Map<String, Value>>,
    ) -> Self {
        Self {
            error_name: Some(code.name().to_owned()),
            error_description: code.name().to_owned(),
            error_message: Some(message.into()),
            // The field is required, so a message that did not say what it was is called something too.
            original_message_type: Some(original.unwrap_or(SmolStr::new_static("UNKNOWN"))),
            retryable: Some(code.retryable()),
            context,
            error_code: code,
        }
    }
}

impl From<&Rejection> for LeagueError {
    fn from(rejection: &Rejection) -> Self {
        let context =
            [("path", &rejection.path), ("expected", &rejection.expected), ("came", &rejection.came)]
                .map(|(key, text)| (key.to_owned(), Value::from(text.as_str())));
        Self::new(
            rejection.code.clone(),
            rejection.sentence(),
            rejection.message_type.clone(),
            Some(Map::from_iter(context)),
        )
    }
}

/// GAME_ERROR: something in a match needs the player's attention.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameError {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_id: Option<MatchId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affected_player: Option<PlayerId>,
    pub error_code: ErrorCode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_name: Option<String>,
    pub error_description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The message type that the player owes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_required: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<SmolStr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_info: Option<RetryInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_remaining: Option<Seconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RetryInfo {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_retry_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_remaining: Option<Seconds>,
}

/// A span of time as the protocol writes it, in decimal seconds; we keep and write tenths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub f64);

impl Seconds {
    pub fn of(span: std::time::Duration) -> Self {
        Self((span.as_secs_f64() * 10.0).floor() / 10.0)
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}
