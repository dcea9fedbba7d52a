//! How a choice becomes an answer that proves itself: the nonce of the attempt, and a signature over every move in it. A
//! player signs one choice for each turn of an attempt, and nothing for a referee that has changed its commitment.

use super::Player;
use super::answering::Asked;
use super::durable::{ATTEMPTS_MAX, Move};
use super::event::{Choice, PlayerEvent};
use super::keys::Keys;
use super::trust::{Refusal, refusal};
use crate::digits;
use crate::entropy::Entropy;
use crate::fair::{Commitment, MatchDraw, Nonce, NonceCommitment, Scheme};
use crate::protocol::messages::GameInvitation;
use crate::protocol::{Attempt, ErrorCode, LeagueId, MatchId, PlayerId};
use crate::signature::Signature;
use crate::signed_move::SignedMoves;
use serde_json::Value;

/// How many characters are kept of why the fallback chose.
const REASON_MAX: usize = 200;

/// The attempt and the turn that a question belongs to.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) attempt: Attempt,
    pub(super) turn: Option<u32>,
    /// What the opponent has bound itself to.
    pub(super) opponent_nonce: Option<NonceCommitment>,
}

/// What signatures in one attempt at a match have in common.
struct Signing<'a> {
    keys: &'a Keys,
    draw: MatchDraw<'a>,
    player_id: &'a PlayerId,
    commitment: &'a Commitment,
}

impl Player {
    /// An invitation must not take back what an earlier one to the same attempt promised.
    pub(super) fn believe_commitment(
        &self,
        attempt: Attempt,
        invitation: &GameInvitation,
    ) -> Result<(), Refusal> {
        let known = self.durable.find(&invitation.match_id);
        let promised = known.and_then(|known| known.invitations.get(&attempt)?.commitment.as_ref());
        match promised {
            Some(promised) if invitation.draw_commitment.as_ref() != Some(promised) => {
                let message = format!(
                    "draw_commitment: attempt {attempt} at {} began with another commitment, {}",
                    invitation.match_id, promised.0
                );
                Err(refusal(ErrorCode::InvalidState, message))
            }
            _ => Ok(()),
        }
    }

    /// What we bind ourselves to by joining; nothing where we do not sign, because the referee is an older one, or we have
    /// no key.
    pub(super) fn nonce_commitment(
        &self,
        attempt: Attempt,
        invitation: &GameInvitation,
    ) -> Option<NonceCommitment> {
        let scheme = invitation.draw_scheme.as_deref().and_then(Scheme::parse)?;
        let identity = self.identity()?;
        let league_id = identity.league_id.as_ref().filter(|own| **own == invitation.league_id)?;
        let commitment = invitation.draw_commitment.as_ref()?;
        let draw = MatchDraw { scheme, league_id, match_id: &invitation.match_id, attempt };
        if scheme != Scheme::Draw2 {
            return None;
        }
        let nonce = self.keys.as_ref()?.nonce(&draw, Some(commitment));
        Some(draw.nonce_commitment(&identity.id, &nonce))
    }

    fn signing<'a>(&'a self, match_id: &'a MatchId, attempt: Attempt) -> Option<Signing<'a>> {
        let invitation =
            self.durable.find(match_id)?.invitations.get(&attempt).filter(|known| known.signs)?;
        let identity = self.identity()?;
        let league_id: &LeagueId = identity.league_id.as_ref()?;
        Some(Signing {
            keys: self.keys.as_ref()?,
            draw: MatchDraw { scheme: Scheme::Draw2, league_id, match_id, attempt },
            player_id: &identity.id,
            commitment: invitation.commitment.as_ref()?,
        })
    }

    /// Whether an answer may be given here that was not given before. With two answers for one turn a referee could choose
    /// which one to report, and with two of the opponent's commitments it could try nonces.
    pub(super) fn believe_place(&self, match_id: &MatchId, place: &Place) -> Result<(), Refusal> {
        let Some(known) = self.durable.find(match_id) else {
            return Ok(());
        };
        if known.moves_in(place.attempt).is_empty() {
            if known.moves.len() < ATTEMPTS_MAX {
                return Ok(());
            }
            let message = format!("this player takes part in at most {ATTEMPTS_MAX} attempts at a match");
            return Err(refusal(ErrorCode::InvalidState, message));
        }
        if self.signing(match_id, place.attempt).is_none() {
            return Ok(());
        }
        let moves = known.moves_in(place.attempt);
        if let Some(turn) = place.turn
            && moves.iter().any(|made| made.turn.is_some_and(|earlier| earlier >= turn))
        {
            let message = format!(
                "turn: this player has answered another question for turn {turn} of {match_id}, or a later one"
            );
            return Err(refusal(ErrorCode::InvalidState, message));
        }
        if moves.iter().any(|made| made.opponent_nonce != place.opponent_nonce) {
            let message =
                format!("opponent_nonce_commitment: another one was told in this attempt at {match_id}");
            return Err(refusal(ErrorCode::InvalidState, message));
        }
        Ok(())
    }

    /// The choice as it is answered, and the event that keeps it. `fallback`: why the mind outside did not choose, if it
    /// was to.
    pub(super) fn settled(
        &self,
        entropy: &mut Entropy,
        asked: &Asked,
        place: &Place,
        value: Value,
        fallback: Option<&str>,
    ) -> (PlayerEvent, Choice) {
        let nonce = self.nonce(entropy, &asked.match_id, place.attempt);
        let signature = self.signature(&asked.match_id, place, &nonce, &value);
        let choice = Choice { value, nonce, signature };
        let event = PlayerEvent::Chosen {
            match_id: asked.match_id.clone(),
            round_id: asked.round_id,
            opponent_id: asked.opponent_id.clone(),
            question: asked.question.clone(),
            choice: choice.clone(),
            fallback: fallback.map(|why| why.chars().take(REASON_MAX).collect()),
            attempt: Some(place.attempt),
            turn: place.turn,
            opponent_nonce_commitment: place.opponent_nonce,
        };
        (event, choice)
    }

    /// The nonce of an attempt. Without a key of its own a player draws one with its first move, and stores it with that.
    fn nonce(&self, entropy: &mut Entropy, match_id: &MatchId, attempt: Attempt) -> Nonce {
        let known = self.durable.find(match_id);
        if let Some(made) = known.and_then(|known| known.moves_in(attempt).first()) {
            return made.choice.nonce.clone();
        }
        let commitment = known.and_then(|known| known.invitations.get(&attempt)?.commitment.as_ref());
        let league_id = self.identity().and_then(|identity| identity.league_id.as_ref());
        match (&self.keys, league_id) {
            (Some(keys), Some(league_id)) => {
                keys.nonce(&MatchDraw { scheme: Scheme::Draw2, league_id, match_id, attempt }, commitment)
            }
            _ => Nonce(digits::of(&entropy.bytes::<16>())),
        }
    }

    fn signature(
        &self,
        match_id: &MatchId,
        place: &Place,
        nonce: &Nonce,
        value: &Value,
    ) -> Option<Signature> {
        let Signing { keys, draw, player_id, commitment } = self.signing(match_id, place.attempt)?;
        let before: &[Move] = self.durable.find(match_id).map_or(&[], |known| known.moves_in(place.attempt));
        let choices = before.iter().map(|made| &made.choice.value).chain([value]).collect();
        let opponent_nonce = place.opponent_nonce.as_ref();
        let moves = SignedMoves { draw, player_id, commitment, opponent_nonce, nonce, choices };
        Some(moves.sign(&keys.signing))
    }
}
