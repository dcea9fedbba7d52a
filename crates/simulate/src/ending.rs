//! How matches end, and how many ended so. Values only.

use crate::spread::Spread;
use matchday_core::game::{Outcome, Seat};
use matchday_stats::results::Wdl;
use serde::{Deserialize, Serialize};

/// How a match ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Won(Seat),
    Drawn,
    /// This seat did not move, so the other one has won.
    Forfeited(Seat),
    /// Neither moved, and both have lost.
    ForfeitedByBoth,
}

impl Ending {
    /// Who has the points of a win.
    pub fn winner(self) -> Option<Seat> {
        match self {
            Self::Won(seat) => Some(seat),
            Self::Forfeited(seat) => Some(seat.other()),
            Self::Drawn | Self::ForfeitedByBoth => None,
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

/// The matches of two entrants, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Seen from the first of the two. What was forfeited is won and lost here, as in a league.
    #[serde(flatten)]
    pub record: Wdl,
    /// Matches that both have lost; they are not in the record.
    pub lost_by_both: u64,
    /// How many of its matches each has lost without moving.
    pub forfeits: [u64; 2],
    /// How much the series differ that these matches were played in.
    #[serde(skip)]
    pub spread: Spread,
}

impl Tally {
    pub fn matches(&self) -> u64 {
        self.record.total().saturating_add(self.lost_by_both)
    }

    /// Takes in a match in which the first of the two had this seat.
    pub fn count(&mut self, ending: Ending, first: Seat) {
        match ending.winner() {
            Some(winner) if winner == first => self.record.wins += 1,
            Some(_) => self.record.losses += 1,
            None if ending == Ending::Drawn => self.record.draws += 1,
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
            Ending::Won(_) | Ending::Drawn => {}
        }
    }

    /// Takes in the matches of one series.
    pub fn add_series(&mut self, series: &Self) {
        let Wdl { wins, draws, losses } = series.record;
        let spread = Spread::of_series([wins, draws, losses, series.lost_by_both]);
        self.add(&Self { spread, ..*series });
    }

    pub fn add(&mut self, other: &Self) {
        self.spread.add(&other.spread);
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
    pub fn seen_from_the_other_side(&self) -> Self {
        let [own, theirs] = self.forfeits;
        Self {
            record: self.record.seen_from_the_other_side(),
            lost_by_both: self.lost_by_both,
            forfeits: [theirs, own],
            spread: self.spread.seen_from_the_other_side(),
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
            let Wdl { wins, draws, losses } = tally.record;
            ([wins, draws, losses, tally.lost_by_both], tally.forfeits)
        };
        let (a, b) = (Seat::A, Seat::B);
        for (ending, first, expected) in [
            (Ending::Won(a), a, ([1, 0, 0, 0], [0, 0])),
            (Ending::Won(a), b, ([0, 0, 1, 0], [0, 0])),
            (Ending::Drawn, b, ([0, 1, 0, 0], [0, 0])),
            (Ending::Forfeited(a), a, ([0, 0, 1, 0], [1, 0])),
            (Ending::Forfeited(a), b, ([1, 0, 0, 0], [0, 1])),
            (Ending::ForfeitedByBoth, a, ([0, 0, 0, 1], [1, 1])),
        ] {
            assert_eq!(counted(ending, first), expected, "{ending:?}, first at {first:?}");
        }
    }
}
