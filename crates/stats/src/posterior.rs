//! Credible intervals of strengths: draws from their posterior distribution by Hamiltonian Monte Carlo. Pure.
//!
//! The draws are those of the full model: strengths, draw parameter and the deviation of strengths, which is integrated
//! out. Positions and momenta are measured in units of the curvature at the fit, so that the posterior looks about like
//! a standard normal distribution to the sampler.

use crate::bradley_terry::{Fit, Model, RATING_SCALE};
use crate::normal::Z_95;
use crate::quantile::quantile;
use crate::rng::SeededRng;
use crate::spread::{self, Hyperprior, Marginal};

/// Leapfrog steps of a trajectory: from one up to this number, so that none comes back to its start in a period.
const STEPS_MAX: u32 = 8;
/// The share of accepted trajectories that the step size is tuned for.
const ACCEPTED: f64 = 0.8;
/// The same for steps that widen or narrow all strengths at once.
const STRETCHES_ACCEPTED: f64 = 0.4;
/// Trajectories for tuning, in proportion to the draws that are kept.
const TUNING: u32 = 4;

/// The 95 % credible intervals of all strengths, relative to their average. Every strength of the fit lies within its own.
///
/// They hold under both priors of how far apart the strengths lie: the outer ends follow from the one that expects more,
/// the inner ends from the other. Where there are enough results, both give the same.
pub fn intervals(model: &Model, fit: &Fit, draws: u32, rng: &mut SeededRng) -> Vec<[f64; 2]> {
    let mut found: Vec<[f64; 2]> = fit
        .strengths
        .iter()
        .map(|strength| [*strength; 2])
        .collect();
    for hyperprior in [Hyperprior::Uniform, Hyperprior::Close] {
        let Some(near) = spread::fit(model, hyperprior) else {
            continue;
        };
        let chain = chain(Sampler::new(model, &near, hyperprior), draws, rng);
        for ([low, high], mut seen) in found.iter_mut().zip(chain) {
            seen.sort_by(f64::total_cmp);
            *low = quantile(&seen, 0.025).map_or(*low, |end| end.min(*low));
            *high = quantile(&seen, 0.975).map_or(*high, |end| end.max(*high));
        }
    }
    found
}

/// Draws of each strength, relative to the average.
fn chain(mut sampler: Sampler<'_>, draws: u32, rng: &mut SeededRng) -> Vec<Vec<f64>> {
    for _ in 0..draws / TUNING {
        // A stochastic approximation: sizes settle where the means of what is accepted are as wanted.
        let accepted = sampler.trajectory(rng);
        sampler.step *= libm::exp(0.1 * (accepted - ACCEPTED));
        let accepted = sampler.stretch(rng);
        sampler.stretch =
            (sampler.stretch * libm::exp(0.1 * (accepted - STRETCHES_ACCEPTED))).min(1.0);
    }
    let players = sampler.model.players();
    let mut seen: Vec<Vec<f64>> = vec![Vec::with_capacity(draws as usize); players];
    for _ in 0..draws {
        sampler.trajectory(rng);
        sampler.stretch(rng);
        let strengths = sampler.here.at.get(..players).unwrap_or_default();
        let mean = strengths.iter().sum::<f64>() / players.max(1) as f64;
        seen.iter_mut()
            .zip(strengths)
            .for_each(|(seen, strength)| seen.push(strength - mean));
    }
    seen
}

/// The same by the curvature at the fit, for leagues with so many matches that the posterior is close to normal.
pub fn normal_intervals(fit: &Fit) -> Vec<[f64; 2]> {
    let half = |player: usize| Z_95 * fit.deviation(player) / RATING_SCALE;
    let each = fit.strengths.iter().enumerate();
    each.map(|(player, strength)| [strength - half(player), strength + half(player)])
        .collect()
}

/// A point of the parameter space.
#[derive(Debug, Clone)]
struct Point {
    /// The parameters themselves, and in units of the curvature, from the fit.
    at: Vec<f64>,
    scaled: Vec<f64>,
    log_density: f64,
    /// Of the log density, in the scaled parameters.
    gradient: Vec<f64>,
}

