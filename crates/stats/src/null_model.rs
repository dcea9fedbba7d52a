//! The null model of pure chance, and the exact distribution of points under it. Pure.

use crate::results::{Game, POINTS_DRAW, POINTS_WIN, Verdict};
use serde::{Deserialize, Serialize};

/// The probabilities of a match's results, from one side's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ResultProbabilities {
    pub win: f64,
    pub draw: f64,
    pub loss: f64,
}

impl ResultProbabilities {
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            win: self.loss,
            draw: self.draw,
            loss: self.win,
        }
    }

    pub fn points_mean(self) -> f64 {
        self.win * f64::from(POINTS_WIN) + self.draw * f64::from(POINTS_DRAW)
    }

    pub fn points_variance(self) -> f64 {
        let square = |points: u32| f64::from(points * points);
        self.win * square(POINTS_WIN) + self.draw * square(POINTS_DRAW) - self.points_mean().powi(2)
    }
}

/// The null hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NullModel {
    /// From the first seat's point of view.
    pub first_seat: ResultProbabilities,
    pub basis: Basis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// All players move at random; known exactly for this game.
    RandomMoves,
    /// All players are equally strong, and the share of draws is that of this league.
    EqualStrength,
}

/// Random calls: equal ones, half of the time, are a draw; otherwise both are equally likely to win.
const EVEN_ODD: ResultProbabilities = ResultProbabilities {
    win: 0.25,
    draw: 0.5,
    loss: 0.25,
};

/// Of the 9! orders in which the board can be filled, the first player wins 212,256, the second 104,544, and 46,080
/// are drawn.
const TIC_TAC_TOE: ResultProbabilities = ResultProbabilities {
    win: 212_256.0 / 362_880.0,
    draw: 46_080.0 / 362_880.0,
    loss: 104_544.0 / 362_880.0,
};

impl NullModel {
    /// The null model of this game, given the matches that were played.
    pub fn of(game: &str, games: &[Game]) -> Self {
        let known = match game {
            "even_odd" => Some(EVEN_ODD),
            "tic_tac_toe" => Some(TIC_TAC_TOE),
            _ => None,
        };
        match known {
            Some(first_seat) => Self {
                first_seat,
                basis: Basis::RandomMoves,
            },
            None => {
                let drawn = games
                    .iter()
                    .filter(|game| game.verdict == Verdict::Draw)
                    .count();
                let draw = drawn as f64 / games.len().max(1) as f64;
                let win = (1.0 - draw) / 2.0;
                Self {
                    first_seat: ResultProbabilities {
                        win,
                        draw,
                        loss: win,
                    },
                    basis: Basis::EqualStrength,
                }
            }
        }
    }

    /// The probabilities of a player in a match; `None` if it did not take part.
    pub fn in_game(&self, game: &Game, player: usize) -> Option<ResultProbabilities> {
        match player {
            _ if game.a == player => Some(self.first_seat),
            _ if game.b == player => Some(self.first_seat.reversed()),
            _ => None,
        }
    }
}

/// The distribution of a player's points over some matches.
#[derive(Debug, Clone, PartialEq)]
pub struct PointsDistribution(Vec<f64>);

impl PointsDistribution {
    /// The exact convolution of the matches.
    pub fn over(matches: impl IntoIterator<Item = ResultProbabilities>) -> Self {
        let mut chances = vec![1.0];
        for ResultProbabilities { win, draw, loss } in matches {
            let mut next = vec![0.0; chances.len() + POINTS_WIN as usize];
            for (points, share) in [(POINTS_WIN, win), (POINTS_DRAW, draw), (0, loss)] {
                let shifted = next.iter_mut().skip(points as usize);
                shifted
                    .zip(&chances)
                    .for_each(|(next, before)| *next += share * before);
            }
            chances = next;
        }
        Self(chances)
    }

    pub fn at_least(&self, points: u64) -> f64 {
        let skipped = usize::try_from(points).unwrap_or(usize::MAX);
        self.0
            .iter()
            .skip(skipped)
            .rev()
            .sum::<f64>()
            .clamp(0.0, 1.0)
    }

    /// Of each number of points: the probability of at least so many or of at most so many, whichever is less.
    pub fn rarities(&self) -> Vec<f64> {
        let sums = |shares: &mut dyn Iterator<Item = &f64>| -> Vec<f64> {
            let mut sum = 0.0;
            let sums = shares.map(|share| {
                sum += share;
                sum
            });
            sums.collect()
        };
        let at_most = sums(&mut self.0.iter());
        let at_least = sums(&mut self.0.iter().rev());
        let both = at_most.into_iter().zip(at_least.into_iter().rev());
        both.map(|(at_most, at_least)| at_most.min(at_least))
            .collect()
    }

