//! One call of a model: what was said, what came back and what it was. It is stored, and read back to play without a server.

use super::llm_api::Message;
use super::parse_move::parse_model_reply;
use crate::decider::{Failure, FailureKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmCall {
    /// What the model was told since the call before; nothing if the same was asked again.
    pub prompt: Vec<Message>,
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

impl LlmCall {
    /// The move. A reply is read anew; that there was none is a fact.
    pub(super) fn read(&self, options: &[Value]) -> Result<Value, Failure> {
        match (&self.reply, self.failure) {
            (
                _,
                Some(
                    kind @ (FailureKind::Late
                    | FailureKind::Refused
                    | FailureKind::Server
                    | FailureKind::NotAsked),
                ),
            ) => Err(kind.because(self.error.clone().unwrap_or_default())),
            (Some(reply), _) => parse_model_reply(reply, options),
            (None, _) => {
                Err(FailureKind::Unreadable.because(self.error.clone().unwrap_or_default()))
            }
        }
    }

    /// Whether address, key or name of the model are wrong: more calls will not help.
    pub fn is_misconfigured(&self) -> bool {
        matches!(self.status, Some(300..=399 | 401..=404))
    }
}
