//! The error messages: LEAGUE_ERROR and GAME_ERROR.

use crate::protocol::decode::Rejection;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{LeagueId, MatchId, PlayerId, RoundId};
#[cfg(feature = "schema")]
use crate::protocol::schema_words::Word;
use crate::protocol::time::Timestamp;
use crate::protocol::untrusted::UntrustedText;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// LEAGUE_ERROR: a request was refused. It stands in place of the answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeagueError {
    /// What programs decide by; the other fields explain it.
    pub error_code: ErrorCode,
    /// The name of the error in capitals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_name: Option<UntrustedText>,
    /// The name of the error once more: two sources call it so. A foreign manager may put prose here.
    pub error_description: UntrustedText,
    /// For people: what was wrong, where, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<UntrustedText>,
    /// What was refused; `UNKNOWN` for a message that did not say what it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Word"))]
    pub original_message_type: Option<UntrustedText>,
    /// Whether the same message may fare better later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// For programs; ours has `path`, `expected` and `came` where a field is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
}

impl LeagueError {
    /// The code as its sender means it: agents of other makes number their errors otherwise, so it has our name only if that
    /// came with it.
    pub fn own_code(&self) -> ErrorCode {
        let named = [self.error_name.as_ref(), Some(&self.error_description)];
        let is_ours = named
            .into_iter()
            .flatten()
            .any(|name| name.raw() == self.error_code.name());
        if is_ours {
            self.error_code.clone()
        } else {
            ErrorCode::Foreign(self.error_code.code().into())
        }
    }

    /// The error in its sender's words: code, name if it has one, and text.
    pub fn own_words(&self) -> String {
        let code = self.own_code();
        let text = self
            .error_message
            .as_ref()
            .unwrap_or(&self.error_description);
        if text.raw() == code.code() {
            code.to_string()
        } else {
            format!("{code}: {}", text.escaped())
        }
    }
}

impl LeagueError {
    /// Refuses the message that called itself `original`, in the words of the catalogue and `message`.
    pub fn new(
        code: ErrorCode,
        message: impl Into<UntrustedText>,
        original: Option<UntrustedText>,
        context: Option<Map<String, Value>>,
    ) -> Self {
        Self {
            error_name: Some(code.name().into()),
            error_description: code.name().into(),
            error_message: Some(message.into()),
            // The field is required, so a message that did not say what it was is called something too.
            original_message_type: Some(original.unwrap_or(UntrustedText::new_static("UNKNOWN"))),
            retryable: Some(code.retryable()),
            context,
            error_code: code,
        }
    }
}

impl From<&Rejection> for LeagueError {
    fn from(rejection: &Rejection) -> Self {
        let context = [
            ("path", &rejection.path),
            ("expected", &rejection.expected),
            ("came", &rejection.came),
        ]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameError {
    /// The league that the match belongs to; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round that the match belongs to; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match in which the error occurred.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "MatchId"))]
    pub match_id: Option<MatchId>,
    /// The same as `affected_player`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// Whom it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "PlayerId"))]
    pub affected_player: Option<PlayerId>,
    /// What programs decide by: `E001` or `E009` if no answer came, else what was wrong with the answer.
    pub error_code: ErrorCode,
    /// The name of the error in capitals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_name: Option<UntrustedText>,
    /// The name of the error once more.
    pub error_description: UntrustedText,
    /// For people: what was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<UntrustedText>,
    /// The message type that the player owes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Word"))]
    pub action_required: Option<SmolStr>,
    /// `WAITING_FOR_PLAYERS` or `COLLECTING_CHOICES`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Word>"))]
    pub game_state: Option<SmolStr>,
    /// Whether the player will be asked again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// How many retries are left, and until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_info: Option<RetryInfo>,
    /// As in `retry_info`, where another source looks for it; so are the two that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u32>,
    /// The most retries that the player gets for this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// What is left of the window, if the answer was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_remaining: Option<Seconds>,
    /// For programs: of a wrong choice `invalid_choice` and `valid_choices`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
    /// What happens if nothing right comes in time, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub consequence: Option<UntrustedText>,
}

/// What is left to a player whose answer did not come or was wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetryInfo {
    /// How many tries have failed so far; at most `max_retries`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u32>,
    /// The most retries that the player gets for this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// When the question comes again, if nothing came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_retry_at: Option<Timestamp>,
    /// What is left of the window, if the answer was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_remaining: Option<Seconds>,
}

/// A span of time as the protocol writes it, in decimal seconds; we keep and write tenths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub f64);

impl Seconds {
    /// Rounded down to tenths, so that a receiver never counts on time that is not left.
    pub fn of(span: std::time::Duration) -> Self {
        Self((span.as_secs_f64() * 10.0).floor() / 10.0)
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Seconds {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number",
            "description": "A span of time in decimal seconds. We write tenths.",
        })
    }
}
