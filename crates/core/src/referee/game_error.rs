//! Invalid answers, and GAME_ERROR with the fields of all sources.

use super::event::Assignment;
use super::one_match::Phase;
use crate::game::{IllegalMove, Seat};
use crate::protocol::decode::Rejection;
use crate::protocol::messages::{GameError, RetryInfo, Seconds};
use crate::protocol::{ErrorCode, MessageType, Timestamp, Token};
use serde_json::{Map, Value};
use smol_str::SmolStr;
use std::time::Duration;

/// Why an answer is invalid.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnswerError {
    pub(super) code: ErrorCode,
    pub(super) message: String,
    pub(super) context: Map<String, Value>,
}

/// The content of a GAME_ERROR.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ErrorNotice {
    pub(super) error: AnswerError,
    /// As of the failure: the match may have advanced when the message is written.
    pub(super) phase: Phase,
    pub(super) owed: MessageType,
    pub(super) retry_count: u32,
    pub(super) retryable: bool,
    pub(super) next_retry_at: Option<Timestamp>,
    pub(super) time_remaining: Option<Duration>,
    pub(super) consequence: &'static str,
}

impl AnswerError {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            context: Map::new(),
        }
    }

    /// Adds a field to the context.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.context.insert(key.into(), value.into());
        self
    }
}

impl From<IllegalMove> for AnswerError {
    fn from(illegal: IllegalMove) -> Self {
        Self::new(illegal.code.clone(), illegal.to_string())
            .with("invalid_choice", illegal.came)
            .with("valid_choices", illegal.legal)
    }
}

impl AnswerError {
    /// A token that is not the player's.
    pub(super) fn not_its_token(token: &Token) -> Self {
        let message = "auth_token: this token does not prove who sends the answer";
        Self::new(ErrorCode::TokenInvalid, message).with("provided_token", token.hint())
    }

    /// From a message that could not be decoded. `options` are the valid moves.
    pub(super) fn unreadable(rejection: &Rejection, options: Vec<Value>) -> Self {
        let error = Self::new(rejection.code.clone(), rejection.to_string());
        if rejection.code == ErrorCode::InvalidParityChoice {
            // `came` is JSON unless it was truncated.
            let came: Result<Value, _> = serde_json::from_str(&rejection.came);
            let came = came.unwrap_or_else(|_| rejection.came.as_str().into());
            return error
                .with("invalid_choice", came)
                .with("valid_choices", options);
        }
        error
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
    notice: ErrorNotice,
) -> GameError {
    let player_id = assignment.player(seat).player_id.clone();
    let code = notice.error.code;
    let time_remaining = notice.time_remaining.map(Seconds::of);
    GameError {
        league_id: Some(assignment.league_id.clone()),
        round_id: Some(assignment.round_id),
        match_id: Some(assignment.match_id.clone()),
        affected_player: Some(player_id.clone()),
        player_id: Some(player_id),
        error_name: Some(code.name().into()),
        error_description: code.name().into(),
        error_code: code,
        error_message: Some(notice.error.message.into()),
        action_required: Some(SmolStr::new_static(notice.owed.name())),
        game_state: Some(SmolStr::new_static(notice.phase.as_str())),
        retryable: Some(notice.retryable),
        retry_info: Some(RetryInfo {
            retry_count: Some(notice.retry_count),
            max_retries: Some(max_retries),
            next_retry_at: notice.next_retry_at,
            time_remaining,
        }),
        retry_count: Some(notice.retry_count),
        max_retries: Some(max_retries),
        time_remaining,
        context: Some(notice.error.context),
        consequence: Some(notice.consequence.into()),
    }
}
