//! Counts the different games of a pair, up to a bound. Strategies without chance play one game from each opening and
//! seat, however often they meet: more matches of that kind tell nothing. Values only.

use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistinctGames {
    /// Hashes of the moves, by whether the first entrant had seat A.
    seen: BTreeSet<(bool, u64)>,
    bound: usize,
    /// Whether there are more than the bound, or chance is part of the game.
    more: bool,
}

impl DistinctGames {
    /// From each opening there is one game for each seat.
    pub fn of_openings(openings: usize) -> Self {
        Self {
            seen: BTreeSet::new(),
            bound: 2 * openings.max(1),
            more: false,
        }
    }

    pub fn add(&mut self, first_is_a: bool, moves: Option<u64>) {
        if self.more {
            return;
        }
        self.seen.extend(moves.map(|moves| (first_is_a, moves)));
        self.settle(moves.is_none());
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if !self.more {
            self.seen.extend(other.seen.iter().copied());
            self.settle(other.more);
        }
    }

    fn settle(&mut self, more: bool) {
        self.more = more || self.seen.len() > self.bound;
        if self.more {
            self.seen = BTreeSet::new();
        }
    }

    /// How many different games there were, if so many matches repeated one another.
    pub fn replayed(&self, matches: u64) -> Option<u64> {
        let different = self.seen.len() as u64;
        (!self.more && different > 0 && matches > different).then_some(different)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_that_repeat_are_counted_and_others_are_not() {
        let mut one = DistinctGames::of_openings(0);
        (0..10).for_each(|number| one.add(number % 2 == 0, Some(7)));
        assert_eq!((one.replayed(10), one.replayed(2)), (Some(2), None));
        let mut other = DistinctGames::of_openings(0);
        other.add(true, Some(8));
        one.merge(&other);
        assert_eq!(
            one.replayed(11),
            None,
            "three games from one start: somebody plays by chance"
        );
        let mut drawn = DistinctGames::of_openings(0);
        drawn.add(true, None);
        assert_eq!(drawn.replayed(1), None);
    }
}
