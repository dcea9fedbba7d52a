//! Bradley-Terry with draws: the strengths that explain all results of a league best, whatever their order. Pure.
//!
//! The model is Davidson's (1970). With strengths `x` on a logarithmic scale and a common inclination `d` to draw, the
//! chances of the first player, a draw and the second player are as `exp(x₁)`, `exp(d + (x₁ + x₂) / 2)`, `exp(x₂)`. In a
//! league without a draw it is the plain model of Bradley and Terry (1952).
//!
//! Before any match, a strength is taken to lie about the average, with the deviation that Glicko-2 begins with. So the
//! strength of somebody who has won everything stays finite, and a few matches do not make giants.

use crate::chance::Chance;
use crate::cholesky::{Cholesky, dot};
use crate::normal;
use crate::results::{Game, Verdict, Wdl};
use std::collections::BTreeMap;

/// Points of rating to a unit of strength, such that ten to one are 400 points, as for Elo and Glicko.
pub const RATING_SCALE: f64 = 400.0 / std::f64::consts::LN_10;
pub const RATING_AVERAGE: f64 = 1500.0;

/// What is believed before any match: deviations about an average player, and about as many draws as wins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    pub strength_deviation: f64,
    pub draw_deviation: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Self { strength_deviation: 350.0 / RATING_SCALE, draw_deviation: 2.0 }
    }
}

/// What two players have done against each other, seen from the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub a: usize,
    pub b: usize,
    pub record: Wdl,
}

/// The results of a league, ready to be explained.
#[derive(Debug, Clone)]
pub struct Model {
    players: usize,
    pairs: Vec<Pair>,
    prior: Prior,
    with_draws: bool,
}

/// The strengths that explain the results best.
#[derive(Debug, Clone)]
pub struct Fit {
    /// One for each player, on a logarithmic scale; they sum up to 0.
    pub strengths: Vec<f64>,
    /// The inclination to draw, on the same scale; `None` where nothing was drawn.
    pub draw: Option<f64>,
    /// The curvature at the top, taken apart: how sharply the results speak.
    pub(crate) curvature: Cholesky,
}

const STEPS_MAX: usize = 200;
const HALVINGS_MAX: usize = 60;
const SLOPE_MIN: f64 = 1e-8;

impl Model {
    pub fn of(players: usize, games: &[Game], prior: Prior) -> Self {
        let mut records: BTreeMap<(usize, usize), Wdl> = BTreeMap::new();
        for game in games.iter().filter(|game| game.a < players && game.b < players && game.a != game.b) {
            let (a, b) = (game.a.min(game.b), game.a.max(game.b));
            let turned = match game.verdict {
                Verdict::A if game.a > game.b => Verdict::B,
                Verdict::B if game.a > game.b => Verdict::A,
                as_it_is => as_it_is,
            };
            records.entry((a, b)).or_default().count(turned);
        }
        let pairs = records.into_iter().map(|((a, b), record)| Pair { a, b, record });
        Self::of_pairs(players, pairs.collect(), prior)
    }

    pub fn of_pairs(players: usize, pairs: Vec<Pair>, prior: Prior) -> Self {
        let with_draws = pairs.iter().any(|pair| pair.record.draws > 0);
        Self { players, pairs, prior, with_draws }
    }

    /// The same pairs with other results, explained with the same inclination to draw or none.
    pub(crate) fn with(&self, pairs: Vec<Pair>) -> Self {
        Self { pairs, ..self.clone() }
    }

    pub(crate) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Finds the top. `None` only if numbers fail, as with a prior of no deviation.
    pub fn fit(&self) -> Option<Fit> {
        let start = vec![0.0; self.players + usize::from(self.with_draws)];
        let curvature = Cholesky::of(&self.curvature(&start))?;
        self.climb(start, curvature, SLOPE_MIN)
    }

    /// The same, from a place near the top, and only roughly.
    pub(crate) fn fit_from(&self, near: &Fit) -> Option<Fit> {
        let start = near.strengths.iter().copied().chain(near.draw).collect();
        self.climb(start, near.curvature.clone(), SLOPE_MIN * 1e4)
    }

    /// Newton's method. Taking the curvature apart is the dear part, so that is done again only when it has become wrong.
    fn climb(&self, start: Vec<f64>, curvature: Cholesky, slope_min: f64) -> Option<Fit> {
        let (mut at, mut curvature) = (start, curvature);
        let mut fresh = true;
        let mut steepness = f64::INFINITY;
        for _ in 0..STEPS_MAX {
            let slope = self.slope(&at);
            let steep = slope.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
            if steep < slope_min {
                break;
            }
            if !fresh && steep > steepness / 4.0 {
                curvature = Cholesky::of(&self.curvature(&at))?;
            }
            (fresh, steepness) = (false, steep);
            at = self.upwards(at, &curvature.solve(&slope), &slope);
        }
        // The curvature at the top itself, for those who ask how sharp it is.
        let curvature = if slope_min > SLOPE_MIN { curvature } else { Cholesky::of(&self.curvature(&at))? };
        let draw = if self.with_draws { at.pop() } else { None };
        Some(Fit { strengths: at, draw, curvature })
    }

