//! What a referee signs, so that a player which holds a message of it can prove to others what it said: the commitment of its
//! invitation, and the result of its GAME_OVER. Pure.
//!
//! A signature is an Ed25519 one with the key that the referee registered, over the list `(label, league_id, match_id,
//! attempt, what)`. In GAME_INVITATION the label is `matchday-referee-1/commitment`, and `what` is `draw_commitment`. In
//! GAME_OVER it is `matchday-referee-1/game-over`, and `what` is `game_result` as JSON without spaces and with the keys of
//! objects in order. Neither names a player: one signature serves for both.

use crate::protocol::draw::Commitment;
use crate::protocol::messages::GameResult;
use crate::protocol::{Attempt, LeagueId, MatchId};
use crate::signature::{PublicKey, Signature, SigningKey};

const COMMITMENT: &[u8] = b"matchday-referee-1/commitment";
const GAME_OVER: &[u8] = b"matchday-referee-1/game-over";

/// The attempt that a statement is about. It is part of what is signed, so that it is not valid for another.
#[derive(Debug, Clone, Copy)]
pub struct AttemptRef<'a> {
    /// As the manager names it.
    pub league_id: &'a LeagueId,
    /// As its invitation names it.
    pub match_id: &'a MatchId,
    /// Counted from 1 by the manager.
    pub attempt: Attempt,
}

/// What a referee says and signs.
#[derive(Debug, Clone, Copy)]
pub enum Statement<'a> {
    /// Of GAME_INVITATION.
    Commitment(&'a Commitment),
    /// Of GAME_OVER, as [`result_text`] writes it.
    Result(&'a str),
}

impl AttemptRef<'_> {
    /// The signature to send with it.
    pub fn sign(&self, key: &SigningKey, statement: Statement<'_>) -> Signature {
        self.with_parts(statement, |parts| key.sign_list(parts))
    }

    /// Whether the referee with this key has said exactly this.
    pub fn is_signed(
        &self,
        key: &PublicKey,
        statement: Statement<'_>,
        signature: &Signature,
    ) -> bool {
        self.with_parts(statement, |parts| key.verifies_list(parts, signature))
    }

    fn with_parts<T>(&self, statement: Statement<'_>, then: impl FnOnce(&[&[u8]]) -> T) -> T {
        let (label, what) = match statement {
            Statement::Commitment(commitment) => (COMMITMENT, commitment.0.as_str()),
            Statement::Result(text) => (GAME_OVER, text),
        };
        then(&[
            label,
            self.league_id.as_str().as_bytes(),
            self.match_id.as_str().as_bytes(),
            &self.attempt.0.to_be_bytes(),
            what.as_bytes(),
        ])
    }
}

/// A result as it is signed.
pub fn result_text(result: &GameResult) -> String {
    // JSON keys are sorted in a value, so equal results have equal texts.
    serde_json::to_value(result)
        .map(|value| value.to_string())
        .unwrap_or_default()
}
