//! Rounds, matches and their decisions in the manager's state.

use super::format::DrawnRound;
use super::standings::Verdict;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::messages::{Blame, Cause, GameDetails, GameStatus, MatchResult};
use crate::protocol::{Timestamp, UntrustedText};
use crate::signature::PublicKey;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A round of the league.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// CountedMatch from 1, in the order of play.
    pub round_id: RoundId,
    /// In the order of the pairs.
    pub matches: Vec<MatchId>,
    /// The player that sits out, if it is exactly one.
    pub bye: Option<PlayerId>,
    /// How it was drawn, if it was not fixed at the start.
    pub drawn: Option<Arc<DrawnRound>>,
    /// When its matches may begin; `None` until it is announced.
    pub starts_at: Option<Timestamp>,
    /// Whether every match of the round has a result.
    pub completed: bool,
}

/// A match of the league, from its draw to its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Its index among all matches.
    pub number: usize,
    /// The round that it belongs to.
    pub round_id: RoundId,
    /// PLAYER_A of the messages.
    pub a: PlayerId,
    /// PLAYER_B of the messages.
    pub b: PlayerId,
    /// The planned referee, once the round is announced.
    pub planned: Option<RefereeId>,
    /// The referee of each attempt, in order: attempt 1 is the first entry.
    pub attempts: Vec<RefereeId>,
    /// Players that forfeit the current attempt, and why.
    pub forfeits: Vec<(PlayerId, Cause)>,
    /// Whether a referee has it now.
    pub in_play: bool,
    /// How many attempts were handed back.
    pub returned: u32,
    /// The attempts that were lost after they had begun, in order: each may have been a chance to draw again.
    pub lost: Vec<LostAttempt>,
    /// The public keys of A and B at the time of the assignment: a key that is registered later must not make a report
    /// invalid.
    pub keys: Option<Box<[Option<PublicKey>; 2]>>,
    /// How many attempts had been made when the operator last voided its result: none of them counts.
    pub voided_attempts: usize,
    /// `None` until there is a result, and again after the operator has voided it.
    pub decision: Option<Decision>,
}

/// An attempt that ended without a result after it had begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostAttempt {
    /// CountedMatch from 1.
    pub attempt: Attempt,
    /// The referee that ran the attempt.
    pub referee_id: RefereeId,
    /// Whether its report is no longer accepted, because it was handed back or reported invalidly. One that was only
    /// overdue may still report, if it is the first.
    pub is_void: bool,
    /// Why it was lost, as the referee or the manager put it.
    pub reason: UntrustedText,
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
            voided_attempts: 0,
            decision: None,
        }
    }

    /// The current attempt; `None` until the match is assigned.
    pub fn attempt(&self) -> Option<Attempt> {
        u32::try_from(self.attempts.len())
            .ok()
            .filter(|count| *count > 0)
            .map(Attempt)
    }

    /// The referee of the current attempt.
    pub fn referee(&self) -> Option<&RefereeId> {
        self.attempts.last()
    }

    /// How many attempts this referee lost after they had begun.
    pub fn lost_attempts(&self, referee: &RefereeId) -> usize {
        self.lost
            .iter()
            .filter(|lost| lost.referee_id == *referee)
            .count()
    }

    /// Whether the report of this attempt is no longer accepted.
    pub fn is_void(&self, attempt: Attempt) -> bool {
        self.lost
            .iter()
            .any(|lost| lost.attempt == attempt && lost.is_void)
    }

    /// Whether the player is A or B.
    pub fn has(&self, player: &PlayerId) -> bool {
        self.a == *player || self.b == *player
    }

    /// The other player; A for someone who is not in the match.
    pub fn opponent(&self, player: &PlayerId) -> &PlayerId {
        if self.a == *player { &self.b } else { &self.a }
    }
}

/// Whether a result is more than its referee's word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultProof {
    /// Each player with a key has signed its moves, and draw, winner and details follow from what was revealed.
    Proven,
    /// A player in it had a key, and the result is its referee's word.
    Unproven,
    /// No player in it had a key; or it was not played out: nobody can prove that a player was silent.
    #[default]
    Unprovable,
}

impl ResultProof {
    /// As exports and pages give it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Unproven => "unproven",
            Self::Unprovable => "unprovable",
        }
    }

    pub(super) fn is_unprovable(&self) -> bool {
        *self == Self::Unprovable
    }
}

/// The result of a match, and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Win, draw or technical loss.
    pub status: GameStatus,
    /// As it is told to everyone.
    pub result: Arc<MatchResult>,
    /// The referee of the attempt, or the manager.
    pub by: DecidedBy,
    /// The attempt that gave the result.
    pub attempt: Attempt,
    /// Whether it is more than the referee's word.
    pub proof: ResultProof,
    /// When the manager recorded it, by its own clock.
    pub at: Timestamp,
}

impl Decision {
    /// The outcome, and whether it was a technical loss.
    pub(super) fn counted(&self, fixture: &Match) -> (Verdict, bool) {
        (
            self.verdict(fixture),
            self.status == GameStatus::TechnicalLoss,
        )
    }

    /// The outcome, from the result alone.
    pub fn verdict(&self, fixture: &Match) -> Verdict {
        match &self.result.winner {
            Some(winner) if *winner == fixture.a => Verdict::WonByA,
            Some(_) => Verdict::WonByB,
            None if self.status == GameStatus::TechnicalLoss => Verdict::LostByBoth,
            None => Verdict::Drawn,
        }
    }

    /// The points of the game itself that a player has from the match, if the game has any.
    pub fn payoff(&self, player: &PlayerId) -> Option<u32> {
        match &self.result.details.game {
            GameDetails::Other(details) => {
                u32::try_from(details.get("totals")?.get(player.as_str())?.as_u64()?).ok()
            }
            GameDetails::Parity(_) => None,
        }
    }

    /// The cause of a player's technical loss, if it had one. Foreign referees do not state it.
    pub fn blame(&self, player: &PlayerId) -> Option<Blame> {
        let lost =
            self.status == GameStatus::TechnicalLoss && self.result.winner.as_ref() != Some(player);
        let told = self
            .result
            .details
            .blame
            .as_ref()
            .and_then(|blame| blame.get(player));
        lost.then(|| {
            told.cloned()
                .unwrap_or_else(|| Blame::on_player(Cause::Unstated))
        })
    }
}

/// Who decided a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// By the report of its last attempt.
    Referee(RefereeId),
    /// Forfeited without a referee, because a player was suspended or withdrawn and no referee could be assigned.
    Manager,
}

impl DecidedBy {
    /// The referee's id, or the manager's role.
    pub fn id(&self) -> &str {
        match self {
            Self::Referee(id) => id.as_str(),
            Self::Manager => "league_manager",
        }
    }
}
