//! The external decider of a player: a program, a language model, a person.

use matchday_core::agent::{ExternalResult, Usage};
use matchday_core::game::turn::TurnSheet;
use matchday_store::llm_call::LlmCall;
pub use matchday_store::llm_call::{Failure, FailureKind};
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
    /// The calls of a language model, for the record.
    pub calls: Vec<LlmCall>,
}

impl From<ExternalResult> for Decided {
    fn from(decision: ExternalResult) -> Self {
        Self {
            decision,
            remark: None,
            usage: None,
            calls: Vec::new(),
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
