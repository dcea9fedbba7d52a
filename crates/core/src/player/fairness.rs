//! The player's verification of a draw against the referee's commitment.

use super::durable::Match;
use crate::fair::{Unfair, verify};
use crate::game::past::DrawCheck;
use crate::protocol::draw::Commitment;
use crate::protocol::messages::{GameDetails, GameResult, Parity, Role};
use crate::protocol::{Attempt, LeagueId, MatchId, PlayerId};
use std::ops::RangeInclusive;

/// The numbers of even/odd.
const NUMBERS: RangeInclusive<u32> = 1..=10;

/// The player's record of a match, and the commitment from its invitation.
pub(super) struct DrawCommitment<'a> {
    pub(super) league: Option<&'a LeagueId>,
    pub(super) match_id: &'a MatchId,
    pub(super) attempt: Attempt,
    pub(super) own_id: &'a PlayerId,
    pub(super) known: &'a Match,
    pub(super) commitment: &'a Commitment,
}

impl DrawCommitment<'_> {
    pub(super) fn check(&self, result: &GameResult) -> DrawCheck {
        let GameDetails::Parity(details) = &result.details else {
            return DrawCheck::NotPromised;
        };
        let Some(number) = details.drawn_number else {
            return DrawCheck::NotPromised;
        };
        let (Some(reveal), Some(league)) = (&result.fairness, self.league) else {
            return DrawCheck::Unproven;
        };
        let Some(opponent) = &self.known.opponent_id else {
            return DrawCheck::Unproven;
        };
        let (a, b) = match self.known.role {
            Some(Role::PlayerB) => (opponent, self.own_id),
            _ => (self.own_id, opponent),
        };
        let mut dice = match verify(reveal, league, self.match_id, self.attempt, a, b) {
            Ok(dice) => dice,
            Err(Unfair::Scheme(_)) => return DrawCheck::Unproven,
            Err(_) => return DrawCheck::Broken,
        };
        // The reveal is consistent; it must also match the commitment and our own nonce and choice.
        let promised = reveal.commitment == *self.commitment;
        let ours = reveal.nonces.get(self.own_id);
        let moves = self.known.moves_in(self.attempt);
        let given = moves.iter().any(|made| {
            let shown = made
                .opponent_nonce
                .as_ref()
                .is_none_or(|shown| reveal.nonce_commitment(opponent) == Some(shown));
            Some(&made.choice.nonce) == ours && shown
        });
        let reported = details.choices.get(self.own_id).copied().flatten();
        let chosen = moves
            .iter()
            .any(|made| made.choice.value.as_str() == reported.map(Parity::as_str));
        let drawn = dice.uniform(NUMBERS) == u32::from(number);
        let named = details.number_parity == Some(Parity::of(number));
        if promised && given && chosen && drawn && named {
            DrawCheck::Proven
        } else {
            DrawCheck::Broken
        }
    }
}