    pub fn at_most(&self, points: u64) -> f64 {
        let counted = usize::try_from(points)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        self.0.iter().take(counted).sum::<f64>().clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn even_odd(matches: usize) -> PointsDistribution {
        PointsDistribution::over(vec![EVEN_ODD; matches])
    }

    /// By hand: 7 of 9 points from 3 matches need two wins and a draw, or three wins.
    #[test]
    fn seven_points_from_three_matches() {
        let by_hand = 3.0 * 0.25 * 0.25 * 0.5 + 0.25_f64.powi(3);
        assert!((even_odd(3).at_least(7) - by_hand).abs() < 1e-15);
        assert_eq!(even_odd(3).at_least(9), 0.25_f64.powi(3));
        assert_eq!(
            (
                even_odd(3).at_least(10),
                even_odd(3).at_least(0),
                even_odd(0).at_least(0)
            ),
            (0.0, 1.0, 1.0)
        );
    }

    /// Enumerates every sequence of results.
    #[test]
    fn the_distribution_is_that_of_counting_every_course() {
        for chance in [
            EVEN_ODD,
            TIC_TAC_TOE,
            ResultProbabilities {
                win: 0.2,
                draw: 0.0,
                loss: 0.8,
            },
        ] {
            let mut courses = vec![(0, 1.0)];
            for _ in 0..7 {
                let ways = [(3, chance.win), (1, chance.draw), (0, chance.loss)];
                let next = courses
                    .iter()
                    .flat_map(|(points, p)| ways.map(|(more, q)| (points + more, p * q)));
                courses = next.collect();
            }
            let exact = PointsDistribution::over([chance; 7]);
            for points in 0..=21 {
                let counted: f64 = courses
                    .iter()
                    .filter(|(sum, _)| *sum >= points)
                    .map(|(_, p)| p)
                    .sum();
                assert!((exact.at_least(points) - counted).abs() < 1e-12, "{points}");
            }
        }
    }

    #[test]
    fn tic_tac_toe_at_random_is_what_playing_every_order_gives() {
        let lines = [7, 56, 448, 73, 146, 292, 273, 84_u32];
        // (boards of both players, probability)
        let mut open = vec![([0_u32, 0], 1.0)];
        let mut ended = [0.0; 3];
        for turn in 0..9 {
            let mut next = Vec::new();
            for (boards, share) in open {
                let free: Vec<u32> = (0..9)
                    .filter(|cell| (boards[0] | boards[1]) & (1 << cell) == 0)
                    .collect();
                for cell in &free {
                    let mut boards = boards;
                    boards[turn % 2] |= 1 << cell;
                    let share = share / free.len() as f64;
                    if lines.iter().any(|line| boards[turn % 2] & line == *line) {
                        ended[turn % 2] += share
                    } else {
                        next.push((boards, share))
                    }
                }
            }
            // Merges orders that lead to the same board.
            next.sort_by_key(|(boards, _)| *boards);
            open = next
                .chunk_by(|one, other| one.0 == other.0)
                .map(|same| (same[0].0, same.iter().map(|(_, share)| share).sum()))
                .collect();
        }
        ended[2] = open.iter().map(|(_, share)| share).sum();
        let ResultProbabilities { win, draw, loss } = TIC_TAC_TOE;
        for (found, expected) in ended.into_iter().zip([win, loss, draw]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    proptest! {
        #[test]
        fn more_points_are_never_likelier(matches in 0_usize..60, win in 0.0..1.0, rest in 0.0..1.0) {
            let draw = (1.0 - win) * rest;
            let loss = (1.0 - win) * (1.0 - rest);
            let exact = PointsDistribution::over(vec![ResultProbabilities { win, draw, loss }; matches]);
            let mut before = 1.0;
            for points in 0..=3 * matches as u64 {
                let now = exact.at_least(points);
                prop_assert!(now <= before + 1e-12 && (0.0..=1.0).contains(&now));
                let at_most = exact.at_most(points);
                prop_assert!(now + at_most >= 1.0 - 1e-9);
                prop_assert!((exact.rarities()[points as usize] - now.min(at_most)).abs() < 1e-9);
                before = now;
            }
        }
    }
}
