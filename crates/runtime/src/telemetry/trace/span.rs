//! A span: a stretch of time in a match. Values only.

use super::super::labels::{OutcomeLabel, Role};
use super::ids::{SpanId, TraceId};
use matchday_core::protocol::Timestamp;
use smol_str::SmolStr;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    /// Who tells it.
    pub(super) role: Role,
    pub(super) agent: SmolStr,
    pub(super) trace: TraceId,
    pub(super) id: SpanId,
    pub(super) parent: Option<SpanId>,
    pub(super) name: SmolStr,
    pub(super) kind: SpanKind,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) about: About,
    pub(super) end: SpanStatus,
}

/// By the numbers that OpenTelemetry gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct About {
    pub(super) league_id: SmolStr,
    pub(super) match_id: SmolStr,
    pub(super) attempt: Option<u32>,
    pub(super) message_type: Option<SmolStr>,
    pub(super) conversation_id: Option<SmolStr>,
}

/// How it ended: in a word, and whether that is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpanStatus {
    pub(super) word: &'static str,
    pub(super) is_error: bool,
}

impl From<OutcomeLabel> for SpanStatus {
    fn from(outcome: OutcomeLabel) -> Self {
        Self {
            word: outcome.name(),
            is_error: !outcome.is_ok(),
        }
    }
}
