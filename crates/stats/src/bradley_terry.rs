//! The Bradley-Terry model with draws: the maximum a posteriori strengths given all results of a league, in any
//! order. Pure.
//!
//! The model is Davidson's (1970). With strengths `x` on a logarithmic scale and a common draw parameter `d`, the
//! probabilities of a win of the first player, a draw, and a win of the second are proportional to `exp(x₁)`, `exp(d
//! + (x₁ + x₂) / 2)`, `exp(x₂)`. In a league without a draw it is the plain model of Bradley and Terry (1952).
//!
//! The prior of a strength is normal around the average. It keeps the strength of an undefeated player finite, and
//! shrinks strengths estimated from few matches. [`crate::spread`] estimates its deviation from the results.

use crate::cholesky::{Cholesky, dot};
use crate::normal;
use crate::null_model::ResultProbabilities;
use crate::results::{Game, Verdict, Wdl};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rating points per unit of strength: odds of ten to one are 400 points, as for Elo and Glicko.
pub const RATING_SCALE: f64 = 400.0 / std::f64::consts::LN_10;
pub const RATING_AVERAGE: f64 = 1500.0;

/// Standard deviations of the normal priors of strengths and of the draw parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    pub strength_deviation: f64,
    pub draw_deviation: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Self {
            strength_deviation: 350.0 / RATING_SCALE,
            draw_deviation: 2.0,
        }
    }
}

/// The record of two players, from the first one's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub a: usize,
    pub b: usize,
    pub record: Wdl,
}

#[derive(Debug, Clone)]
pub struct Model {
    players: usize,
    pairs: Vec<Pair>,
    prior: Prior,
    with_draws: bool,
}

/// The probability that the player with the better rank is the stronger one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Superiority {
    pub ahead: String,
    pub behind: String,
    pub likelihood: f64,
}

/// The maximum a posteriori estimate.
#[derive(Debug, Clone)]
pub struct Fit {
    /// One for each player, on a logarithmic scale; their sum is 0.
    pub strengths: Vec<f64>,
    /// The draw parameter; `None` if no match was drawn.
    pub draw: Option<f64>,
    /// The Cholesky factor of the negative Hessian at the maximum.
    pub(crate) curvature: Cholesky,
}

const STEPS_MAX: usize = 200;
const HALVINGS_MAX: usize = 60;
const SLOPE_MIN: f64 = 1e-8;

impl Model {
    pub fn of(players: usize, games: &[Game], prior: Prior) -> Self {
        let mut records: BTreeMap<(usize, usize), Wdl> = BTreeMap::new();
        for game in games
            .iter()
            .filter(|game| game.a < players && game.b < players && game.a != game.b)
        {
            let a = game.a.min(game.b);
            let b = game.a.max(game.b);
            let turned = match game.verdict {
                Verdict::A if game.a > game.b => Verdict::B,
                Verdict::B if game.a > game.b => Verdict::A,
                as_it_is => as_it_is,
            };
            records.entry((a, b)).or_default().count(turned);
        }
        let pairs = records
            .into_iter()
            .map(|((a, b), record)| Pair { a, b, record });
        Self::of_pairs(players, pairs.collect(), prior)
    }

    pub fn of_pairs(players: usize, pairs: Vec<Pair>, prior: Prior) -> Self {
        let with_draws = pairs.iter().any(|pair| pair.record.draws > 0);
        Self {
            players,
            pairs,
            prior,
            with_draws,
        }
    }

    /// The same results under another prior deviation of strengths.
    pub(crate) fn with_deviation(&self, strength_deviation: f64) -> Self {
        Self {
            prior: Prior {
                strength_deviation,
                ..self.prior
            },
            ..self.clone()
        }
    }

    pub(crate) fn players(&self) -> usize {
        self.players
    }

    /// `None` only if the computation fails numerically, as with a prior of zero deviation.
    pub fn fit(&self) -> Option<Fit> {
        self.fit_from(vec![0.0; self.players + usize::from(self.with_draws)])
    }

