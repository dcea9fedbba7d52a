//! Conformance and limits by which messages to an agent are decoded.

use super::Agent;
use crate::protocol::decode::{Conformance, Limits};
use crate::protocol::ids::PlayerId;

/// An agent that says how its driver decodes messages of peers.
pub trait DecodeHints: Agent {
    /// How strictly, and up to which limits, messages of peers are decoded. It does not change after the stored events have
    /// been applied.
    fn reading(&self) -> (Conformance, Limits);

    /// Of messages that list all players, the only one whose entries the agent uses: the others need not be decoded.
    fn reads_about(&self) -> Option<&PlayerId> {
        None
    }
}
