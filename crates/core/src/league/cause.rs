//! Why an agent is suspended and why an attempt at a match was lost.

use serde::{Deserialize, Serialize};

impl Suspicion {
    /// As it is stored and logged.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeverAnswered => "never_answered",
            Self::TechnicalLosses => "technical_losses",
            Self::Unreachable => "unreachable",
            Self::RefusedMatch => "refused_match",
            Self::Overdue => "overdue",
            Self::HandBacks => "hand_backs",
            Self::NoToken => "no_token",
        }
    }
}

/// Why an agent was suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspicion {
    /// Its endpoint had never answered when the league started.
    NeverAnswered,
    /// Too many technical losses of a player in a row.
    TechnicalLosses,
    /// A referee could not be reached with an assignment.
    Unreachable,
    /// A referee refused an assignment, or understood none.
    RefusedMatch,
    /// A referee did not report a match in time.
    Overdue,
    /// A referee reported without its token, which proves nothing.
    NoToken,
    /// A referee lost too many attempts after they had begun. Only the operator lifts this suspension, by issuing a new
    /// token.
    HandBacks,
}

/// Why an attempt ended without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossCause {
    /// Its referee handed it back.
    HandedBack,
    /// Its referee did not report in time.
    Overdue,
    /// Its referee's report was invalid.
    Refused,
    /// Its referee could not be reached.
    Unreachable,
    /// Its referee refused the assignment, or understood none.
    NotTaken,
    /// Its referee reports without a token, so that no report of it can be taken.
    NoToken,
    /// The operator revoked its referee's token.
    Revoked,
    /// The operator withdrew one of its players.
    PlayerOut,
}

impl LossCause {
    /// Whether the referee may have seen the players' choices before the attempt was lost, so that losing it would let
    /// it draw again.
    pub fn counts(self) -> bool {
        matches!(self, Self::HandedBack | Self::Overdue | Self::Refused)
    }
}
