//! How matches end, and counts of it. Values only.

use crate::game_log::GameLog;
use crate::payoff_sums::PayoffSums;
use crate::series_variance::SeriesVariance;
use matchday_core::game::{Outcome, Seat};
use matchday_runtime::decider::FailureKind;
use matchday_stats::pentanomial::Pentanomial;
use matchday_stats::results::Wdl;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Won(Seat),
    Drawn,
    /// This seat forfeited, so the other one wins.
    Forfeited(Seat),
    /// Both forfeited, and both lose.
    ForfeitedByBoth,
    /// A model's server failed in every attempt: nobody wins or loses.
    NotPlayed,
}

impl Ending {
    pub fn winner(self) -> Option<Seat> {
        match self {
            Self::Won(seat) => Some(seat),
            Self::Forfeited(seat) => Some(seat.other()),
            Self::Drawn | Self::ForfeitedByBoth | Self::NotPlayed => None,
        }
    }

    /// Twice the score of a seat; `None` if both lost.
    pub fn half_points(self, seat: Seat) -> Option<usize> {
        match self.winner() {
            Some(winner) => Some(if winner == seat { 2 } else { 0 }),
            None => (self == Self::Drawn).then_some(1),
        }
    }
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Win(seat) => Self::Won(seat),
            Outcome::Draw => Self::Drawn,
        }
    }
}

/// A match that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    pub ending: Ending,
    /// What the game itself paid A and B, in games that do.
    pub payoffs: Option<[u32; 2]>,
    /// A hash of all moves; `None` if chance was part of the game.
    pub moves: Option<u64>,
    /// Why A and B forfeited, if they did.
    pub failures: [Option<FailureKind>; 2],
    /// How many attempts before this one a model's server failed.
    pub voided: u32,
    /// What happened in it, if that was asked for.
    pub log: Option<GameLog>,
}

/// A match between the entrants of these numbers, in the seats A and B.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meeting {
    pub players: [usize; 2],
    pub played: Played,
}

/// The results of the matches of two entrants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// From the first entrant's point of view. Forfeits count as wins and losses, as in a league.
    #[serde(flatten)]
    pub record: Wdl,
    /// Matches that both lost; not in the record.
    pub lost_by_both: u64,
    /// How many matches each has forfeited.
    pub forfeits: [u64; 2],
    /// Pairs of matches with swapped seats; without those that both lost.
    #[serde(default)]
    pub pairs: Pentanomial,
    /// What the game paid each, if its tables go by that.
    #[serde(skip)]
    pub payoffs: [PayoffSums; 2],
    /// The variation between series.
    #[serde(skip)]
    pub variation: SeriesVariance,
}

impl Tally {
    pub fn matches(&self) -> u64 {
        self.record.total().saturating_add(self.lost_by_both)
    }

    /// Counts a match in which the first entrant had this seat.
    pub fn count(&mut self, ending: Ending, first: Seat) {
        match ending.winner() {
            Some(winner) if winner == first => self.record.wins += 1,
            Some(_) => self.record.losses += 1,
            None if ending == Ending::Drawn => self.record.draws += 1,
            None if ending == Ending::NotPlayed => {}
            None => self.lost_by_both += 1,
        }
        let [own, theirs] = &mut self.forfeits;
        match ending {
            Ending::Forfeited(seat) if seat == first => *own += 1,
            Ending::Forfeited(_) => *theirs += 1,
            Ending::ForfeitedByBoth => {
                *own += 1;
                *theirs += 1;
            }
            Ending::Won(_) | Ending::Drawn | Ending::NotPlayed => {}
        }
    }

    /// Counts what a match paid the first entrant, who had this seat, and the other one.
    pub fn pay(&mut self, payoffs: [u32; 2], first: Seat) {
        let [own, theirs] = &mut self.payoffs;
        own.pay(*first.of(&payoffs));
        theirs.pay(*first.other().of(&payoffs));
    }

    /// Counts a match of a sequence in which each two matches have swapped seats. `before` is what the first entrant scored
    /// in the first of two.
    pub fn count_swapped(
        &mut self,
        ending: Ending,
        first: Seat,
        before: &mut Option<Option<usize>>,
    ) {
        self.count(ending, first);
        let scored = ending.half_points(first);
        match before.take() {
            None => *before = Some(scored),
            Some(before) => {
                before
                    .zip(scored)
                    .into_iter()
                    .for_each(|(one, other)| self.pairs.count(one + other));
            }
        }
    }

    /// Adds the matches of one series, or of two with swapped seats.
    pub fn add_series(&mut self, series: &Self) {
        let Wdl {
            wins,
            draws,
            losses,
        } = series.record;
        let variation = SeriesVariance::of_series([wins, draws, losses, series.lost_by_both]);
        self.add(&Self {
            variation,
            payoffs: series.payoffs.map(PayoffSums::as_series),
            ..*series
        });
    }

    pub fn add(&mut self, other: &Self) {
        self.variation.add(&other.variation);
        for (sums, more) in self.payoffs.iter_mut().zip(&other.payoffs) {
            sums.add(more);
        }
        self.pairs.add(&other.pairs);
        self.record.wins += other.record.wins;
        self.record.draws += other.record.draws;
        self.record.losses += other.record.losses;
        self.lost_by_both += other.lost_by_both;
        let [own, theirs] = &mut self.forfeits;
        let [more_own, more_theirs] = other.forfeits;
        *own += more_own;
        *theirs += more_theirs;
    }

    #[must_use]
    pub fn reversed(&self) -> Self {
        let [own, theirs] = self.forfeits;
        let [paid, paid_to_other] = self.payoffs;
        Self {
            payoffs: [paid_to_other, paid],
            record: self.record.reversed(),
            lost_by_both: self.lost_by_both,
            forfeits: [theirs, own],
            pairs: self.pairs.reversed(),
            variation: self.variation.reversed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_counts_for_the_seat_that_the_first_had() {
        let counted = |ending, first| {
            let mut tally = Tally::default();
            tally.count(ending, first);
            let Wdl {
                wins,
                draws,
                losses,
            } = tally.record;
            ([wins, draws, losses, tally.lost_by_both], tally.forfeits)
        };
        let a = Seat::A;
        let b = Seat::B;
        for (ending, first, expected) in [
            (Ending::Won(a), a, ([1, 0, 0, 0], [0, 0])),
            (Ending::Won(a), b, ([0, 0, 1, 0], [0, 0])),
            (Ending::Drawn, b, ([0, 1, 0, 0], [0, 0])),
            (Ending::Forfeited(a), a, ([0, 0, 1, 0], [1, 0])),
            (Ending::Forfeited(a), b, ([1, 0, 0, 0], [0, 1])),
            (Ending::ForfeitedByBoth, a, ([0, 0, 0, 1], [1, 1])),
        ] {
            assert_eq!(
                counted(ending, first),
                expected,
                "{ending:?}, first at {first:?}"
            );
        }
    }
}
