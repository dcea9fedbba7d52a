//! Nonce and signature of a choice. A player signs one choice per turn of an attempt, and nothing for a referee that
//! has changed its commitment.

use super::answering::MoveQuestion;
use super::authentication::league_error;
use super::durable::{ATTEMPTS_MAX, Move};
use super::event::{Choice, PlayerEvent};
use super::keys::Keys;
use super::{Ctx, Player};
use crate::agent::Agent;
use crate::agent::Usage;
use crate::entropy::Entropy;
use crate::fair::{MatchDraw, SCHEME};
use crate::lower_hex;
use crate::protocol::draw::Commitment;
use crate::protocol::messages::{GameInvitation, LeagueError};
use crate::protocol::nonce::{Nonce, NonceCommitment};
use crate::protocol::{Attempt, ErrorCode, LeagueId, MatchId, PlayerId};
use crate::signature::Signature;
use crate::signed_move::SignedMoves;
use serde_json::Value;

/// The length limit of the reason for a fallback.
const REASON_MAX: usize = 200;

/// The attempt and turn of a question.
#[derive(Debug, Clone)]
pub(super) struct TurnRef {
    pub(super) attempt: Attempt,
    pub(super) turn: Option<u32>,
    /// The opponent's nonce commitment.
    pub(super) opponent_nonce: Option<NonceCommitment>,
}

/// The common part of all signatures in one attempt.
struct Signing<'a> {
    keys: &'a Keys,
    draw: MatchDraw<'a>,
    player_id: &'a PlayerId,
    commitment: &'a Commitment,
}

impl Player {
    /// An invitation must not change the commitment of an earlier one to the same attempt.
    pub(super) fn check_commitment(
        &self,
        attempt: Attempt,
        invitation: &GameInvitation,
    ) -> Result<(), LeagueError> {
        let known = self.durable.find(&invitation.match_id);
        let promised = known.and_then(|known| known.invitations.get(&attempt)?.commitment.as_ref());
        match promised {
            Some(promised) if invitation.draw_commitment.as_ref() != Some(promised) => {
                let message = format!(
                    "draw_commitment: attempt {attempt} at {} began with another commitment, {}",
                    invitation.match_id, promised.0
                );
                Err(league_error(ErrorCode::InvalidState, message))
            }
            _ => Ok(()),
        }
    }

    /// Our nonce commitment for GAME_JOIN_ACK; none if the referee names another scheme or none, or we have no key.
    pub(super) fn nonce_commitment(
        &self,
        attempt: Attempt,
        invitation: &GameInvitation,
    ) -> Option<NonceCommitment> {
        invitation
            .draw_scheme
            .as_ref()
            .filter(|scheme| **scheme == SCHEME)?;
        let identity = self.identity()?;
        let league_id = identity
            .league_id
            .as_ref()
            .filter(|own| **own == invitation.league_id)?;
        let commitment = invitation.draw_commitment.as_ref()?;
        let draw = MatchDraw {
            league_id,
            match_id: &invitation.match_id,
            attempt,
        };
        let nonce = self.keys.as_ref()?.nonce(&draw, Some(commitment));
        Some(draw.nonce_commitment(&identity.id, &nonce))
    }

    fn signing<'a>(&'a self, match_id: &'a MatchId, attempt: Attempt) -> Option<Signing<'a>> {
        let invitation = self
            .durable
            .find(match_id)?
            .invitations
            .get(&attempt)
            .filter(|known| known.signs)?;
        let identity = self.identity()?;
        let league_id: &LeagueId = identity.league_id.as_ref()?;
        Some(Signing {
            keys: self.keys.as_ref()?,
            draw: MatchDraw {
                league_id,
                match_id,
                attempt,
            },
            player_id: &identity.id,
            commitment: invitation.commitment.as_ref()?,
        })
    }

