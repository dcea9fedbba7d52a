//! The signature of a player's moves, so that no referee can report a move that was not made.
//!
//! The signature is an Ed25519 one over the list `("matchday-draw-2/move", league_id, match_id, attempt, player_id,
//! draw_commitment, opponent_nonce_commitment, nonce, choices)`: the referee's commitment as the player saw it in its
//! invitation, the opponent's nonce commitment as it stood in the question (empty if there was none), and *all* of the
//! player's choices in this attempt so far, this one last, as a JSON list without spaces and with the keys of objects
//! in order. So one signature, the last, proves all moves, and a referee that asks twice for the same turn can leave
//! out neither answer.

use crate::fair::MatchDraw;
use crate::protocol::PlayerId;
use crate::protocol::draw::Commitment;
use crate::protocol::nonce::{Nonce, NonceCommitment};
use crate::signature::{PublicKey, Signature, SigningKey};
use serde_json::Value;

const LABEL: &[u8] = b"matchday-draw-2/move";

/// What a signature covers.
#[derive(Debug, Clone)]
pub struct SignedMoves<'a> {
    /// The attempt in which the moves are made.
    pub draw: MatchDraw<'a>,
    /// Who makes the moves.
    pub player_id: &'a PlayerId,
    /// The referee's draw commitment, as the invitation carried it.
    pub commitment: &'a Commitment,
    /// The opponent's nonce commitment, as the question carried it; `None` if it carried none.
    pub opponent_nonce: Option<&'a NonceCommitment>,
    /// The player's own nonce, which the move reveals.
    pub nonce: &'a Nonce,
    /// All of the player's choices in this attempt so far, the newest last.
    pub choices: Vec<&'a Value>,
}

impl SignedMoves<'_> {
    /// The signature to send with the newest choice.
    pub fn sign(&self, key: &SigningKey) -> Signature {
        self.with_parts(|parts| key.sign_list(parts))
    }

    /// Whether the player with this key has signed exactly these moves.
    pub fn is_signed(&self, key: &PublicKey, signature: &Signature) -> bool {
        self.with_parts(|parts| key.verifies_list(parts, signature))
    }

    fn with_parts<T>(&self, then: impl FnOnce(&[&[u8]]) -> T) -> T {
        let MatchDraw {
            league_id,
            match_id,
            attempt,
            ..
        } = &self.draw;
        let opponent = self
            .opponent_nonce
            .map(NonceCommitment::text)
            .unwrap_or_default();
        // JSON keys are sorted, so equal choices have equal bytes.
        let choices = serde_json::to_vec(&self.choices).unwrap_or_default();
        then(&[
            LABEL,
            league_id.as_str().as_bytes(),
            match_id.as_str().as_bytes(),
            &attempt.0.to_be_bytes(),
            self.player_id.as_str().as_bytes(),
            self.commitment.0.as_bytes(),
            opponent.as_bytes(),
            self.nonce.0.as_bytes(),
            &choices,
        ])
    }
}
