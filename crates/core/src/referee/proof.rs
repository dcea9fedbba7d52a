//! Nonce commitments and signed moves of players, and the reveal of a match. Checked on arrival, so that a player can
//! still correct its answer.

use super::game_error::AnswerError;
use super::one_match::OngoingMatch;
use super::verdict;
use crate::game::Seat;
use crate::protocol::ErrorCode;
use crate::protocol::draw::Reveal;
use crate::protocol::messages::ByPlayer;
use crate::protocol::nonce::{Nonce, NonceCommitment};
use crate::signature::Signature;
use crate::signed_move::SignedMoves;
use serde_json::Value;

impl OngoingMatch {
    /// The effective nonces of A and B.
    pub(super) fn nonces(&self) -> [Nonce; 2] {
        Seat::BOTH.map(|seat| {
            let nonce = self.side(seat).nonce.clone();
            nonce.unwrap_or_else(|| Nonce::absent(&self.assignment.player(seat).player_id))
        })
    }

    /// Takes a player's nonce commitment, which is required of a player with a key. The first one counts.
    pub(super) fn commit(
        &mut self,
        seat: Seat,
        promised: Option<NonceCommitment>,
    ) -> Result<(), AnswerError> {
        let is_keyed = self.assignment.player(seat).public_key.is_some();
        if promised.is_none() && is_keyed {
            let message = "nonce_commitment: expected the SHA-256 of the nonce, which a player that registered a public \
                           key gives when it joins, got none";
            return Err(AnswerError::new(ErrorCode::MissingField, message));
        }
        let side = self.side_mut(seat);
        side.nonce_commitment = side.nonce_commitment.or(promised);
        Ok(())
    }

    /// Checks the nonce against its commitment, and the signature.
    pub(super) fn check_proof(
        &self,
        seat: Seat,
        choice: &Value,
        nonce: Option<&Nonce>,
        signature: Option<&Signature>,
    ) -> Result<(), AnswerError> {
        let player = self.assignment.player(seat);
        let side = self.side(seat);
        let player_id = &player.player_id;
        let draw = self.assignment.draw();
        if let Some(promised) = &side.nonce_commitment {
            let Some(nonce) = nonce else {
                let message = "nonce: expected the nonce that nonce_commitment is of, got none";
                return Err(AnswerError::new(ErrorCode::MissingField, message));
            };
            if draw.nonce_commitment(player_id, nonce) != *promised {
                let message =
                    "nonce: this is not the nonce that the nonce_commitment in GAME_JOIN_ACK is of";
                return Err(AnswerError::new(ErrorCode::InvalidFormat, message));
            }
        }
        let (Some(key), Some(nonce)) = (&player.public_key, nonce) else {
            return Ok(());
        };
        let Some(signature) = signature else {
            let message = "signature: expected the player's signature over its moves, got none";
            return Err(AnswerError::new(ErrorCode::MissingField, message));
        };
        let before = self.plays.iter().filter_map(|turn| seat.of(turn).as_ref());
        let moves = SignedMoves {
            draw,
            player_id,
            commitment: &self.commitment,
            opponent_nonce: self.side(seat.other()).nonce_commitment.as_ref(),
            nonce,
            choices: before.chain([choice]).collect(),
        };
        if moves.is_signed(key, signature) {
            Ok(())
        } else {
            let message = "signature: this is not the signature of the registered key over this move and those before";
            Err(AnswerError::new(ErrorCode::InvalidFormat, message))
        }
    }

    /// The reveal, once a number was drawn or a move was signed.
    pub(super) fn reveal(&self) -> Option<Reveal> {
        let signature = |seat: Seat| {
            let is_keyed = self.assignment.player(seat).public_key.is_some();
            self.side(seat)
                .signature
                .filter(|_| is_keyed && verdict::tells_moves(self))
        };
        if self.dice.is_none() && !Seat::BOTH.into_iter().any(|seat| signature(seat).is_some()) {
            return None;
        }
        let players = self.assignment.player_ids();
        let nonces = players.iter().cloned().zip(self.nonces()).collect();
        let secret = &self.assignment.secret;
        let reveal =
            self.assignment
                .draw()
                .reveal_promised(secret, self.commitment.clone(), nonces);
        let nonce_commitments = self.by_seat(|seat| self.side(seat).nonce_commitment);
        let signatures = self.by_seat(signature);
        Some(
            Reveal {
                nonce_commitments,
                signatures,
                ..reveal
            }
            .with_proof(),
        )
    }

    fn by_seat<T>(&self, of: impl Fn(Seat) -> Option<T>) -> Option<Box<ByPlayer<T>>> {
        let entry = |seat: Seat| Some((self.assignment.player(seat).player_id.clone(), of(seat)?));
        let entries: ByPlayer<T> = Seat::BOTH.into_iter().filter_map(entry).collect();
        (!entries.is_empty()).then(|| Box::new(entries))
    }
}
