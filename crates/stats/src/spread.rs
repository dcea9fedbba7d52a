//! How far apart the strengths of a league lie: the deviation of their prior, estimated from the results. Pure.
//!
//! A fixed deviation makes intervals too narrow where strengths lie further apart than it says, and too wide where they
//! lie closer together. So the deviation is a parameter with a prior of its own ([`Hyperprior`]).

use crate::bradley_terry::{Fit, Model, RATING_SCALE};

/// The range of deviations, in rating points. Nearly equal strengths and strengths that decide every match.
pub const DEVIATIONS: [f64; 2] = [25.0, 1200.0];
/// The prior of the deviation. Where results hardly tell how far apart the strengths lie, it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hyperprior {
    /// Uniform, as Gelman (2006) recommends for hierarchical models.
    Uniform,
    /// Uniform in the inverse of the deviation, so that strengths are expected to lie close together.
    Close,
}

impl Hyperprior {
    /// The logarithm of the weight of a node: nodes have equal ratios, so their distances grow with the deviation.
    fn ln_weight(self, deviation: f64) -> f64 {
        match self {
            Self::Uniform => libm::log(deviation),
            Self::Close => -libm::log(deviation),
        }
    }
}

/// Fits of the whole model, to find the deviation.
const FITS: u32 = 12;
/// Nodes of the integral over the deviation.
const NODES: u32 = 64;

/// The fit under the deviation that the results suggest: the geometric mean of its posterior, with Laplace's
/// approximation of the marginal likelihood. `None` if the computation fails numerically.
pub fn fit(model: &Model, hyperprior: Hyperprior) -> Option<Fit> {
    let mut found: Vec<(f64, f64)> = Vec::new();
    let mut start = None;
    // From the narrow end, so that each fit starts near its maximum.
    for deviation in nodes(FITS) {
        let narrowed = model.with_deviation(deviation);
        let fit = match start.take() {
            Some(start) => narrowed.fit_from(start)?,
            None => narrowed.fit()?,
        };
        let at = fit.parameters();
        let evidence = narrowed.log_posterior(&at)
            - model.players() as f64 * libm::log(deviation)
            - 0.5 * fit.curvature.ln_determinant();
        found.push((deviation, evidence + hyperprior.ln_weight(deviation)));
        start = Some(at);
    }
    let most = found
        .iter()
        .fold(f64::NEG_INFINITY, |most, (_, evidence)| most.max(*evidence));
    let mut sum = 0.0;
    let mut weights = 0.0;
    for (deviation, evidence) in found {
        let weight = libm::exp(evidence - most);
        sum += weight * libm::log(deviation);
        weights += weight;
    }
    model
        .with_deviation(libm::exp(sum / weights))
        .fit_from(start?)
}

/// Deviations of strengths over the whole range, with equal ratios.
fn nodes(count: u32) -> impl Iterator<Item = f64> {
    let [low, high] = DEVIATIONS.map(|points| libm::log(points / RATING_SCALE));
    (0..count)
        .map(move |node| libm::exp(low + (high - low) * f64::from(node) / f64::from(count - 1)))
}

/// The prior of all strengths together, with the deviation integrated out.
#[derive(Debug, Clone)]
pub(crate) struct Marginal {
    /// For each node: half its precision, and the logarithm of its weight and of the normal density's constant.
    nodes: Vec<(f64, f64)>,
}

impl Marginal {
    pub(crate) fn new(players: usize, hyperprior: Hyperprior) -> Self {
        let node = |deviation: f64| {
            let constant = hyperprior.ln_weight(deviation) - players as f64 * libm::log(deviation);
            (0.5 * deviation.powi(-2), constant)
        };
        Self {
            nodes: nodes(NODES).map(node).collect(),
        }
    }

    /// The logarithm of the density where strengths have this sum of squares, and the expected precision there: the
    /// gradient is minus that times the strengths.
    pub(crate) fn at(&self, squares: f64) -> (f64, f64) {
        let exponent = |(half, constant): &(f64, f64)| constant - half * squares;
        let most = self
            .nodes
            .iter()
            .map(exponent)
            .fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        let mut precision = 0.0;
        for node in &self.nodes {
            let weight = libm::exp(exponent(node) - most);
            sum += weight;
            precision += weight * 2.0 * node.0;
        }
        (most + libm::log(sum), precision / sum)
    }
}
