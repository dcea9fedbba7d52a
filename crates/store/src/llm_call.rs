//! One call of a language model: what was said, what came back and what it was. It is stored, and read back to play without a
//! server, or to be shown. Values only.

use crate::exchange::{Direction, Exchange};
use matchday_core::protocol::{ConversationId, MatchId, Timestamp, UntrustedText};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::fmt;
use std::time::Duration;

/// The type under which a call stands among the exchanges of a player.
pub const MODEL_CALL: &str = "model_call";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmCall {
    /// What the model was told since the call before; nothing if the same was asked again.
    pub prompt: Vec<Message>,
    /// From the beginning of the turn to that of the call.
    #[serde(skip)]
    pub began_after: Duration,
    pub latency_ms: u64,
    /// Of HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The exact name of the model, as the server states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost_micros: u64,
    /// `None`: a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub content: String,
}

/// Who said something to a model, or as the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System,
    User,
    Assistant,
}

/// Why there is no move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// In words for people.
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A move that the rules do not allow.
    Illegal,
    /// An answer without a move.
    Unreadable,
    /// No answer before the deadline.
    Late,
    /// The model's server says that the model declines.
    Refused,
    /// The server failed, not the model.
    Server,
    /// Nobody was asked: the budget is used up, or the run was stopped.
    NotAsked,
}

/// Where in a league a call was made.
#[derive(Debug, Clone)]
pub struct CallPlace {
    pub player: SmolStr,
    pub match_id: MatchId,
    pub conversation_id: ConversationId,
    /// Unknown if the referee does not number turns.
    pub turn: Option<u32>,
    /// When the player was asked for its move.
    pub asked_at: Timestamp,
}

/// What stands in the request of an exchange.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CallRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    prompt: Vec<Message>,
}

impl LlmCall {
    /// Whether address, key or name of the model are wrong: more calls will not help.
    pub fn is_misconfigured(&self) -> bool {
        matches!(self.status, Some(300..=399 | 401..=404))
    }

    /// As its player stores it.
    pub fn into_exchange(mut self, place: &CallPlace) -> Exchange {
        let at = place.asked_at + self.began_after;
        let asked = CallRequest {
            turn: place.turn,
            prompt: std::mem::take(&mut self.prompt),
        };
        let outcome = match (&self.error, self.reply.is_some()) {
            (Some(why), false) => why.as_str(),
            _ => "answered",
        };
        Exchange {
            at,
            connected_at: None,
            first_byte_at: None,
            deadline_at: None,
            done_at: Some(at + Duration::from_millis(self.latency_ms)),
            agent: place.player.clone(),
            direction: Direction::Out,
            peer: UntrustedText::new_static("its model"),
            message_type: UntrustedText::new_static(MODEL_CALL),
            conversation_id: place.conversation_id.clone(),
            match_id: Some(place.match_id.clone()),
            request: serde_json::to_string(&asked).unwrap_or_default(),
            answer: serde_json::to_string(&self).ok(),
            outcome: UntrustedText::from(outcome),
            error_code: None,
        }
    }

    /// With its turn; `None` if the exchange is no call of a model.
    pub fn of_exchange(exchange: &Exchange) -> Option<(Option<u32>, Self)> {
        // Only what its player has asked: a peer may call its message as it likes.
        if exchange.message_type.raw() != MODEL_CALL || exchange.direction != Direction::Out {
            return None;
        }
        let CallRequest { turn, prompt } = serde_json::from_str(&exchange.request).ok()?;
        let call: Self = serde_json::from_str(exchange.answer.as_deref()?).ok()?;
        Some((turn, Self { prompt, ..call }))
    }
}

impl Message {
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl FailureKind {
    pub fn because(self, why: impl Into<String>) -> Failure {
        Failure {
            kind: self,
            why: why.into(),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Illegal => "illegal",
            Self::Unreadable => "unreadable",
            Self::Late => "late",
            Self::Refused => "refused",
            Self::Server => "server",
            Self::NotAsked => "not_asked",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_back_as_it_was_stored() {
        let call = LlmCall {
            prompt: vec![Message::new(Role::User, "Your turn.\nOptions: [1]")],
            began_after: Duration::from_millis(1500),
            latency_ms: 20,
            status: Some(200),
            reply: Some("{\"move\": 7}".to_owned()),
            failure: Some(FailureKind::Illegal),
            ..LlmCall::default()
        };
        let place = CallPlace {
            player: "P01".into(),
            match_id: MatchId::new("R1M1"),
            conversation_id: ConversationId::new("conv-r1m1-001"),
            turn: Some(3),
            asked_at: Timestamp::from_micros(1_000_000),
        };
        let exchange = call.clone().into_exchange(&place);
        assert_eq!(exchange.at, Timestamp::from_micros(2_500_000));
        assert_eq!(exchange.outcome.raw(), "answered");
        let stored = LlmCall {
            began_after: Duration::ZERO,
            ..call
        };
        assert_eq!(LlmCall::of_exchange(&exchange), Some((Some(3), stored)));
    }
}
