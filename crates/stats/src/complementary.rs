//! Do two players choose as if they had agreed to? In even/odd, opposite calls bring both 1.5 points on average, equal
//! calls only 1: two who call opposite whenever they meet gain on everyone else. Pure.

use crate::hypergeometric::Urn;
use crate::results::Calls;

/// The calls of two players, and how often they met and called opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// Over all their matches, also against others.
    pub a: Calls,
    pub b: Calls,
    pub met: u32,
    pub opposite: u32,
}

/// A chance that only rounding has left of none.
const NEVER: f64 = 1e-15;

impl Meeting {
    /// Whether the numbers can belong together: nobody has called less often than it met the other.
    pub fn is_possible(&self) -> bool {
        self.opposite <= self.met && self.met <= self.a.total().min(self.b.total())
    }

    /// How many opposite calls are to be expected if neither minds whom it meets.
    pub fn expected(&self) -> f64 {
        let share = |calls: Calls| f64::from(calls.even) / f64::from(calls.total().max(1));
        let (a, b) = (share(self.a), share(self.b));
        f64::from(self.met) * (a * (1.0 - b) + b * (1.0 - a))
    }

    /// The exact chance of at least so many opposite calls if neither minds whom it meets.
    ///
    /// It is a permutation test: each player's calls are dealt anew over its own matches, every way equally likely, and
    /// the ways are counted rather than tried. So a player who always calls even and one who always calls odd are
    /// nothing special: they are opposite whichever way their calls are dealt.
    pub fn p_value(&self) -> f64 {
        let dealt = |calls: Calls| Urn { balls: calls.total(), marked: calls.even, drawn: self.met };
        let mut p = 0.0;
        for (evens_a, chance_a) in dealt(self.a).chances() {
            for (evens_b, chance_b) in dealt(self.b).chances() {
                p += chance_a * chance_b * self.opposite_given(evens_a, evens_b);
            }
        }
        p.clamp(0.0, 1.0)
    }

    /// The smallest p-value that these players could have had: that of as many opposite calls as their calls allow.
    pub fn p_value_min(&self) -> f64 {
        let mut from_the_most = (0..=self.met).rev().map(|opposite| Self { opposite, ..*self }.p_value());
        from_the_most.find(|p| *p > NEVER).unwrap_or(1.0)
    }

    /// The chance of at least so many opposite calls if each of them called even so often when they met.
    fn opposite_given(&self, evens_a: u32, evens_b: u32) -> f64 {
        // Each match in which both call even takes away two opposite ones.
        let spare = i64::from(evens_a) + i64::from(evens_b) - i64::from(self.opposite);
        Urn { balls: self.met, marked: evens_a, drawn: evens_b }.at_most(spare.div_euclid(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn calls(even: u32, odd: u32) -> Calls {
        Calls { even, odd }
    }

    /// Every way to deal both players' calls over their matches, one by one; they meet in the first ones.
    fn counted(meeting: &Meeting) -> f64 {
        let ways = |calls: Calls| {
            let total = calls.total();
            (0_u32..1 << total).filter(move |way| way.count_ones() == calls.even)
        };
        let met = (1 << meeting.met) - 1;
        let (mut all, mut as_many) = (0_u32, 0_u32);
        for a in ways(meeting.a) {
            for b in ways(meeting.b) {
                all += 1;
                as_many += u32::from(((a ^ b) & met).count_ones() >= meeting.opposite);
            }
        }
        f64::from(as_many) / f64::from(all)
    }

    #[test]
    fn the_p_value_is_that_of_counting_every_way() {
        for (a, b) in [((4, 4), (5, 3)), ((2, 6), (6, 2)), ((0, 8), (7, 1)), ((3, 3), (4, 4))] {
            let (a, b) = (calls(a.0, a.1), calls(b.0, b.1));
            for met in 0..=6 {
                for opposite in 0..=met {
                    let meeting = Meeting { a, b, met, opposite };
                    let (exact, counted) = (meeting.p_value(), counted(&meeting));
                    assert!((exact - counted).abs() < 1e-9, "{meeting:?}: {exact} {counted}");
                }
            }
        }
    }

    #[test]
    fn stubborn_players_are_not_suspected_and_agreed_ones_are() {
        let stubborn = Meeting { a: calls(40, 0), b: calls(0, 40), met: 10, opposite: 10 };
        assert_eq!((stubborn.p_value(), stubborn.expected()), (1.0, 10.0));
        // Half and half against everyone, and always opposite to each other.
        let agreed = Meeting { a: calls(20, 20), b: calls(20, 20), met: 10, opposite: 10 };
        assert!(agreed.p_value() < 0.002, "{}", agreed.p_value());
        let once = Meeting { a: calls(20, 20), b: calls(20, 20), met: 1, opposite: 1 };
        assert!((once.p_value() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_two_players_could_not_have_called_is_not_their_smallest_p_value() {
        let both_even = Meeting { a: calls(9, 0), b: calls(9, 0), met: 1, opposite: 0 };
        assert_eq!(both_even.p_value_min(), 1.0);
        let nearly = Meeting { a: calls(9, 0), b: calls(8, 1), met: 2, opposite: 0 };
        assert!((nearly.p_value_min() - 2.0 / 9.0).abs() < 1e-12, "{}", nearly.p_value_min());
    }

    proptest! {
        #[test]
        fn more_opposite_calls_are_never_likelier(a in (0_u32..20, 0_u32..20), b in (0_u32..20, 0_u32..20), met in 0_u32..16) {
            let (a, b) = (calls(a.0, a.1), calls(b.0, b.1));
            let met = met.min(a.total()).min(b.total());
            let mut before = 1.0;
            for opposite in 0..=met {
                let p = Meeting { a, b, met, opposite }.p_value();
                prop_assert!(p <= before + 1e-9 && (0.0..=1.0).contains(&p), "{} after {}", p, before);
                before = p;
            }
        }
    }
}
