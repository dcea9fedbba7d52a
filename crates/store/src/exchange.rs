//! A message and its answer as they are recorded for replay and export. Values only.

use matchday_core::protocol::{ConversationId, MatchId, Timestamp, UntrustedText};
use serde::Serialize;
use smol_str::SmolStr;

/// A message and what came back, redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    #[serde(with = "matchday_core::protocol::time::exact")]
    pub at: Timestamp,
    /// When the connection was established. Known to the caller only, as are the next two.
    #[serde(serialize_with = "micros")]
    pub connected_at: Option<Timestamp>,
    /// When the first byte of the answer arrived.
    #[serde(serialize_with = "micros")]
    pub first_byte_at: Option<Timestamp>,
    #[serde(serialize_with = "micros")]
    pub deadline_at: Option<Timestamp>,
    /// When the last byte of the answer arrived, or the call was given up.
    #[serde(serialize_with = "micros")]
    pub done_at: Option<Timestamp>,
    /// The agent that recorded it: `league_manager`, `REF01`, `P01`.
    pub agent: SmolStr,
    pub direction: Direction,
    /// The other side's endpoint, as far as it is known.
    pub peer: UntrustedText,
    pub message_type: UntrustedText,
    pub conversation_id: ConversationId,
    pub match_id: Option<MatchId>,
    pub request: String,
    pub answer: Option<String>,
    /// How it ended, in words: `answered`, `no answer in time`.
    pub outcome: UntrustedText,
    /// `E001`: the error code, if there was one.
    pub error_code: Option<SmolStr>,
}

impl Exchange {
    /// How many bytes of request and answer are kept of it.
    pub fn bytes(&self) -> u64 {
        (self.request.len() + self.answer.as_ref().map_or(0, String::len)) as u64
    }
}

fn micros<S: serde::Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::as_micros).serialize(serializer)
}

/// Whether the agent that recorded an exchange received the request or sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    In,
    Out,
}

impl Direction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }

    pub(super) fn named(name: &str) -> Self {
        if name == Self::In.name() {
            Self::In
        } else {
            Self::Out
        }
    }
}
