//! The external decider of a player: a program, a language model, a person.

use matchday_core::agent::{ExternalResult, Usage};
use matchday_core::game::turn::TurnSheet;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Debug;
use std::pin::Pin;

/// A decision that is being made. Dropping it must end whatever was begun for it.
pub type Deciding = Pin<Box<dyn Future<Output = Decided> + Send>>;

/// What a decider answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// One of the turn's options, or why there is none, in words for people.
    pub decision: ExternalResult,
    /// A comment of the decider, for the log.
    pub remark: Option<String>,
    /// What a language model used for it.
    pub usage: Option<Usage>,
}

impl From<ExternalResult> for Decided {
    fn from(decision: ExternalResult) -> Self {
        Self {
            decision,
            remark: None,
            usage: None,
        }
    }
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

impl FailureKind {
    pub fn because(self, why: impl Into<String>) -> Failure {
        Failure {
            kind: self,
            why: why.into(),
        }
    }
}

/// Decides for an agent. It may take its time: the agent goes on without it when its time is up, and the decision is
/// then dropped.
pub trait Decider: Debug + Send + Sync {
    fn decide(&self, turn: TurnSheet) -> Deciding;

    /// How it is asked many turns in one message, once it has said that it answers them.
    fn batches(&self) -> Option<&dyn BatchDecider> {
        None
    }
}

/// The moves of many turns that are being made.
pub type DecidingAll<'a> = Pin<Box<dyn Future<Output = Result<Vec<Value>, String>> + Send + 'a>>;

/// Decides many turns at once, and remembers by itself what it was told before.
pub trait BatchDecider: Send + Sync {
    /// What it remembers is lost when this number changes.
    fn process_number(&self) -> u64;

    /// A move for each turn, which is written as JSON; or why there is none for any.
    fn decide_all<'a>(&'a self, turns: &'a [Vec<u8>]) -> DecidingAll<'a>;
}
