//! Checkpoints: the driver signs the head of the manager's hash chain at the end of each round and of the league, and the
//! manager records what was signed, so that later heads cover earlier checkpoints. The manager knows neither its chain nor
//! its private key: it says when a signature is due.

use super::event::LeagueEvent;
use super::manager::{Act, Asked, Manager, Refusal};
use crate::agent::{Signed, SigningDue};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::LeagueId;
use crate::signature::{PublicKey, Signature, SigningKey};
use std::fmt::Write;
use std::sync::Arc;

/// What the operator rotates, in an order, to have the manager sign with a new key.
pub const CHECKPOINT_KEY: &str = "checkpoint-key";

/// What a key is signed as by the one before it.
const SUCCESSOR: &[u8] = b"matchday-checkpoint-key-1";

/// What the events say about checkpoints.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checkpoints {
    /// The key that signs at present.
    pub key: Option<PublicKey>,
    /// The last that was signed, a signed note.
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
            LeagueEvent::RoundCompleted { .. } | LeagueEvent::LeagueCompleted { .. } => self.due = true,
            _ => {}
        }
    }
}

/// The first line of a league's checkpoints, and the name of its key: `matchday/league_2025_even_odd/manager`. What does not
/// go into the name of a key is percent-encoded.
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

/// The old key's word for the new one.
pub fn sign_successor(old: &SigningKey, league_id: &LeagueId, new: &PublicKey) -> Signature {
    old.sign_list(&[SUCCESSOR, league_id.as_str().as_bytes(), new.as_bytes()])
}

/// Whether a new key was signed by the one before it.
pub fn is_successor(old: &PublicKey, league_id: &LeagueId, new: &PublicKey, signature: &Signature) -> bool {
    old.verifies_list(&[SUCCESSOR, league_id.as_str().as_bytes(), new.as_bytes()], signature)
}

impl Manager {
    pub(super) fn signing(&self) -> Option<SigningDue<'_>> {
        let league = &self.league;
        league.created.then(|| SigningDue {
            league_id: &league.settings.league_id,
            key: league.checkpoints.key.as_ref(),
            rotation: self.key_rotation.is_some(),
            checkpoint: league.checkpoints.due,
        })
    }

    pub(super) fn on_signed(&mut self, act: &mut Act<'_>, signed: Signed) {
        match signed {
            Signed::Checkpoint { note } => {
                self.record(act, LeagueEvent::CheckpointSigned { note: note.into() });
            }
            Signed::Key { public_key, signature } => {
                self.record(act, LeagueEvent::ManagerKeyAnnounced { public_key, signature });
                if let Some(asked) = self.key_rotation.take() {
                    self.reply(act, &asked, self.status());
                }
            }
            Signed::Failed(why) => {
                if let Some(asked) = self.key_rotation.take() {
                    let message = format!("the checkpoint key stays as it is: {why}");
                    self.refuse(act, &asked, Refusal::new(ErrorCode::Internal, message));
                }
            }
        }
    }

    /// The driver makes the new key; the order is answered when it has.
    pub(super) fn rotate_checkpoint_key(&mut self, asked: &Asked) -> Result<(), Refusal> {
        if self.league.checkpoints.key.is_none() || self.key_rotation.is_some() {
            let message = match self.key_rotation {
                None => "this manager signs no checkpoints: there is no key to rotate",
                Some(_) => "the checkpoint key is being rotated already",
            };
            return Err(Refusal::new(ErrorCode::InvalidState, message));
        }
        self.key_rotation = Some(asked.clone());
        Ok(())
    }
}
