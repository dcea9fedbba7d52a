//! What is wrong with an answer, and how a player is told: GAME_ERROR with everything that any source wants in it.

use super::event::Assignment;
use super::one_match::Phase;
use crate::game::{IllegalMove, Seat};
use crate::protocol::decode::Rejection;
use crate::protocol::messages::{GameError, RetryInfo, Seconds};
use crate::protocol::{ErrorCode, MessageType, Timestamp};
use serde_json::{Map, Value};
use smol_str::SmolStr;
use std::time::Duration;

/// Why something is not the answer that was wanted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wrong {
    pub(super) code: ErrorCode,
    pub(super) message: String,
    pub(super) context: Map<String, Value>,
}

/// A failure, and what follows from it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Complaint {
    pub(super) wrong: Wrong,
    /// How far the match had come, and what was owed: by the time the player is told, it may have gone on.
    pub(super) phase: Phase,
    pub(super) owed: MessageType,
    pub(super) retry_count: u32,
    pub(super) retryable: bool,
    pub(super) next_retry_at: Option<Timestamp>,
    pub(super) time_remaining: Option<Duration>,
    pub(super) consequence: &'static str,
}

impl Wrong {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), context: Map::new() }
    }

    /// The same, with a detail for programs.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.context.insert(key.into(), value.into());
        self
    }
}

impl From<IllegalMove> for Wrong {
    fn from(illegal: IllegalMove) -> Self {
        Self::new(illegal.code.clone(), illegal.to_string())
            .with("invalid_choice", illegal.came)
            .with("valid_choices", illegal.legal)
    }
}

impl Wrong {
    /// From a message that could not be read. `options` are the moves that would have been right.
    pub(super) fn unreadable(rejection: &Rejection, options: Vec<Value>) -> Self {
        let wrong = Self::new(rejection.code.clone(), rejection.to_string());
        if rejection.code == ErrorCode::InvalidParityChoice {
            // What came is JSON where it was not cut short, and otherwise as good as text.
            let came: Result<Value, _> = serde_json::from_str(&rejection.came);
            let came = came.unwrap_or_else(|_| rejection.came.as_str().into());
            return wrong.with("invalid_choice", came).with("valid_choices", options);
        }
        wrong
            .with("path", rejection.path.as_str())
            .with("expected", rejection.expected.as_str())
            .with("came", rejection.came.as_str())
    }
}

/// GAME_ERROR for one player of a match.
pub(super) fn game_error(
    assignment: &Assignment,
    seat: Seat,
    max_retries: u32,
    complaint: Complaint,
) -> GameError {
    let player_id = assignment.player(seat).player_id.clone();
    let code = complaint.wrong.code;
    let time_remaining = complaint.time_remaining.map(Seconds::of);
    GameError {
        league_id: Some(assignment.league_id.clone()),
        round_id: Some(assignment.round_id),
        match_id: Some(assignment.match_id.clone()),
        affected_player: Some(player_id.clone()),
        player_id: Some(player_id),
        error_name: Some(code.name().into()),
        error_description: code.name().into(),
        error_code: code,
        error_message: Some(complaint.wrong.message.into()),
        action_required: Some(SmolStr::new_static(complaint.owed.name())),
        game_state: Some(SmolStr::new_static(complaint.phase.as_str())),
        retryable: Some(complaint.retryable),
        retry_info: Some(RetryInfo {
            retry_count: Some(complaint.retry_count),
            max_retries: Some(max_retries),
            next_retry_at: complaint.next_retry_at,
            time_remaining,
        }),
        retry_count: Some(complaint.retry_count),
        max_retries: Some(max_retries),
        time_remaining,
        context: Some(complaint.wrong.context),
        consequence: Some(complaint.consequence.into()),
    }
}
