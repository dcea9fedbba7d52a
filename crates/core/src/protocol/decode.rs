//! The one way in: any JSON becomes a message, or a rejection that says what was wrong, where, and by which rule.

use super::envelope::Envelope;
use super::envelope::Sender;
use super::error::ErrorCode;
use super::ids::{ConversationId, LeagueId, MatchId, PlayerId};
use super::message::{Body, MessageType};
use super::time::Timestamp;
use smol_str::SmolStr;

/// How strictly content is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conformance {
    /// The message catalogue to the letter.
    #[default]
    Strict,
    /// What some source or a widely used agent omits is filled in, and the omission recorded.
    Lenient,
}

/// A message whose envelope is in order. Its body may not be: senders are checked before bodies are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    pub envelope: Envelope,
    pub message_type: MessageType,
    pub body: Result<Body, Rejection>,
    pub deviations: Vec<Deviation>,
}

/// Why a message, or a part of it, is not taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {path}: expected {expected}, got {came}")]
pub struct Rejection {
    pub code: ErrorCode,
    /// Where: `player_meta.display_name`, `matches[1].match_id`; empty for the message as a whole.
    pub path: String,
    /// What the rule asks for, in words that finish "expected ...".
    pub expected: String,
    /// What was there instead, shortened.
    pub came: String,
    /// What the message called itself, if it did.
    pub message_type: Option<SmolStr>,
    /// Its conversation, if it named one, so that the answer can stay in it.
    pub conversation_id: Option<ConversationId>,
}

/// A departure from the rules that the lenient reading let pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// What was done instead: `missing`, `alias`, `case`, `timestamp_form`, ...
    pub kind: DeviationKind,
    pub path: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviationKind {
    /// A required field was left out, and derived.
    Missing,
    /// A field came under another name or in another form.
    Alias,
    /// A timestamp was UTC, but oddly written.
    TimestampForm,
    /// The agent names itself otherwise than we do.
    OwnName,
}

/// How to read one message: the mode, the time, and what is already known about who sends it.
#[derive(Debug, Clone)]
pub struct Reading<'a> {
    pub conformance: Conformance,
    pub now: Timestamp,
    pub limits: Limits,
    /// The exchange that the message answers, if it came as an answer.
    pub exchange: Option<&'a Exchange>,
}

/// What we asked, where a message comes back as the answer: enough to fill in what a lenient reading may miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    pub peer: Sender,
    pub conversation_id: ConversationId,
    pub league_id: Option<LeagueId>,
    pub match_id: Option<MatchId>,
    pub player_id: Option<PlayerId>,
}

/// Bounds on what is read at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub message_bytes_max: usize,
    pub array_len_max: usize,
}

/// Stands in for the real one, which another branch brings: it knows START_LEAGUE alone.
pub fn decode(value: &serde_json::Value, reading: &Reading<'_>) -> Result<Incoming, Rejection> {
    let text = |field: &str| {
        value
            .get(field)
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default()
    };
    if text("message_type") != MessageType::StartLeague.name() {
        return Err(Rejection {
            code: ErrorCode::MissingField,
            path: "message_type".to_owned(),
            expected: "a message type".to_owned(),
            came: "nothing".to_owned(),
            message_type: None,
            conversation_id: None,
        });
    }
    let league_id = LeagueId::new(text("league_id"));
    Ok(Incoming {
        envelope: Envelope::new(
            Sender::Launcher,
            reading.now,
            ConversationId::new(text("conversation_id")),
        ),
        message_type: MessageType::StartLeague,
        body: Ok(super::messages::StartLeague { league_id }.into()),
        deviations: Vec::new(),
    })
}
