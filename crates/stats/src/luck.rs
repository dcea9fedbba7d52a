//! The luck meter: compares the standings with simulated leagues of the null model. Pure.

use crate::null_model::{NullModel, PointsDistribution};
use crate::results::{Game, Verdict};
use crate::rng::SeededRng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Draws and plays a league. It asks how the match of two players ends, by their places, the first seat first; `None` breaks
/// it off.
pub type PlayLeague<'a> = dyn Fn(&mut dyn FnMut(usize, usize) -> Option<Verdict>) + 'a;

/// Who meets whom in leagues of chance.
pub enum ChanceRounds<'a> {
    /// The matches are the same, whatever comes of them.
    Fixed,
    /// Rounds follow from results.
    Drawn {
        play: Box<PlayLeague<'a>>,
        /// Whether the league was played to its end. Then those of chance are, too: cut off where this one ended, many would have
        /// no winner yet, and this one's would stand out.
        is_over: bool,
    },
    /// Rounds follow from results, and it is not known how.
    Unknown,
}

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

/// The simulated leagues, and what the standings are compared with.
#[derive(Debug, Clone)]
pub struct ByChance {
    pub table: StandingsByChance,
    /// Of each league: how rare the rarest record of any player is.
    rarest: Vec<f64>,
}

/// The p-value of a record that is as rare as this by pure chance, good or bad: how often any player of a league has one.
pub fn anybody(by_chance: Option<&ByChance>, chance: f64, players: usize) -> f64 {
    match by_chance {
        Some(ByChance { rarest, .. }) => {
            // With a tolerance for rounding errors.
            let as_rare = rarest.iter().filter(|rare| **rare <= chance * (1.0 + 1e-9));
            (as_rare.count() + 1) as f64 / (rarest.len() + 1) as f64
        }
        // As if records were independent of each other.
        None => -libm::expm1(players as f64 * libm::log1p(-chance)),
    }
}

/// Plays leagues under the null model, as many as that, with as many matches as were played, or to the end if this one is over. `None` without a match or a
/// league.
pub fn compare_with_chance(
    players: usize,
    games: &[Game],
    model: &NullModel,
    rounds: &ChanceRounds<'_>,
    leagues: u32,
    rng: &mut SeededRng,
) -> Option<ByChance> {
    if games.is_empty() || leagues == 0 {
        return None;
    }
    let mut judge = Judge {
        players,
        model,
        rarities: BTreeMap::new(),
    };
    let seen = judge.judge(games);
    let mut as_spread = 0_u32;
    let mut as_good = 0_u32;
    let mut rarest = Vec::with_capacity(leagues as usize);
    for _ in 0..leagues {
        let by_chance = judge.judge(&league_of_chance(games, model, rounds, rng));
        // With a tolerance for rounding errors.
        as_spread += u32::from(by_chance.spread >= seen.spread * (1.0 - 1e-12));
        as_good += u32::from(by_chance.best_points >= seen.best_points);
        rarest.push(by_chance.rarest);
    }
    // The observed league counts as one of the sample, so that no Monte Carlo p-value is 0.
    let share = |count: u32| f64::from(count + 1) / f64::from(leagues + 1);
    Some(ByChance {
        table: StandingsByChance {
            spread: share(as_spread),
            best_points: seen.best_points,
            best: share(as_good),
            leagues,
        },
        rarest,
    })
}

fn league_of_chance(
    games: &[Game],
    model: &NullModel,
    rounds: &ChanceRounds<'_>,
    rng: &mut SeededRng,
) -> Vec<Game> {
    let ChanceRounds::Drawn { play, is_over } = rounds else {
        let again = games.iter().map(|game| Game {
            verdict: rng.verdict(model.first_seat),
            ..*game
        });
        return again.collect();
    };
    let mut played = Vec::with_capacity(games.len());
    play(&mut |a, b| {
        if !is_over && played.len() == games.len() {
            return None;
        }
        let verdict = rng.verdict(model.first_seat);
        played.push(Game {
            round: 0,
            a,
            b,
            verdict,
        });
        Some(verdict)
    });
    played
}

impl std::fmt::Debug for ChanceRounds<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Fixed => "Fixed",
            Self::Drawn { .. } => "Drawn",
            Self::Unknown => "Unknown",
        })
    }
}

/// What is compared of a league.
struct Judged {
    spread: f64,
    best_points: u32,
    rarest: f64,
}

struct Judge<'a> {
    players: usize,
    model: &'a NullModel,
    /// How rare each number of points is, by the matches in the first and in the second seat.
    rarities: BTreeMap<[u32; 2], Vec<f64>>,
}

