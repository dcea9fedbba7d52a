//! The Elo difference of two players, from wins, draws and losses, with its confidence interval. Pure.

use crate::normal::Z_95;
use crate::results::Wdl;
use serde::{Deserialize, Serialize};

/// A difference in Elo: 400 points are odds of ten to one. `None` where it is infinite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EloDifference {
    pub difference: Option<f64>,
    /// The 95 % confidence interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl EloDifference {
    /// `None` without a match.
    pub fn of(record: Wdl) -> Option<Self> {
        let [low, high] = score_interval(record)?;
        Some(Self {
            difference: of_score(score(record)?),
            low: of_score(low),
            high: of_score(high),
        })
    }
}

/// The mean score, with a draw as half a win; `None` without a match.
pub fn score(record: Wdl) -> Option<f64> {
    let total = record.total();
    (total > 0).then(|| (record.wins as f64 + record.draws as f64 / 2.0) / total as f64)
}

/// The 95 % confidence interval of the score. Without draws it is the interval of Wilson (1927). A draw reduces the
/// variance by a quarter; the share of draws is shrunk a little, so that a record of draws only has an interval of
/// positive width. `None` without a match.
pub fn score_interval(record: Wdl) -> Option<[f64; 2]> {
    let score = score(record)?;
    let n = record.total() as f64;
    let z2 = Z_95 * Z_95;
    let centre = (2.0 * n * score + z2) / (2.0 * (n + z2));
    let root = (4.0 * n * z2 * score * (1.0 - score) + z2 * z2 - z2 * record.draws as f64)
        .max(0.0)
        .sqrt();
    let half = root / (2.0 * (n + z2));
    Some([(centre - half).max(0.0), (centre + half).min(1.0)])
}

/// `None` if the difference is infinite.
pub fn of_score(score: f64) -> Option<f64> {
    // Scores of 0 and 1, up to rounding.
    let is_inside = score > 1e-12 && score < 1.0 - 1e-12;
    is_inside.then(|| -400.0 * libm::log10(1.0 / score - 1.0))
}

pub fn to_score(difference: f64) -> f64 {
    1.0 / (1.0 + libm::pow(10.0, -difference / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wdl(wins: u64, draws: u64, losses: u64) -> Wdl {
        Wdl {
            wins,
            draws,
            losses,
        }
    }

    fn close(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 1e-9)
    }

    /// Against `scipy.stats.binomtest(8, 10).proportion_ci(method="wilson")`, and similar.
    #[test]
    fn without_draws_the_interval_is_wilsons() {
        for (wins, losses, low, high) in [
            (8, 2, WILSON_8_OF_10[0], WILSON_8_OF_10[1]),
            (10, 0, WILSON_10_OF_10[0], WILSON_10_OF_10[1]),
        ] {
            let [found_low, found_high] = score_interval(wdl(wins, 0, losses)).unwrap();
            assert!(
                (found_low - low).abs() < 1e-9 && (found_high - high).abs() < 1e-9,
                "{found_low} {found_high}"
            );
        }
    }
    const WILSON_8_OF_10: [f64; 2] = [0.490_162_471_536_642_1, 0.943_317_848_545_625];
    const WILSON_10_OF_10: [f64; 2] = [0.722_467_200_137_110_7, 1.0];

    #[test]
    fn a_score_of_three_quarters_is_191_elo() {
        assert!(close(of_score(0.75), 190.848_501_887_864_95));
        assert_eq!(
            (of_score(0.5), of_score(1.0), of_score(0.0)),
            (Some(0.0), None, None)
        );
        assert_eq!(EloDifference::of(wdl(0, 0, 0)), None);
    }

    #[test]
    fn records_of_one_kind_only_still_leave_room() {
        let draws = EloDifference::of(wdl(0, 10, 0)).unwrap();
        assert_eq!(draws.difference, Some(0.0));
        assert!(
            draws.low.unwrap() < -50.0 && draws.high.unwrap() > 50.0,
            "{draws:?}"
        );
        let wins = EloDifference::of(wdl(10, 0, 0)).unwrap();
        assert_eq!((wins.difference, wins.high), (None, None));
        assert!(wins.low.unwrap() > 100.0, "{wins:?}");
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_score(wins in 0_u64..500, draws in 0_u64..500, losses in 0_u64..500) {
            prop_assume!(wins + draws + losses > 0);
            let record = wdl(wins, draws, losses);
            let [low, high] = score_interval(record).unwrap();
            let score = score(record).unwrap();
            prop_assert!(0.0 <= low && low <= score + 1e-12 && score <= high + 1e-12 && high <= 1.0);
            let [other_low, other_high] = score_interval(record.reversed()).unwrap();
            prop_assert!((low + other_high - 1.0).abs() < 1e-9 && (high + other_low - 1.0).abs() < 1e-9);
        }

        #[test]
        fn there_and_back_again(difference in -800.0..800.0) {
            prop_assert!(close(of_score(to_score(difference)), difference));
        }
    }
}
