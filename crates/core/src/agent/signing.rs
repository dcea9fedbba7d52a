//! What an agent has signed by a key that its driver keeps. A driver without a key ignores it: nothing else depends on it.

use super::Agent;
use crate::protocol::ids::LeagueId;
use crate::signature::{PublicKey, Signature};

/// An agent that may have its driver sign for it.
pub trait Signing: Agent {
    /// What is to be signed now, if the agent has anything signed. The result is handed in as
    /// [`Input::Signed`](super::Input::Signed).
    fn signing(&self) -> Option<SigningDue<'_>> {
        None
    }
}

/// What the agent wants signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SigningDue<'a> {
    /// Part of what is signed, so that a signature is not valid in another league.
    pub league_id: &'a LeagueId,
    /// The public key that the agent's events name. If it is not the driver's, the driver's is to be announced.
    pub key: Option<&'a PublicKey>,
    /// Whether the key is to be rotated.
    pub rotation: bool,
    /// Whether the head of the agent's hash chain is to be signed.
    pub checkpoint: bool,
}

/// What the driver's key has signed for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signed {
    /// A new key, signed by the one before it where the driver has that.
    Key {
        /// The key that signs from now on.
        public_key: PublicKey,
        /// By the previous key; absent if there was none or if it was lost.
        signature: Option<Signature>,
    },
    /// A checkpoint, as a signed note.
    Checkpoint {
        /// The whole text with its signature lines, as [`crate::signed_note`] reads it.
        note: String,
    },
    /// Why no new key could be made.
    Failed(String),
}
