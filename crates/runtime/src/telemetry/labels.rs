//! Label values of metrics. Each set is closed: a value that a peer makes up is counted as "other", so that no peer can add
//! series.

use matchday_core::agent::Failure;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::{ErrorCode, MessageType, Query, Sender};
use std::sync::LazyLock;

/// The role of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Manager,
    Referee,
    Player,
}

impl Role {
    pub(super) const ALL: [Self; 3] = [Self::Manager, Self::Referee, Self::Player];

    pub(crate) fn of(agent: &Sender) -> Self {
        match agent {
            Sender::LeagueManager | Sender::Launcher => Self::Manager,
            Sender::Referee(_) => Self::Referee,
            Sender::Player(_) => Self::Player,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Manager => "manager",
            Self::Referee => "referee",
            Self::Player => "player",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
}

impl Direction {
    pub(super) const ALL: [Self; 2] = [Self::In, Self::Out];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// `GET /checkpoint`, as metrics and logs name it.
pub(crate) const CHECKPOINT: &str = "checkpoint";

/// Every message type, the method of every query, and what else is exchanged; the last is for all that peers make up.
static MESSAGES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let queries = Query::ALL
        .into_iter()
        .filter_map(|query| query.spec().method);
    let types = MessageType::ALL.iter().map(|kind| kind.name());
    types
        .chain(queries)
        .chain([CHECKPOINT, "batch", "other"])
        .collect()
});

/// The type of a message or the method of a query, as an index into all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageLabel(usize);

impl MessageLabel {
    pub(super) fn count() -> usize {
        MESSAGES.len()
    }

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..Self::count()).map(Self)
    }

    pub(super) fn parse(text: &str) -> Self {
        if let Some(known) = MessageType::parse(text) {
            return Self(known as usize);
        }
        Self(
            MESSAGES
                .iter()
                .position(|known| *known == text)
                .unwrap_or(MESSAGES.len() - 1),
        )
    }

    pub(super) fn name(self) -> &'static str {
        MESSAGES.get(self.0).copied().unwrap_or_default()
    }

    pub(super) fn index(self) -> usize {
        self.0
    }
}

/// The outcomes of an exchange besides the error codes of the protocol.
const OUTCOMES: [&str; 12] = [
    "ok",
    "refused",
    "unknown_method",
    "stopping",
    "timed_out",
    "no_connection",
    "closed",
    "no_route",
    "forbidden",
    "own_fault",
    "garbled",
    "foreign_code",
];

/// The outcome of an exchange, as an index into all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutcomeLabel(usize);

impl OutcomeLabel {
    pub(super) const COUNT: usize = OUTCOMES.len() + ErrorCode::ALL.len();
    pub(super) const OK: Self = Self(0);
    pub(super) const REFUSED: Self = Self(1);
    const UNKNOWN_METHOD: Self = Self(2);
    const STOPPING: Self = Self(3);
    const GARBLED: Self = Self(10);
    const FOREIGN_CODE: Self = Self(11);

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    fn of_code(code: &ErrorCode) -> Self {
        let index = ErrorCode::ALL.iter().position(|known| known == code);
        index.map_or(Self::FOREIGN_CODE, |index| Self(OUTCOMES.len() + index))
    }

    pub(super) fn of(outcome: &ExchangeOutcome) -> Self {
        match outcome {
            outcome if outcome.is_ok() => Self::OK,
            ExchangeOutcome::Error { code, .. } => Self::of_code(code),
            ExchangeOutcome::MethodNotFound => Self::UNKNOWN_METHOD,
            ExchangeOutcome::Stopping => Self::STOPPING,
            ExchangeOutcome::Garbled(_) => Self::GARBLED,
            ExchangeOutcome::Undelivered(failure) => Self(match failure {
                Failure::TimedOut => 4,
                Failure::NoConnection => 5,
                Failure::Closed => 6,
                Failure::NoRoute => 7,
                Failure::Forbidden => 8,
                Failure::Ours => 9,
            }),
            _ => Self::REFUSED,
        }
    }

    pub(super) fn is_ok(self) -> bool {
        self == Self::OK
    }

    /// `ok`, `timed_out`, `E003`.
    pub(super) fn name(self) -> &'static str {
        match OUTCOMES.get(self.0) {
            Some(word) => word,
            None => ErrorCode::ALL
                .get(self.0 - OUTCOMES.len())
                .map_or("foreign_code", |code| code.code()),
        }
    }

    pub(super) fn index(self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_counted_under_its_own_name() {
        for kind in MessageLabel::all() {
            assert_eq!(MessageLabel::parse(kind.name()), kind);
        }
        for method in Query::ALL
            .into_iter()
            .filter_map(|query| query.spec().method)
        {
            assert_eq!(MessageLabel::parse(method).name(), method);
        }
        assert_eq!(MessageLabel::parse("MADE_UP").name(), "other");
        assert_eq!(MessageLabel::parse("").name(), "other");
    }

    #[test]
    fn every_way_to_end_an_exchange_has_a_name() {
        let error = |code| ExchangeOutcome::Error { code, text: None };
        for (outcome, name) in [
            (ExchangeOutcome::Message(MessageType::GameJoinAck), "ok"),
            (ExchangeOutcome::Received, "ok"),
            (error(ErrorCode::RateLimited), "E014"),
            (error(ErrorCode::parse("E999")), "foreign_code"),
            (ExchangeOutcome::NotARequest, "refused"),
            (
                ExchangeOutcome::Http {
                    status: 403,
                    is_success: false,
                },
                "refused",
            ),
            (ExchangeOutcome::MethodNotFound, "unknown_method"),
            (ExchangeOutcome::Stopping, "stopping"),
            (ExchangeOutcome::Garbled("a page".into()), "garbled"),
            (ExchangeOutcome::Undelivered(Failure::TimedOut), "timed_out"),
            (
                ExchangeOutcome::Undelivered(Failure::NoConnection),
                "no_connection",
            ),
            (ExchangeOutcome::Undelivered(Failure::Closed), "closed"),
            (ExchangeOutcome::Undelivered(Failure::NoRoute), "no_route"),
            (
                ExchangeOutcome::Undelivered(Failure::Forbidden),
                "forbidden",
            ),
            (ExchangeOutcome::Undelivered(Failure::Ours), "own_fault"),
        ] {
            assert_eq!(OutcomeLabel::of(&outcome).name(), name, "{outcome}");
        }
    }
}