    /// As far along the step as it goes upwards.
    fn upwards(&self, from: Vec<f64>, step: &[f64], slope: &[f64]) -> Vec<f64> {
        let (height, rise) = (self.height(&from), dot(step, slope));
        let mut length = 1.0;
        for _ in 0..HALVINGS_MAX {
            let to: Vec<f64> = from.iter().zip(step).map(|(from, step)| from + length * step).collect();
            // Close to the top a rise is lost in rounding.
            if self.height(&to) >= height + 1e-4 * length * rise - 1e-12 * height.abs() {
                return to;
            }
            length /= 2.0;
        }
        from
    }

    fn draw_at(&self, at: &[f64]) -> Option<f64> {
        if self.with_draws { at.last().copied() } else { None }
    }

    /// How well these strengths explain the results: the logarithm of the likelihood, and of the prior.
    fn height(&self, at: &[f64]) -> f64 {
        let draw = self.draw_at(at);
        let told = self.pairs.iter().map(|pair| {
            let Chance { win, draw, loss } = chance(difference(at, pair), draw);
            let part = |count: u64, chance: f64| if count == 0 { 0.0 } else { count as f64 * chance.ln() };
            part(pair.record.wins, win) + part(pair.record.draws, draw) + part(pair.record.losses, loss)
        });
        let [strength, inclination] = self.precisions();
        let squares: f64 = at.iter().take(self.players).map(|x| x * x).sum();
        told.sum::<f64>() - 0.5 * (strength * squares + inclination * draw.unwrap_or(0.0).powi(2))
    }

    fn slope(&self, at: &[f64]) -> Vec<f64> {
        let [strength, inclination] = self.precisions();
        let mut slope: Vec<f64> = at.iter().map(|x| -strength * x).collect();
        let draw = self.draw_at(at);
        let mut of_draw = -inclination * draw.unwrap_or(0.0);
        for pair in &self.pairs {
            let expected = chance(difference(at, pair), draw);
            let Wdl { wins, draws, losses } = pair.record;
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

    /// How the slope falls in each direction: each row up to its diagonal.
    fn curvature(&self, at: &[f64]) -> Vec<Vec<f64>> {
        let [strength, inclination] = self.precisions();
        let mut rows: Vec<Vec<f64>> = (0..at.len())
            .map(|place| {
                let mut row = vec![0.0; place + 1];
                add(row.last_mut(), if place < self.players { strength } else { inclination });
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
                put(self.players, self.players, n * expected.draw * (1.0 - expected.draw));
            }
        }
        rows
    }

    fn precisions(&self) -> [f64; 2] {
        [self.prior.strength_deviation, self.prior.draw_deviation].map(|deviation| deviation.powi(-2))
    }
}

fn add(to: Option<&mut f64>, part: f64) {
    if let Some(to) = to {
        *to += part;
    }
}

fn difference(at: &[f64], pair: &Pair) -> f64 {
    at.get(pair.a).zip(at.get(pair.b)).map_or(0.0, |(a, b)| a - b)
}

/// The chances of a player against one who is weaker by this.
fn chance(difference: f64, draw: Option<f64>) -> Chance {
    let half = difference / 2.0;
    let drawn = draw.unwrap_or(f64::NEG_INFINITY);
    let largest = half.abs().max(drawn);
    let [win, draw, loss] = [half, drawn, -half].map(|part| (part - largest).exp());
    let all = win + draw + loss;
    Chance { win: win / all, draw: draw / all, loss: loss / all }
}

impl Fit {
    /// On the scale of Elo and Glicko, about 1500.
    pub fn ratings(&self) -> impl Iterator<Item = f64> {
        self.strengths.iter().map(|strength| rating(*strength))
    }

    /// How a match between two of the players is expected to end, for the first of them.
    pub fn chance(&self, a: usize, b: usize) -> Chance {
        chance(difference(&self.strengths, &Pair { a, b, record: Wdl::default() }), self.draw)
    }

    /// How far a player's rating, compared with the average of all, may be off: its standard deviation, in points of rating.
    /// With few results it is about what is believed before any match.
    pub fn deviation(&self, player: usize) -> f64 {
        let all = self.strengths.len();
        let mut direction = vec![-1.0 / all.max(1) as f64; all];
        add(direction.get_mut(player), 1.0);
        direction.extend(self.draw.map(|_| 0.0));
        let variance = dot(&self.curvature.solve(&direction), &direction);
        RATING_SCALE * variance.max(0.0).sqrt()
    }

    /// How likely it is that the first of two players is the stronger one.
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
