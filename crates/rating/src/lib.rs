//! Glicko-2 ratings. Pure, and the same to the last digit on every machine: a ladder is paired by them, and a check of
//! its log must get the same pairs. So exponentials and logarithms are those of `libm`, not of the system.
//!
//! After Mark Glickman, "Example of the Glicko-2 system" (2013), with the paper's numbering of steps.

use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Rating points per unit of the internal scale.
const SCALE: f64 = 173.7178;
const RATING_START: f64 = 1500.0;
/// Constrains the change of volatility: small, because an agent changes little during a league.
const TAU: f64 = 0.5;
const PRECISION: f64 = 1e-6;

/// A player's rating, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// 1500 before the first match.
    pub rating: f64,
    /// The standard deviation of the rating.
    pub deviation: f64,
    /// How much the rating is expected to change from one rating period to the next.
    pub volatility: f64,
}

impl Default for Rating {
    fn default() -> Self {
        Self {
            rating: RATING_START,
            deviation: 350.0,
            volatility: 0.06,
        }
    }
}

impl Rating {
    /// The rating after a rating period with these matches: opponent and score (1, 1/2 or 0).
    #[must_use]
    pub fn after(self, matches: &[(Rating, f64)]) -> Self {
        let mu = self.mu();
        let phi = self.phi();
        if matches.is_empty() {
            let phi = hypotenuse(phi, self.volatility);
            return Self {
                deviation: (phi * SCALE).min(Self::default().deviation),
                ..self
            };
        }
        // Step 3: the information in the matches; step 4: the summed surprise.
        let mut told = 0.0;
        let mut pointed = 0.0;
        for (opponent, score) in matches {
            let weight = opponent.weight();
            let expected = 1.0 / (1.0 + libm::exp(-weight * (mu - opponent.mu())));
            told += weight * weight * expected * (1.0 - expected);
            pointed += weight * (score - expected);
        }
        let variance = 1.0 / told;
        let volatility = new_volatility(self.volatility, phi, variance, variance * pointed);
        // Steps 6 and 7.
        let before = hypotenuse(phi, volatility);
        let phi = 1.0 / (1.0 / (before * before) + told).sqrt();
        let mu = mu + phi * phi * pointed;
        Self {
            rating: mu * SCALE + RATING_START,
            deviation: phi * SCALE,
            volatility,
        }
    }

    /// Step 3: how much a match against this opponent tells.
    fn weight(self) -> f64 {
        1.0 / (1.0 + 3.0 * self.phi() * self.phi() / (PI * PI)).sqrt()
    }

    fn mu(self) -> f64 {
        (self.rating - RATING_START) / SCALE
    }

    fn phi(self) -> f64 {
        self.deviation / SCALE
    }
}

/// Only square roots are exact on every machine.
fn hypotenuse(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}

/// Step 5: the new volatility, by the Illinois algorithm as in the paper.
fn new_volatility(volatility: f64, phi: f64, variance: f64, delta: f64) -> f64 {
    let centre = libm::log(volatility * volatility);
    let f = |x: f64| {
        let spread = phi * phi + variance + libm::exp(x);
        libm::exp(x) * (delta * delta - spread) / (2.0 * spread * spread)
            - (x - centre) / (TAU * TAU)
    };
    let mut a = centre;
    let surprise = delta * delta - phi * phi - variance;
    let mut b = if surprise > 0.0 {
        libm::log(surprise)
    } else {
        let below = (1..1000)
            .map(|k| centre - f64::from(k) * TAU)
            .find(|x| f(*x) >= 0.0);
        below.unwrap_or(centre)
    };
    let mut f_a = f(a);
    let mut f_b = f(b);
    while (b - a).abs() > PRECISION {
        let c = a + (a - b) * f_a / (f_b - f_a);
        let f_c = f(c);
        if f_c * f_b <= 0.0 {
            (a, f_a) = (b, f_b);
        } else {
            f_a /= 2.0;
        }
        (b, f_b) = (c, f_c);
    }
    libm::exp(a / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rating(rating: f64, deviation: f64) -> Rating {
        Rating {
            rating,
            deviation,
            volatility: 0.06,
        }
    }

    /// The worked example of the paper: 1464.06, 151.52 and 0.05999.
    #[test]
    fn glickmans_own_example() {
        let matches = [
            (rating(1400.0, 30.0), 1.0),
            (rating(1550.0, 100.0), 0.0),
            (rating(1700.0, 300.0), 0.0),
        ];
        let after = rating(1500.0, 200.0).after(&matches);
        assert!((after.rating - 1464.06).abs() < 0.01, "{after:?}");
        assert!((after.deviation - 151.52).abs() < 0.01, "{after:?}");
        assert!((after.volatility - 0.05999).abs() < 0.00001, "{after:?}");
    }

    /// Step 6 of the paper: without a match the deviation grows, up to the initial one.
    #[test]
    fn a_player_who_sits_out_becomes_less_certain() {
        let rested = rating(1600.0, 100.0).after(&[]);
        let expected = SCALE * ((100.0 / SCALE).powi(2) + 0.06 * 0.06_f64).sqrt();
        assert!(
            (rested.deviation - expected).abs() < 1e-9 && rested.rating == 1600.0,
            "{rested:?}"
        );
        assert_eq!(Rating::default().after(&[]), Rating::default());
    }

    proptest! {
        #[test]
        fn a_better_score_never_gives_a_lower_rating(start in 800.0..2200.0, deviation in 30.0..350.0, opponent in 800.0..2200.0) {
            let after = |score| rating(start, deviation).after(&[(rating(opponent, 80.0), score)]).rating;
            prop_assert!(after(0.0) < after(0.5) && after(0.5) < after(1.0));
        }
    }
}