    /// Whether a new answer may be given. With two answers for one turn a referee could choose which one to report, and
    /// with two commitments of the opponent it could try nonces.
    pub(super) fn check_turn(
        &self,
        match_id: &MatchId,
        turn_ref: &TurnRef,
    ) -> Result<(), LeagueError> {
        let Some(known) = self.durable.find(match_id) else {
            return Ok(());
        };
        if known.moves_in(turn_ref.attempt).is_empty() {
            if known.moves.len() < ATTEMPTS_MAX {
                return Ok(());
            }
            let message =
                format!("this player takes part in at most {ATTEMPTS_MAX} attempts at a match");
            return Err(league_error(ErrorCode::InvalidState, message));
        }
        if self.signing(match_id, turn_ref.attempt).is_none() {
            return Ok(());
        }
        let moves = known.moves_in(turn_ref.attempt);
        if let Some(turn) = turn_ref.turn
            && moves
                .iter()
                .any(|made| made.turn.is_some_and(|earlier| earlier >= turn))
        {
            let message = format!(
                "turn: this player has answered another question for turn {turn} of {match_id}, or a later one"
            );
            return Err(league_error(ErrorCode::InvalidState, message));
        }
        if moves
            .iter()
            .any(|made| made.opponent_nonce != turn_ref.opponent_nonce)
        {
            let message = format!(
                "opponent_nonce_commitment: this attempt at {match_id} began with another one"
            );
            return Err(league_error(ErrorCode::InvalidState, message));
        }
        Ok(())
    }

    /// Adds nonce and signature to a choice and records it. `fallback` is why the external decider did not choose, if it
    /// was to.
    pub(super) fn sign_choice(
        &mut self,
        ctx: &mut Ctx<'_>,
        asked: &MoveQuestion,
        turn_ref: &TurnRef,
        value: Value,
        fallback: Option<&str>,
        usage: Option<Usage>,
    ) -> Choice {
        let nonce = self.nonce(ctx.entropy, &asked.match_id, turn_ref.attempt);
        let signature = self.signature(&asked.match_id, turn_ref, &nonce, &value);
        let choice = Choice {
            value,
            nonce,
            signature,
        };
        let event = PlayerEvent::Chosen {
            match_id: asked.match_id.clone(),
            round_id: asked.round_id,
            opponent_id: asked.opponent_id.clone(),
            question: asked.question.clone(),
            choice: choice.clone(),
            fallback: fallback.map(|why| why.chars().take(REASON_MAX).collect()),
            attempt: turn_ref.attempt,
            turn: turn_ref.turn,
            opponent_nonce_commitment: turn_ref.opponent_nonce,
            usage,
        };
        self.record(ctx, event);
        choice
    }

    /// The nonce of an attempt. A player without a key draws one with its first move and stores it with that.
    fn nonce(&self, entropy: &mut Entropy, match_id: &MatchId, attempt: Attempt) -> Nonce {
        let known = self.durable.find(match_id);
        if let Some(made) = known.and_then(|known| known.moves_in(attempt).first()) {
            return made.choice.nonce.clone();
        }
        let commitment =
            known.and_then(|known| known.invitations.get(&attempt)?.commitment.as_ref());
        let league_id = self
            .identity()
            .and_then(|identity| identity.league_id.as_ref());
        match (&self.keys, league_id) {
            (Some(keys), Some(league_id)) => keys.nonce(
                &MatchDraw {
                    league_id,
                    match_id,
                    attempt,
                },
                commitment,
            ),
            _ => Nonce(lower_hex::encode(&entropy.bytes::<16>())),
        }
    }

    fn signature(
        &self,
        match_id: &MatchId,
        turn_ref: &TurnRef,
        nonce: &Nonce,
        value: &Value,
    ) -> Option<Signature> {
        let Signing {
            keys,
            draw,
            player_id,
            commitment,
        } = self.signing(match_id, turn_ref.attempt)?;
        let before: &[Move] = self
            .durable
            .find(match_id)
            .map_or(&[], |known| known.moves_in(turn_ref.attempt));
        let choices = before
            .iter()
            .map(|made| &made.choice.value)
            .chain([value])
            .collect();
        let opponent_nonce = turn_ref.opponent_nonce.as_ref();
        let moves = SignedMoves {
            draw,
            player_id,
            commitment,
            opponent_nonce,
            nonce,
            choices,
        };
        Some(moves.sign(&keys.signing))
    }
}
