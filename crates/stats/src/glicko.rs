//! Glicko-2 ratings, updated after every round: a round is a rating period. Pure.
//!
//! After Mark Glickman, "Example of the Glicko-2 system" (2013), with the paper's numbering of steps.

use crate::normal::Z_95;
use crate::results::Game;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Rating points per unit of the internal scale.
const SCALE: f64 = 173.7178;
const RATING_START: f64 = 1500.0;
/// Constrains the change of volatility: small, because an agent changes little during a league.
const TAU: f64 = 0.5;
const PRECISION: f64 = 1e-6;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    pub rating: f64,
    /// The standard deviation of the rating.
    pub deviation: f64,
    pub volatility: f64,
}

impl Default for Rating {
    fn default() -> Self {
        Self { rating: RATING_START, deviation: 350.0, volatility: 0.06 }
    }
}

impl Rating {
    /// The 95 % confidence interval.
    pub fn interval(self) -> [f64; 2] {
        let half = Z_95 * self.deviation;
        [self.rating - half, self.rating + half]
    }

    /// The rating after a rating period with these matches: opponent and score (1, 1/2 or 0).
    #[must_use]
    pub fn after(self, matches: &[(Rating, f64)]) -> Self {
        let (mu, phi) = (self.mu(), self.phi());
        if matches.is_empty() {
            let phi = phi.hypot(self.volatility);
            return Self { deviation: (phi * SCALE).min(Self::default().deviation), ..self };
        }
        // Step 3: the information in the matches; step 4: the summed surprise.
        let (mut told, mut pointed) = (0.0, 0.0);
        for (opponent, score) in matches {
            let weight = 1.0 / (1.0 + 3.0 * opponent.phi().powi(2) / PI.powi(2)).sqrt();
            let expected = 1.0 / (1.0 + (-weight * (mu - opponent.mu())).exp());
            told += weight.powi(2) * expected * (1.0 - expected);
            pointed += weight * (score - expected);
        }
        let variance = 1.0 / told;
        let volatility = new_volatility(self.volatility, phi, variance, variance * pointed);
        // Steps 6 and 7.
        let before = phi.hypot(volatility);
        let phi = 1.0 / (1.0 / before.powi(2) + told).sqrt();
        let mu = mu + phi.powi(2) * pointed;
        Self { rating: mu * SCALE + RATING_START, deviation: phi * SCALE, volatility }
    }

    fn mu(self) -> f64 {
        (self.rating - RATING_START) / SCALE
    }

    fn phi(self) -> f64 {
        self.deviation / SCALE
    }
}

/// Step 5: the new volatility, by the Illinois algorithm as in the paper.
fn new_volatility(volatility: f64, phi: f64, variance: f64, delta: f64) -> f64 {
    let centre = (volatility * volatility).ln();
    let f = |x: f64| {
        let spread = phi * phi + variance + x.exp();
        x.exp() * (delta * delta - spread) / (2.0 * spread * spread) - (x - centre) / (TAU * TAU)
    };
    let mut a = centre;
    let surprise = delta * delta - phi * phi - variance;
    let mut b = if surprise > 0.0 {
        surprise.ln()
    } else {
        let below = (1..1000).map(|k| centre - f64::from(k) * TAU).find(|x| f(*x) >= 0.0);
        below.unwrap_or(centre)
    };
    let (mut f_a, mut f_b) = (f(a), f(b));
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
    (a / 2.0).exp()
}

/// The ratings of all players after each round with a match.
pub fn by_round(players: usize, games: &[Game]) -> Vec<(u32, Vec<Rating>)> {
    by_round_from(vec![Rating::default(); players], games)
}

/// The same, from given initial ratings.
pub fn by_round_from(start: Vec<Rating>, games: &[Game]) -> Vec<(u32, Vec<Rating>)> {
    let mut rounds: BTreeMap<u32, Vec<&Game>> = BTreeMap::new();
    for game in games {
        rounds.entry(game.round).or_default().push(game);
    }
    let mut ratings = start;
    let mut history = Vec::with_capacity(rounds.len());
    for (round, games) in rounds {
        ratings = after_round(&ratings, &games);
        history.push((round, ratings.clone()));
    }
    history
}

/// All matches of a round are rated at once, so their order does not matter.
fn after_round(ratings: &[Rating], games: &[&Game]) -> Vec<Rating> {
    let mut matches: Vec<Vec<(Rating, f64)>> = vec![Vec::new(); ratings.len()];
    for game in games {
        let score = game.verdict.score();
        for (player, opponent, score) in [(game.a, game.b, score), (game.b, game.a, 1.0 - score)] {
            if let (Some(matches), Some(opponent)) = (matches.get_mut(player), ratings.get(opponent)) {
                matches.push((*opponent, score));
            }
        }
    }
    ratings.iter().zip(&matches).map(|(rating, matches)| rating.after(matches)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Verdict;
    use proptest::prelude::*;

    fn rating(rating: f64, deviation: f64) -> Rating {
        Rating { rating, deviation, volatility: 0.06 }
    }

    /// The worked example of the paper: 1464.06, 151.52 and 0.05999.
    #[test]
    fn glickmans_own_example() {
        let matches =
            [(rating(1400.0, 30.0), 1.0), (rating(1550.0, 100.0), 0.0), (rating(1700.0, 300.0), 0.0)];
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
        assert!((rested.deviation - expected).abs() < 1e-9 && rested.rating == 1600.0, "{rested:?}");
        assert_eq!(Rating::default().after(&[]), Rating::default());
    }

    fn verdict() -> impl Strategy<Value = Verdict> {
        prop_oneof![Just(Verdict::A), Just(Verdict::B), Just(Verdict::Draw)]
    }

    fn games() -> impl Strategy<Value = Vec<Game>> {
        let game = (1_u32..5, 0_usize..6, 1_usize..6, verdict());
        let game = game.prop_map(|(round, a, step, verdict)| Game { round, a, b: (a + step) % 6, verdict });
        prop::collection::vec(game, 0..60)
    }

    proptest! {
        #[test]
        fn the_order_within_a_round_is_of_no_matter(games in games(), shuffled in any::<prop::sample::Index>()) {
            let mut others = games.clone();
            if !others.is_empty() {
                let middle = shuffled.index(others.len());
                others.rotate_left(middle);
            }
            let (one, other) = (by_round(6, &games), by_round(6, &others));
            prop_assert_eq!(one.len(), other.len());
            for ((round, one), (same, other)) in one.iter().zip(&other) {
                prop_assert_eq!(round, same);
                for (one, other) in one.iter().zip(other) {
                    prop_assert!((one.rating - other.rating).abs() < 1e-6, "{:?} {:?}", one, other);
                }
            }
        }

        #[test]
        fn a_better_score_never_gives_a_lower_rating(start in 800.0..2200.0, deviation in 30.0..350.0, opponent in 800.0..2200.0) {
            let after = |score| rating(start, deviation).after(&[(rating(opponent, 80.0), score)]).rating;
            prop_assert!(after(0.0) < after(0.5) && after(0.5) < after(1.0));
        }
    }
}
