//! Why a message was rejected: where, by which rule, and what came instead.

use super::error::ErrorCode;
use super::ids::ConversationId;
use super::untrusted::UntrustedText;

/// Why a message was rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {}", self.sentence())]
pub struct Rejection {
    /// What the sender is told went wrong.
    pub code: ErrorCode,
    /// Where: `player_meta.display_name`, `matches[1].match_id`; empty for the message as a whole.
    pub path: String,
    /// What the rule requires, to complete "expected ...".
    pub expected: String,
    /// What was there instead, truncated.
    pub came: String,
    /// The message type, if it named one.
    pub message_type: Option<UntrustedText>,
    /// Its conversation, for the answer.
    pub conversation_id: Option<ConversationId>,
}

impl Rejection {
    /// A description for people.
    pub fn sentence(&self) -> String {
        let path = &self.path;
        let expected = &self.expected;
        let came = &self.came;
        if path.is_empty() {
            format!("the message: expected {expected}, got {came}")
        } else {
            format!("{path}: expected {expected}, got {came}")
        }
    }
}
