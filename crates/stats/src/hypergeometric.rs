//! Drawing without putting back: how many of the drawn are marked. Pure.

/// An urn with marked and unmarked balls, from which some are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Urn {
    pub balls: u32,
    pub marked: u32,
    pub drawn: u32,
}

/// Chances below this are taken for none.
const NEGLIGIBLE: f64 = 1e-18;

impl Urn {
    /// What can come out: how many marked balls, and the chance of it. Without what is too unlikely to matter.
    pub fn chances(self) -> impl Iterator<Item = (u32, f64)> {
        self.support()
            .map(move |found| (found, self.chance(found)))
            .filter(|(_, chance)| *chance > NEGLIGIBLE)
    }

    /// The chance of exactly so many marked balls.
    pub fn chance(self, found: u32) -> f64 {
        if !self.support().contains(&found) {
            return 0.0;
        }
        let unmarked = self.balls - self.marked;
        let ways = ln_choose(self.marked, found) + ln_choose(unmarked, self.drawn - found);
        (ways - ln_choose(self.balls, self.drawn)).exp()
    }

    /// The chance of at most so many marked balls.
    pub fn at_most(self, found: i64) -> f64 {
        let counted = self.support().filter(|count| i64::from(*count) <= found);
        counted.map(|count| self.chance(count)).sum::<f64>().min(1.0)
    }

    fn support(self) -> std::ops::RangeInclusive<u32> {
        let unmarked = self.balls.saturating_sub(self.marked);
        if self.marked > self.balls || self.drawn > self.balls {
            #[allow(
                clippy::reversed_empty_ranges,
                reason = "there is no such urn, so nothing comes out of it"
            )]
            return 1..=0;
        }
        self.drawn.saturating_sub(unmarked)..=self.drawn.min(self.marked)
    }
}

/// The logarithm of the number of ways to choose `part` of `whole`.
fn ln_choose(whole: u32, part: u32) -> f64 {
    let ln_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    ln_factorial(whole) - ln_factorial(part) - ln_factorial(whole.saturating_sub(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Fisher's lady tasting tea (1935): 8 cups, 4 with the milk first, 4 named by her. All right by chance: 1 in 70.
    #[test]
    fn the_lady_tasting_tea() {
        let tea = Urn { balls: 8, marked: 4, drawn: 4 };
        for (found, ways) in [(0, 1.0), (1, 16.0), (2, 36.0), (3, 16.0), (4, 1.0)] {
            assert!((tea.chance(found) - ways / 70.0).abs() < 1e-12, "{found}");
        }
        assert!((tea.at_most(3) - 69.0 / 70.0).abs() < 1e-12);
        assert_eq!((tea.chance(5), tea.at_most(-1)), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn something_comes_out(balls in 0_u32..200, marked in 0_u32..200, drawn in 0_u32..200) {
            prop_assume!(marked <= balls && drawn <= balls);
            let all: f64 = Urn { balls, marked, drawn }.chances().map(|(_, chance)| chance).sum();
            prop_assert!((all - 1.0).abs() < 1e-9, "{all}");
        }
    }
}