#[derive(Clone, Copy, Default)]
struct Sums {
    points: u32,
    /// Matches in the first and in the second seat.
    seats: [u32; 2],
}

impl Judge<'_> {
    fn judge(&mut self, games: &[Game]) -> Judged {
        let mut sums = vec![Sums::default(); self.players];
        for game in games {
            let [a, b] = game.verdict.points();
            for (player, seat, points) in [(game.a, 0, a), (game.b, 1, b)] {
                if let Some(sums) = sums.get_mut(player) {
                    sums.points += points;
                    sums.seats
                        .get_mut(seat)
                        .into_iter()
                        .for_each(|matches| *matches += 1);
                }
            }
        }
        let mut judged = Judged {
            spread: 0.0,
            best_points: sums.iter().map(|sums| sums.points).max().unwrap_or(0),
            rarest: 1.0,
        };
        for sums in sums.iter().filter(|sums| sums.seats != [0, 0]) {
            judged.spread += self.squared_deviation(*sums);
            judged.rarest = judged.rarest.min(self.rarity(*sums));
        }
        judged
    }

    /// From the mean of so many matches, divided by its variance.
    fn squared_deviation(&self, sums: Sums) -> f64 {
        let [first, second] = sums.seats.map(f64::from);
        let [as_first, as_second] = [self.model.first_seat, self.model.first_seat.reversed()];
        let mean = first * as_first.points_mean() + second * as_second.points_mean();
        let variance = first * as_first.points_variance() + second * as_second.points_variance();
        if variance > 0.0 {
            (f64::from(sums.points) - mean).powi(2) / variance
        } else {
            0.0
        }
    }

    fn rarity(&mut self, sums: Sums) -> f64 {
        let known = self.rarities.entry(sums.seats).or_insert_with(|| {
            let [first, second] = sums.seats.map(|matches| matches as usize);
            let first = std::iter::repeat_n(self.model.first_seat, first);
            let second = std::iter::repeat_n(self.model.first_seat.reversed(), second);
            PointsDistribution::over(first.chain(second)).rarities()
        });
        known.get(sums.points as usize).copied().unwrap_or(1.0)
    }
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
        let mut rng = SeededRng::new(1, 0);
        let fixed = &ChanceRounds::Fixed;
        let found = compare_with_chance(2, &games, &model, fixed, 100_000, &mut rng).unwrap();
        // 6-0 or 0-6: a sixteenth each.
        let table = found.table;
        assert!((table.best - 0.125).abs() < 0.004, "{table:?}");
        assert!((table.spread - 0.125).abs() < 0.004, "{table:?}");
        assert_eq!(table.best_points, 6);
        // Either has 6 points: so has somebody in an eighth of all leagues.
        let somebody = anybody(Some(&found), 1.0 / 16.0, 2);
        assert!((somebody - 0.125).abs() < 0.004, "{somebody}");
    }

    /// A knockout of four always has a player who has won all its matches.
    #[test]
    fn the_winner_of_a_knockout_is_no_surprise() {
        let play: Box<PlayLeague<'_>> = Box::new(|decide| {
            let mut winner = |a, b| match decide(a, b)? {
                Verdict::A => Some(a),
                _ => Some(b),
            };
            if let (Some(one), Some(other)) = (winner(0, 1), winner(2, 3)) {
                winner(one, other);
            }
        });
        let games = [
            game(0, 1, Verdict::A),
            game(2, 3, Verdict::A),
            game(0, 2, Verdict::A),
        ];
        let model = NullModel::of("nim", &games);
        let rounds = ChanceRounds::Drawn {
            play,
            is_over: true,
        };
        let mut rng = SeededRng::new(1, 0);
        let found = compare_with_chance(4, &games, &model, &rounds, 500, &mut rng).unwrap();
        assert_eq!((found.table.best, found.table.spread), (1.0, 1.0));
        assert_eq!(anybody(Some(&found), 0.25, 4), 1.0);
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_no_match_gives_none() {
        let games = [game(0, 1, Verdict::Draw), game(1, 2, Verdict::B)];
        let model = NullModel::of("even_odd", &games);
        let fixed = &ChanceRounds::Fixed;
        let of = |games: &[Game]| {
            let mut rng = SeededRng::new(7, 0);
            compare_with_chance(3, games, &model, fixed, 500, &mut rng).map(|found| found.table)
        };
        assert_eq!(of(&games), of(&games));
        assert_eq!(of(&[]), None);
    }
}
