//! The external program that knows the rules of a game that the core does not.

use matchday_core::agent::{ExternalResult, RulesRequest};
use std::fmt::Debug;
use std::pin::Pin;

/// A position that is being worked out. Dropping it must end whatever was begun for it.
pub type Ruling = Pin<Box<dyn Future<Output = ExternalResult> + Send>>;

/// Says where the moves of a match lead.
pub trait ExternalRules: Debug + Send + Sync {
    fn position(&self, request: RulesRequest) -> Ruling;
}