    /// Newton's method. Factorising the Hessian is expensive, so it is reused until convergence slows down.
    pub(crate) fn fit_from(&self, start: Vec<f64>) -> Option<Fit> {
        let mut curvature = Cholesky::of(&self.negative_hessian(&start))?;
        let mut at = start;
        let mut fresh = true;
        let mut steepness = f64::INFINITY;
        for _ in 0..STEPS_MAX {
            let slope = self.gradient(&at);
            let steep = slope
                .iter()
                .fold(0.0, |most: f64, part| most.max(part.abs()));
            if steep < SLOPE_MIN {
                break;
            }
            if !fresh && steep > steepness / 4.0 {
                curvature = Cholesky::of(&self.negative_hessian(&at))?;
            }
            (fresh, steepness) = (false, steep);
            at = self.line_search(at, &curvature.solve(&slope), &slope);
        }
        // At the maximum itself, because variances are computed from it.
        let curvature = Cholesky::of(&self.negative_hessian(&at))?;
        let draw = if self.with_draws { at.pop() } else { None };
        Some(Fit {
            strengths: at,
            draw,
            curvature,
        })
    }

    /// Backtracking line search.
    fn line_search(&self, from: Vec<f64>, step: &[f64], slope: &[f64]) -> Vec<f64> {
        let height = self.log_posterior(&from);
        let rise = dot(step, slope);
        let mut length = 1.0;
        for _ in 0..HALVINGS_MAX {
            let to: Vec<f64> = from
                .iter()
                .zip(step)
                .map(|(from, step)| from + length * step)
                .collect();
            // Near the maximum the increase is below rounding errors.
            if self.log_posterior(&to) >= height + 1e-4 * length * rise - 1e-12 * height.abs() {
                return to;
            }
            length /= 2.0;
        }
        from
    }

    fn draw_at(&self, at: &[f64]) -> Option<f64> {
        if self.with_draws {
            at.last().copied()
        } else {
            None
        }
    }

    /// The logarithm of the posterior density, up to a constant.
    pub(crate) fn log_posterior(&self, at: &[f64]) -> f64 {
        let [strength, _] = self.precisions();
        self.log_likelihood(at) - 0.5 * strength * self.squares(at)
    }

    /// The sum of the squares of all strengths.
    pub(crate) fn squares(&self, at: &[f64]) -> f64 {
        at.iter().take(self.players).map(|x| x * x).sum()
    }

    /// The logarithm of the likelihood and of the draw parameter's prior, up to a constant.
    pub(crate) fn log_likelihood(&self, at: &[f64]) -> f64 {
        let draw = self.draw_at(at);
        let told = self.pairs.iter().map(|pair| {
            let ResultProbabilities { win, draw, loss } = chance(difference(at, pair), draw);
            let part = |count: u64, chance: f64| {
                if count == 0 {
                    0.0
                } else {
                    count as f64 * libm::log(chance)
                }
            };
            part(pair.record.wins, win)
                + part(pair.record.draws, draw)
                + part(pair.record.losses, loss)
        });
        let [_, inclination] = self.precisions();
        told.sum::<f64>() - 0.5 * inclination * draw.unwrap_or(0.0).powi(2)
    }

    fn gradient(&self, at: &[f64]) -> Vec<f64> {
        let [strength, _] = self.precisions();
        self.gradient_under(at, strength)
    }

    /// The gradient of the log posterior if strengths have a prior of this precision.
    pub(crate) fn gradient_under(&self, at: &[f64], strength: f64) -> Vec<f64> {
        let [_, inclination] = self.precisions();
        let mut slope: Vec<f64> = at.iter().map(|x| -strength * x).collect();
        let draw = self.draw_at(at);
        let mut of_draw = -inclination * draw.unwrap_or(0.0);
        for pair in &self.pairs {
            let expected = chance(difference(at, pair), draw);
            let Wdl {
                wins,
                draws,
                losses,
            } = pair.record;
            let n = pair.record.total() as f64;
            let part = 0.5 * (wins as f64 - losses as f64 - n * (expected.win - expected.loss));
            add(slope.get_mut(pair.a), part);
            add(slope.get_mut(pair.b), -part);
            of_draw += draws as f64 - n * expected.draw;
        }
        if let (Some(last), true) = (slope.last_mut(), self.with_draws) {
            *last = of_draw;
        }
        slope
    }

