//! The luck meter: compares the standings with simulated leagues of the null model. Pure.

use crate::null_model::NullModel;
use crate::results::Game;
use crate::rng::SeededRng;
use serde::{Deserialize, Serialize};

/// How well chance alone explains a record or the standings, by p-value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meter {
    /// Nothing was played yet.
    NothingYet,
    /// A p-value of 0.2 or more.
    Luck,
    /// Below 0.2.
    Hint,
    /// Below 0.05.
    ProbablyMore,
    /// Below 0.01.
    HardlyLuck,
}

impl Meter {
    pub fn of(chance: f64) -> Self {
        match chance {
            p if p < 0.01 => Self::HardlyLuck,
            p if p < 0.05 => Self::ProbablyMore,
            p if p < 0.2 => Self::Hint,
            _ => Self::Luck,
        }
    }
}

/// Monte Carlo p-values of the standings under the null model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StandingsByChance {
    /// The p-value of the spread of points.
    pub spread: f64,
    /// The most points of any player, without forfeited matches.
    pub best_points: u32,
    /// The p-value of the best player's points.
    pub best: f64,
    /// The number of simulated leagues.
    pub leagues: u32,
}

/// Simulates the league's matches under the null model, `leagues` times. `None` without a match.
pub fn compare_with_chance(
    players: usize,
    games: &[Game],
    model: &NullModel,
    leagues: u32,
    rng: &mut SeededRng,
) -> Option<StandingsByChance> {
    if games.is_empty() {
        return None;
    }
    let expectations = expectations(players, games, model);
    let table = |verdicts: &mut dyn FnMut(&Game) -> [u32; 2]| {
        let mut points = vec![0; players];
        for game in games {
            let [a, b] = verdicts(game);
            add(&mut points, game.a, a);
            add(&mut points, game.b, b);
        }
        (
            spread(&points, &expectations),
            points.into_iter().max().unwrap_or(0),
        )
    };
    let (spread, best_points) = table(&mut |game| game.verdict.points());
    let mut as_spread = 0_u32;
    let mut as_good = 0_u32;
    for _ in 0..leagues {
        let (spread_by_chance, best_by_chance) =
            table(&mut |_| rng.verdict(model.first_seat).points());
        // With a tolerance for rounding errors.
        as_spread += u32::from(spread_by_chance >= spread * (1.0 - 1e-12));
        as_good += u32::from(best_by_chance >= best_points);
    }
    // The observed league counts as one of the sample, so that no Monte Carlo p-value is 0.
    let share = |count: u32| f64::from(count + 1) / f64::from(leagues + 1);
    Some(StandingsByChance {
        spread: share(as_spread),
        best_points,
        best: share(as_good),
        leagues,
    })
}

fn add(points: &mut [u32], player: usize, more: u32) {
    if let Some(points) = points.get_mut(player) {
        *points += more;
    }
}

/// Mean and variance of each player's points under the null model.
fn expectations(players: usize, games: &[Game], model: &NullModel) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 0.0); players];
    for game in games {
        for player in [game.a, game.b] {
            if let (Some(chance), Some((mean, variance))) =
                (model.in_game(game, player), sums.get_mut(player))
            {
                *mean += chance.points_mean();
                *variance += chance.points_variance();
            }
        }
    }
    sums
}

/// The sum of squared deviations from the mean, each divided by its variance.
fn spread(points: &[u32], expectations: &[(f64, f64)]) -> f64 {
    let squares = points
        .iter()
        .zip(expectations)
        .filter(|(_, (_, variance))| *variance > 0.0);
    squares
        .map(|(points, (mean, variance))| (f64::from(*points) - mean).powi(2) / variance)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Verdict;

    fn game(a: usize, b: usize, verdict: Verdict) -> Game {
        Game {
            round: 1,
            a,
            b,
            verdict,
        }
    }

    /// Two players and two matches: 9 sequences of results, counted by hand.
    #[test]
    fn shares_are_those_of_counting_every_course() {
        let games = [game(0, 1, Verdict::A), game(0, 1, Verdict::A)];
        let model = NullModel::of("even_odd", &games);
        let found =
            compare_with_chance(2, &games, &model, 100_000, &mut SeededRng::new(1, 0)).unwrap();
        // 6-0 or 0-6: a sixteenth each.
        assert!((found.best - 0.125).abs() < 0.004, "{found:?}");
        assert!((found.spread - 0.125).abs() < 0.004, "{found:?}");
        assert_eq!(found.best_points, 6);
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_no_match_gives_none() {
        let games = [game(0, 1, Verdict::Draw), game(1, 2, Verdict::B)];
        let model = NullModel::of("even_odd", &games);
        let once = || compare_with_chance(3, &games, &model, 500, &mut SeededRng::new(7, 0));
        assert_eq!(once(), once());
        assert_eq!(
            compare_with_chance(3, &[], &model, 500, &mut SeededRng::new(7, 0)),
            None
        );
    }
}
