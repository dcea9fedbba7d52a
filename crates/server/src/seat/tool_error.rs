//! Why a call of a tool failed, in words that say what to do.

use super::open_turns::MoveError;
use matchday_core::game::strategy::StrategyEntry;
use matchday_core::protocol::ErrorCode;
use serde_json::Value;
use smol_str::format_smolstr;

/// Why a call failed, and what to do.
#[derive(Debug)]
pub(super) struct ToolError {
    pub(super) code: ErrorCode,
    pub(super) message: String,
    /// Whether the same tool is to be called again: with another argument where one was wrong, or later.
    pub(super) retryable: bool,
}

impl ToolError {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let is_unfit = matches!(code, ErrorCode::MissingField | ErrorCode::InvalidFormat);
        Self {
            message: message.into(),
            retryable: is_unfit || code.retryable(),
            code,
        }
    }

    pub(super) fn internal(why: String) -> Self {
        Self::new(
            ErrorCode::Internal,
            format!("{why} - tell the operator of this server"),
        )
    }

    pub(super) fn stopping() -> Self {
        Self::new(
            ErrorCode::Connection,
            "this server is stopping: call again when it is back; seats are kept",
        )
    }

    pub(super) fn stopped() -> Self {
        let why = "the player in this seat has stopped: call again in a moment, and if this goes on tell the operator";
        Self::new(ErrorCode::Connection, why)
    }

    /// Why a move does not count. `fallback`: what has chosen instead, if it was too late.
    pub(super) fn of_move(error: MoveError, fallback: Option<&StrategyEntry>) -> Self {
        let shown = |values: &[Value]| {
            values
                .iter()
                .map(Value::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        match error {
            MoveError::NothingOpen => Self::new(
                ErrorCode::InvalidState,
                "there is nothing to choose now: call wait_for_turn, and move when it tells your_turn",
            ),
            MoveError::Ambiguous(open) => {
                let open = open
                    .iter()
                    .map(|id| format_smolstr!("{id:?}"))
                    .collect::<Vec<_>>()
                    .join(", ");
                Self::new(
                    ErrorCode::MissingField,
                    format!("turn: expected one of {open}, since several are open"),
                )
            }
            MoveError::Unknown => Self::new(
                ErrorCode::MatchIdMismatch,
                "this turn is not open: call wait_for_turn, and pass its \"turn\" exactly as it stands there",
            ),
            MoveError::TooLate => {
                let why = match fallback {
                    Some(entry) => format!(
                        "too late: the time for this turn was over, and the strategy {:?} has chosen for you - call \
                         wait_for_turn, and move sooner next time",
                        entry.name
                    ),
                    None => "too late: the time for this turn was over - call wait_for_turn at once, since the referee \
                             may ask again"
                        .to_owned(),
                };
                Self {
                    retryable: false,
                    ..Self::new(ErrorCode::Timeout, why)
                }
            }
            MoveError::Chosen(made) => {
                let why = format!(
                    "you chose {made} in this turn, and a move cannot be taken back: call wait_for_turn"
                );
                Self::new(ErrorCode::InvalidMove, why)
            }
            MoveError::NotAnOption(options) => {
                let why = format!(
                    "choice: expected one of {} - the turn is still open: move again",
                    shown(&options)
                );
                Self {
                    retryable: true,
                    ..Self::new(ErrorCode::InvalidMove, why)
                }
            }
        }
    }
}