    /// The negative Hessian: each row up to its diagonal.
    fn negative_hessian(&self, at: &[f64]) -> Vec<Vec<f64>> {
        let [strength, inclination] = self.precisions();
        let mut rows: Vec<Vec<f64>> = (0..at.len())
            .map(|place| {
                let mut row = vec![0.0; place + 1];
                add(
                    row.last_mut(),
                    if place < self.players {
                        strength
                    } else {
                        inclination
                    },
                );
                row
            })
            .collect();
        let draw = self.draw_at(at);
        let mut put = |row: usize, column: usize, part: f64| {
            add(rows.get_mut(row).and_then(|row| row.get_mut(column)), part);
        };
        for pair in &self.pairs {
            let expected = chance(difference(at, pair), draw);
            let n = pair.record.total() as f64;
            let lead = expected.win - expected.loss;
            let part = 0.25 * n * (expected.win + expected.loss - lead * lead);
            put(pair.a, pair.a, part);
            put(pair.b, pair.b, part);
            put(pair.a.max(pair.b), pair.a.min(pair.b), -part);
            if draw.is_some() {
                let across = -0.5 * n * lead * expected.draw;
                put(self.players, pair.a, across);
                put(self.players, pair.b, -across);
                put(
                    self.players,
                    self.players,
                    n * expected.draw * (1.0 - expected.draw),
                );
            }
        }
        rows
    }

    fn precisions(&self) -> [f64; 2] {
        [self.prior.strength_deviation, self.prior.draw_deviation]
            .map(|deviation| deviation.powi(-2))
    }
}

fn add(to: Option<&mut f64>, part: f64) {
    if let Some(to) = to {
        *to += part;
    }
}

fn difference(at: &[f64], pair: &Pair) -> f64 {
    at.get(pair.a)
        .zip(at.get(pair.b))
        .map_or(0.0, |(a, b)| a - b)
}

/// Probabilities for a player that is stronger by `difference`.
fn chance(difference: f64, draw: Option<f64>) -> ResultProbabilities {
    let half = difference / 2.0;
    let drawn = draw.unwrap_or(f64::NEG_INFINITY);
    let largest = half.abs().max(drawn);
    let [win, draw, loss] = [half, drawn, -half].map(|part| libm::exp(part - largest));
    let all = win + draw + loss;
    ResultProbabilities {
        win: win / all,
        draw: draw / all,
        loss: loss / all,
    }
}

impl Fit {
    /// All parameters: the strengths, then the draw parameter if there is one.
    pub(crate) fn parameters(&self) -> Vec<f64> {
        self.strengths.iter().copied().chain(self.draw).collect()
    }

    /// On the scale of Elo and Glicko, around 1500.
    pub fn ratings(&self) -> impl Iterator<Item = f64> {
        self.strengths.iter().map(|strength| rating(*strength))
    }

    /// The probabilities of a match between two players, from the first one's point of view.
    pub fn chance(&self, a: usize, b: usize) -> ResultProbabilities {
        chance(
            difference(
                &self.strengths,
                &Pair {
                    a,
                    b,
                    record: Wdl::default(),
                },
            ),
            self.draw,
        )
    }

    /// The standard deviation of a player's rating relative to the average of all, in rating points. With few results
    /// it is close to that of the prior.
    pub fn deviation(&self, player: usize) -> f64 {
        let all = self.strengths.len();
        let mut direction = vec![-1.0 / all.max(1) as f64; all];
        add(direction.get_mut(player), 1.0);
        direction.extend(self.draw.map(|_| 0.0));
        let variance = dot(&self.curvature.solve(&direction), &direction);
        RATING_SCALE * variance.max(0.0).sqrt()
    }

    /// The probability that the first of two players is the stronger one.
    pub fn superiority(&self, a: usize, b: usize) -> f64 {
        let mut direction = vec![0.0; self.strengths.len() + usize::from(self.draw.is_some())];
        add(direction.get_mut(a), 1.0);
        add(direction.get_mut(b), -1.0);
        let variance = dot(&self.curvature.solve(&direction), &direction);
        if variance <= 0.0 {
            return 0.5;
        }
        normal::below(dot(&self.strengths, &direction) / variance.sqrt())
    }
}

pub(crate) fn rating(strength: f64) -> f64 {
    RATING_AVERAGE + RATING_SCALE * strength
}
