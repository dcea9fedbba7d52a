//! The windows and the retry policy of a match, as the manager hands them to a referee and as a referee bounds them.

use serde::{Deserialize, Serialize};

/// In a briefing: what the referee is to play by. In a referee's registration: the most that it allows. What is absent is
/// not said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeouts {
    /// How long a player has to accept an invitation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join_ms: Option<u32>,
    /// How long a player has for a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice_ms: Option<u32>,
    /// How often a player that does not answer is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// The pause before it is asked again; the first one, if pauses double.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_delay_ms: Option<u32>,
    /// The longest pause, if pauses double; absent if they are all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_delay_max_ms: Option<u32>,
}

impl Timeouts {
    /// Whether nothing is said about any window or retry.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
