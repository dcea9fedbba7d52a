//! Sample size: how many more matches would tell two players apart. Pure.

use crate::normal::{Z_80, Z_95_ONE_SIDED};
use crate::null_model::ResultProbabilities;

pub const MATCHES_MAX: u64 = 1_000_000;

/// The probability from which on it counts as known which of two players is better.
pub const SETTLED: f64 = 0.95;

/// The number of matches after which a one-sided test at 95 % finds the better player with a power of 80 %, given the
/// probabilities of the first. `None` if that is more than [`MATCHES_MAX`].
pub fn matches_needed(chance: ResultProbabilities) -> Option<u64> {
    let lead = chance.win - chance.loss;
    let variance = chance.win + chance.loss - lead * lead;
    let matches = ((Z_95_ONE_SIDED + Z_80).powi(2) * variance / (lead * lead)).ceil();
    // Also false for NaN, without a difference.
    (matches <= MATCHES_MAX as f64).then_some((matches as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chance(win: f64, draw: f64) -> ResultProbabilities {
        ResultProbabilities {
            win,
            draw,
            loss: 1.0 - win - draw,
        }
    }

    /// The usual sample size for a proportion of 0.6 against 0.5 is 6.1826 * 0.96 / 0.04 = 148.4.
    #[test]
    fn a_lead_of_60_to_40_takes_149_matches() {
        assert_eq!(matches_needed(chance(0.6, 0.0)), Some(149));
        assert_eq!(matches_needed(chance(1.0, 0.0)), Some(1));
    }

    #[test]
    fn no_number_settles_what_is_equal() {
        assert_eq!(matches_needed(chance(0.25, 0.5)), None);
        assert_eq!(matches_needed(chance(0.0, 1.0)), None);
        assert_eq!(matches_needed(chance(0.500_01, 0.0)), None);
    }

    proptest! {
        #[test]
        fn a_larger_lead_needs_fewer_and_sides_are_alike(lead in 0.02..0.4, more in 0.01..0.1, draw in 0.0..0.5) {
            let of = |lead: f64| matches_needed(chance((1.0 - draw + lead) / 2.0, draw));
            prop_assert!(of(lead) >= of(lead + more));
            prop_assert_eq!(of(lead).map(|n| n as f64), of(-lead).map(|n| n as f64));
        }
    }
}
