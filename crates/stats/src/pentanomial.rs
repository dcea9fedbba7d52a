//! Pairs of matches from the same start with swapped seats, by what the first player scored in both. What the seat and the
//! start are worth cancels out within a pair, so that pairs vary less than matches do. Pure.

use crate::elo::{EloDifference, of_score};
use crate::normal::Z_95;
use serde::{Deserialize, Serialize};

/// How many pairs the first player ended with 0, 1/2, 1, 3/2 and 2 points, a draw as half a point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pentanomial(pub [u64; 5]);

/// Normalised Elo for one standard deviation of a match.
const PER_DEVIATION: f64 = 800.0 / std::f64::consts::LN_10;

impl Pentanomial {
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Counts a pair by the half points of the first player, 0 to 4.
    pub fn count(&mut self, half_points: usize) {
        self.0
            .get_mut(half_points)
            .into_iter()
            .for_each(|count| *count += 1);
    }

    pub fn add(&mut self, other: &Self) {
        self.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(own, more)| *own += more);
    }

    #[must_use]
    pub fn reversed(&self) -> Self {
        let [none, half, one, more, two] = self.0;
        Self([two, more, one, half, none])
    }

    /// The mean score of a match and the variance of a pair's; `None` without a pair.
    fn moments(&self) -> Option<(f64, f64)> {
        let pairs = self.total() as f64;
        let of = |value: &dyn Fn(f64) -> f64| -> f64 {
            let scores = [0.0, 0.25, 0.5, 0.75, 1.0].into_iter().zip(self.0);
            scores
                .map(|(score, count)| count as f64 * value(score))
                .sum::<f64>()
                / pairs
        };
        let mean = (pairs > 0.0).then(|| of(&|score| score))?;
        Some((mean, of(&|score| (score - mean).powi(2))))
    }

    /// The difference in Elo, with an interval from the variation between pairs; `None` without a pair, or if all pairs
    /// have the same score, from which nothing is known of their variation.
    pub fn elo(&self) -> Option<EloDifference> {
        let (mean, variance) = self.moments().filter(|(_, variance)| *variance > 0.0)?;
        let half = Z_95 * (variance / self.total() as f64).sqrt();
        let [low, high] = [mean - half, mean + half].map(|score| score.clamp(0.0, 1.0));
        Some(EloDifference {
            difference: of_score(mean),
            low: of_score(low),
            high: of_score(high),
        })
    }

    /// The distance from an even score in standard deviations of a match, on a scale near that of Elo: how fast the
    /// difference can be measured, whatever the share of draws. `None` as for [`elo`](Self::elo).
    pub fn normalised_elo(&self) -> Option<EloDifference> {
        let (mean, variance) = self.moments().filter(|(_, variance)| *variance > 0.0)?;
        let distance = (mean - 0.5) / (2.0 * variance).sqrt();
        let half = Z_95 / (2.0 * self.total() as f64).sqrt();
        let [low, high] =
            [distance - half, distance + half].map(|value| Some(value * PER_DEVIATION));
        Some(EloDifference {
            difference: Some(distance * PER_DEVIATION),
            low,
            high,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against NumPy: scores 0, .25, .5, .75, 1 with counts 10, 40, 100, 60, 30.
    #[test]
    fn elo_and_normalised_elo_of_pairs() {
        let pairs = Pentanomial([10, 40, 100, 60, 30]);
        let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-6;
        let elo = pairs.elo().unwrap();
        assert!(
            close(elo.difference, ELO[0]) && close(elo.low, ELO[1]) && close(elo.high, ELO[2]),
            "{elo:?}"
        );
        let normalised = pairs.normalised_elo().unwrap();
        assert!(
            close(normalised.difference, NORMALISED[0]) && close(normalised.low, NORMALISED[1]),
            "{normalised:?}"
        );
        let other = pairs.reversed().elo().unwrap();
        assert!(
            close(other.difference, -ELO[0]) && close(other.low, -ELO[2]),
            "{other:?}"
        );
    }
    const ELO: [f64; 3] = [43.65778777002724, 21.25022106384741, 66.43309078865484];
    const NORMALISED: [f64; 2] = [60.78856450110571, 29.70707875430671];

    #[test]
    fn pairs_of_one_score_tell_nothing_of_their_variation() {
        assert_eq!(Pentanomial([0, 0, 7, 0, 0]).elo(), None);
        assert_eq!(Pentanomial::default().normalised_elo(), None);
    }
}