struct Sampler<'a> {
    model: &'a Model,
    fit: &'a Fit,
    origin: Vec<f64>,
    prior: Marginal,
    here: Point,
    step: f64,
    /// The standard deviation of the logarithm by which strengths are stretched.
    stretch: f64,
}

impl<'a> Sampler<'a> {
    fn new(model: &'a Model, fit: &'a Fit, hyperprior: Hyperprior) -> Self {
        let origin = fit.parameters();
        let prior = Marginal::new(model.players(), hyperprior);
        let start = Point {
            at: Vec::new(),
            scaled: Vec::new(),
            log_density: f64::NEG_INFINITY,
            gradient: Vec::new(),
        };
        let step = 0.8 / libm::pow(origin.len() as f64, 0.25);
        let mut sampler = Self {
            model,
            fit,
            origin,
            prior,
            here: start,
            step,
            stretch: 0.3,
        };
        sampler.here = sampler.point(vec![0.0; sampler.origin.len()]);
        sampler
    }

    fn point(&self, scaled: Vec<f64>) -> Point {
        let offset = self.fit.curvature.backward(scaled.clone());
        let at: Vec<f64> = self
            .origin
            .iter()
            .zip(offset)
            .map(|(origin, offset)| origin + offset)
            .collect();
        let (log_prior, precision) = self.prior.at(self.model.squares(&at));
        let log_density = self.model.log_likelihood(&at) + log_prior;
        let gradient = self
            .fit
            .curvature
            .forward(&self.model.gradient_under(&at, precision));
        Point {
            at,
            scaled,
            log_density,
            gradient,
        }
    }

    /// Moves along one trajectory, or stays. Gives the probability with which it was to be accepted.
    fn trajectory(&mut self, rng: &mut SeededRng) -> f64 {
        let mut momentum: Vec<f64> = self.origin.iter().map(|_| rng.normal()).collect();
        let steps = 1 + (rng.share() * f64::from(STEPS_MAX)) as u32;
        let energy = |point: &Point, momentum: &[f64]| {
            0.5 * momentum.iter().map(|part| part * part).sum::<f64>() - point.log_density
        };
        let before = energy(&self.here, &momentum);
        let mut there = self.here.clone();
        for _ in 0..steps {
            kick(&mut momentum, &there.gradient, self.step / 2.0);
            let mut scaled = there.scaled;
            kick(&mut scaled, &momentum, self.step);
            there = self.point(scaled);
            kick(&mut momentum, &there.gradient, self.step / 2.0);
        }
        let rise = before - energy(&there, &momentum);
        let accepted = if rise.is_nan() {
            0.0
        } else {
            libm::exp(rise).min(1.0)
        };
        if rng.share() < accepted {
            self.here = there;
        }
        accepted
    }

    /// A Metropolis step that stretches all strengths alike. Where results say little about how far apart they lie, many
    /// players together change their scale only slowly along trajectories.
    fn stretch(&mut self, rng: &mut SeededRng) -> f64 {
        let by = self.stretch * rng.normal();
        let players = self.model.players();
        let stretched = self.here.at.iter().enumerate();
        let stretched = stretched.map(|(place, x)| {
            if place < players {
                x * libm::exp(by)
            } else {
                *x
            }
        });
        let offset: Vec<f64> = stretched
            .zip(&self.origin)
            .map(|(at, origin)| at - origin)
            .collect();
        let there = self.point(self.fit.curvature.transposed_times(&offset));
        // The volume grows with every strength.
        let rise = there.log_density - self.here.log_density + players as f64 * by;
        let accepted = if rise.is_nan() {
            0.0
        } else {
            libm::exp(rise).min(1.0)
        };
        if rng.share() < accepted {
            self.here = there;
        }
        accepted
    }
}

fn kick(values: &mut [f64], by: &[f64], step: f64) {
    values
        .iter_mut()
        .zip(by)
        .for_each(|(value, by)| *value += step * by);
}
