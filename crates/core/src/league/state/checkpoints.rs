//! Checkpoints: the driver signs the head of the manager's hash chain at the end of each round and of the league, and
//! the manager records the signed note as an event, so that later heads cover earlier checkpoints. The manager knows
//! neither the chain nor the private key; it says when a signature is due.

use crate::league::event::LeagueEvent;
use crate::protocol::ids::LeagueId;
use crate::signature::{PublicKey, Signature, SigningKey};
use std::fmt::Write;
use std::sync::Arc;

/// The label under which a key signs its successor.
const SUCCESSOR: &[u8] = b"matchday-checkpoint-key-1";

/// The state of checkpoints, folded from events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checkpoints {
    /// The current key.
    pub key: Option<PublicKey>,
    /// The latest signed note.
    pub latest: Option<Arc<str>>,
    /// Whether a round or the league has ended since.
    pub due: bool,
}

impl Checkpoints {
    pub(super) fn apply(&mut self, event: &LeagueEvent) {
        match event {
            LeagueEvent::ManagerKeyAnnounced { public_key, .. } => self.key = Some(*public_key),
            LeagueEvent::CheckpointSigned { note } => {
                self.latest = Some(Arc::clone(note));
                self.due = false;
            }
            LeagueEvent::RoundCompleted { .. } | LeagueEvent::LeagueCompleted { .. } => {
                self.due = true
            }
            _ => {}
        }
    }
}

/// The first line of a league's checkpoints, and the name of its key: `matchday/league_2025_even_odd/manager`.
/// Characters that a key name cannot have are percent-encoded.
pub fn checkpoint_origin(league_id: &LeagueId) -> String {
    let mut origin = String::from("matchday/");
    for byte in league_id.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                origin.push(char::from(byte))
            }
            _ => drop(write!(origin, "%{byte:02X}")),
        }
    }
    origin.push_str("/manager");
    origin
}

/// Signs the new key with the old one.
pub fn sign_successor(old: &SigningKey, league_id: &LeagueId, new: &PublicKey) -> Signature {
    old.sign_list(&[SUCCESSOR, league_id.as_str().as_bytes(), new.as_bytes()])
}

/// Whether a new key was signed by the one before it.
pub fn is_successor(
    old: &PublicKey,
    league_id: &LeagueId,
    new: &PublicKey,
    signature: &Signature,
) -> bool {
    old.verifies_list(
        &[SUCCESSOR, league_id.as_str().as_bytes(), new.as_bytes()],
        signature,
    )
}
