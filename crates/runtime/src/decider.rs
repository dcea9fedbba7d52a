//! The external decider of a player: a program, a language model, a person.

use crate::deciders::program_decider::ProgramDecider;
use matchday_core::agent::{ExternalResult, Usage};
use matchday_core::game::turn::TurnSheet;
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

/// Decides for an agent. It may take its time: the agent goes on without it when its time is up, and the decision is
/// then dropped.
pub trait Decider: Debug + Send + Sync {
    fn decide(&self, turn: TurnSheet) -> Deciding;

    /// The program behind it that answers many turns in one message, once it has said that it does.
    fn batches(&self) -> Option<&ProgramDecider> {
        None
    }
}
