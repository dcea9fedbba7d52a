//! Rounds, matches and how they were decided, as the manager knows them. Values only.

use super::event::DecidedBy;
use super::format::Drawn;
use super::handing_back::ATTEMPTS_PER_REFEREE_MAX;
use super::member::Member;
use super::standings::Verdict;
use crate::protocol::Timestamp;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::messages::{Blame, Cause, GameStatus, MatchResult, RefereeMeta};
use crate::signature::PublicKey;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    pub round_id: RoundId,
    pub matches: Vec<MatchId>,
    pub bye: Option<PlayerId>,
    /// How it was drawn, if it was not drawn up at the start with all others.
    pub drawn: Option<Arc<Drawn>>,
    /// When its matches may begin; `None` until it is announced.
    pub starts_at: Option<Timestamp>,
    pub completed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Its place among all matches.
    pub number: usize,
    pub round_id: RoundId,
    pub a: PlayerId,
    pub b: PlayerId,
    /// The referee that is to have it, once the round is announced.
    pub planned: Option<RefereeId>,
    /// Every referee it was given to, in order: the number of an attempt is its place here.
    pub attempts: Vec<RefereeId>,
    /// Who loses the present attempt without play, and why.
    pub forfeits: Vec<(PlayerId, Cause)>,
    /// Whether a referee is at it.
    pub in_play: bool,
    /// How many attempts were handed back, because its referee could not play it.
    pub returned: u32,
    /// The attempts that were lost after they had begun, in order: each might have been a chance to draw again.
    pub lost: Vec<LostAttempt>,
    /// The public keys of A and B as they were when the match was given to its referee: a player that registers another
    /// one meanwhile does not make a report wrong.
    pub keys: Option<Box<[Option<PublicKey>; 2]>>,
    /// How many attempts had been made when the operator last struck its result: none of them counts any more.
    pub struck: usize,
    pub decision: Option<Decision>,
}

/// An attempt that came to nothing after it had begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostAttempt {
    pub attempt: Attempt,
    pub referee_id: RefereeId,
    /// Whether no result of it is taken any more: its referee gave it back, or reported what cannot be. One that was only
    /// late may still report, if it is the first to do so.
    pub is_void: bool,
}

impl Match {
    pub(super) fn new(round_id: RoundId, a: PlayerId, b: PlayerId) -> Self {
        Self {
            number: 0,
            round_id,
            a,
            b,
            planned: None,
            attempts: Vec::new(),
            forfeits: Vec::new(),
            in_play: false,
            returned: 0,
            lost: Vec::new(),
            keys: None,
            struck: 0,
            decision: None,
        }
    }

    pub fn attempt(&self) -> Option<Attempt> {
        u32::try_from(self.attempts.len()).ok().filter(|count| *count > 0).map(Attempt)
    }

    /// The referee that has it now.
    pub fn referee(&self) -> Option<&RefereeId> {
        self.attempts.last()
    }

    /// How many attempts of this referee came to nothing after it had begun them.
    pub fn lost_attempts(&self, referee: &RefereeId) -> usize {
        self.lost.iter().filter(|lost| lost.referee_id == *referee).count()
    }

    /// Whether nobody is left to play it: a referee has lost it as often as one may, and so has every other that answers.
    pub fn is_exhausted(&self, referees: &BTreeMap<RefereeId, Member<RefereeMeta>>) -> bool {
        let is_used_up = |id: &RefereeId| self.lost_attempts(id) >= ATTEMPTS_PER_REFEREE_MAX;
        let mut fit =
            referees.iter().filter(|(_, known)| !known.revoked && (!known.is_suspended() || known.barred));
        referees.keys().any(is_used_up) && fit.all(|(id, _)| is_used_up(id))
    }

    /// Whether no result of this attempt is taken any more.
    pub fn is_void(&self, attempt: Attempt) -> bool {
        self.lost.iter().any(|lost| lost.attempt == attempt && lost.is_void)
    }

    pub fn has(&self, player: &PlayerId) -> bool {
        self.a == *player || self.b == *player
    }

    pub fn opponent(&self, player: &PlayerId) -> &PlayerId {
        if self.a == *player { &self.b } else { &self.a }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub status: GameStatus,
    pub result: Arc<MatchResult>,
    pub by: DecidedBy,
    pub attempt: Attempt,
    pub at: Timestamp,
}

impl Decision {
    /// How it counts: who won, and whether whoever lost did so without playing.
    pub(super) fn counted(&self, game: &Match) -> (Verdict, bool) {
        (self.verdict(game), self.status == GameStatus::TechnicalLoss)
    }

    /// Who won, read from the result alone.
    pub fn verdict(&self, game: &Match) -> Verdict {
        match &self.result.winner {
            Some(winner) if *winner == game.a => Verdict::WonByA,
            Some(_) => Verdict::WonByB,
            None if self.status == GameStatus::TechnicalLoss => Verdict::LostByBoth,
            None => Verdict::Drawn,
        }
    }

    /// Why a player lost without play, if it did. Referees of another make do not say.
    pub fn blame(&self, player: &PlayerId) -> Option<Blame> {
        let lost = self.status == GameStatus::TechnicalLoss && self.result.winner.as_ref() != Some(player);
        let told = self.result.details.blame.as_ref().and_then(|blame| blame.get(player));
        lost.then(|| told.cloned().unwrap_or_else(|| Blame::on_player(Cause::Unstated)))
    }
}
