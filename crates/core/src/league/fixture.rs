//! Rounds, matches and how they were decided, as the manager knows them. Values only.

use super::event::DecidedBy;
use super::format::Drawn;
use super::standings::Verdict;
use crate::protocol::Timestamp;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::messages::{Blame, Cause, GameStatus, MatchResult};
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
    /// How many attempts had been made when the operator last struck its result: none of them counts any more.
    pub struck: usize,
    pub decision: Option<Decision>,
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
