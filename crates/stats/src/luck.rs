//! How much of a table chance alone explains: leagues of players who are all the same, played over and over. Pure.

use crate::chance::Model;
use crate::dice::Dice;
use crate::results::Game;
use serde::{Deserialize, Serialize};

/// A league held against leagues of chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TableByChance {
    /// How often chance alone spreads the points at least as far apart.
    pub spread: f64,
    /// The points of whoever has most of them, from matches that were played out.
    pub best_points: u32,
    /// How often the best of so many players has at least as many points by chance alone.
    pub best: f64,
    /// How many leagues of chance were played to find out.
    pub leagues: u32,
}

/// Plays the very matches of the league as often as told, each time by chance alone. `None` without a match.
pub fn against_chance(
    players: usize,
    games: &[Game],
    model: &Model,
    leagues: u32,
    dice: &mut Dice,
) -> Option<TableByChance> {
    if games.is_empty() {
        return None;
    }
    let yardsticks = yardsticks(players, games, model);
    let table = |verdicts: &mut dyn FnMut(&Game) -> [u32; 2]| {
        let mut points = vec![0; players];
        for game in games {
            let [a, b] = verdicts(game);
            add(&mut points, game.a, a);
            add(&mut points, game.b, b);
        }
        (spread(&points, &yardsticks), points.into_iter().max().unwrap_or(0))
    };
    let (spread, best_points) = table(&mut |game| game.verdict.points());
    let (mut as_spread, mut as_good) = (0_u32, 0_u32);
    for _ in 0..leagues {
        let (spread_by_chance, best_by_chance) = table(&mut |_| dice.verdict(model.first_seat).points());
        // A hair less, so that the same table counts as the same however its sums were rounded.
        as_spread += u32::from(spread_by_chance >= spread * (1.0 - 1e-12));
        as_good += u32::from(best_by_chance >= best_points);
    }
    // The league itself is one of the leagues that could have been: no p-value of a simulation is 0.
    let share = |count: u32| f64::from(count + 1) / f64::from(leagues + 1);
    Some(TableByChance { spread: share(as_spread), best_points, best: share(as_good), leagues })
}

fn add(points: &mut [u32], player: usize, more: u32) {
    if let Some(points) = points.get_mut(player) {
        *points += more;
    }
}

/// The mean and the variance of each player's points by chance.
fn yardsticks(players: usize, games: &[Game], model: &Model) -> Vec<(f64, f64)> {
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

/// How far the points lie from what chance expects: squares, each measured by its variance.
fn spread(points: &[u32], yardsticks: &[(f64, f64)]) -> f64 {
    let squares = points.iter().zip(yardsticks).filter(|(_, (_, variance))| *variance > 0.0);
    squares.map(|(points, (mean, variance))| (f64::from(*points) - mean).powi(2) / variance).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Verdict;

    fn game(a: usize, b: usize, verdict: Verdict) -> Game {
        Game { round: 1, a, b, verdict }
    }

    /// Two players and two matches: 9 courses, whose chances are easily counted.
    #[test]
    fn shares_are_those_of_counting_every_course() {
        let games = [game(0, 1, Verdict::A), game(0, 1, Verdict::A)];
        let model = Model::of("even_odd", &games);
        let found = against_chance(2, &games, &model, 100_000, &mut Dice::new(1, 0)).unwrap();
        // 6-0 or 0-6: a sixteenth each.
        assert!((found.best - 0.125).abs() < 0.004, "{found:?}");
        assert!((found.spread - 0.125).abs() < 0.004, "{found:?}");
        assert_eq!(found.best_points, 6);
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_no_match_gives_none() {
        let games = [game(0, 1, Verdict::Draw), game(1, 2, Verdict::B)];
        let model = Model::of("even_odd", &games);
        let once = || against_chance(3, &games, &model, 500, &mut Dice::new(7, 0));
        assert_eq!(once(), once());
        assert_eq!(against_chance(3, &[], &model, 500, &mut Dice::new(7, 0)), None);
    }
}
