//! A sequential test: is one player at least `elo1` better than another, or at most `elo0`? Pure.
//!
//! Wald's sequential probability ratio test (1945), generalised to wins, draws and losses as used for chess engines:
//! under each hypothesis the results have the maximum likelihood distribution with that expected score, whatever the
//! share of draws (Van den Bergh, "A practical introduction to the GSPRT"). Matches may depend on the seat; then pairs
//! with swapped seats are the results, which have five scores instead of three.

use crate::elo;
use crate::pentanomial::Pentanomial;
use crate::results::Wdl;
use serde::{Deserialize, Serialize};

/// The hypotheses, and the bounds of the error probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTest {
    #[error("elo0 must be below elo1, and both between -2000 and 2000")]
    Hypotheses,
    #[error("alpha and beta must lie above 0 and below 0.5")]
    Errors,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The log likelihood ratio of `elo1` to `elo0`.
    pub llr: f64,
    pub lower: f64,
    pub upper: f64,
    pub answer: Answer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Accepts `elo0`.
    Elo0,
    /// Accepts `elo1`.
    Elo1,
    /// More matches are needed.
    Open,
}

/// Results counted by score, with scores evenly spaced from 0 to 1.
pub trait ByScore {
    fn counts(&self) -> Vec<u64>;
}

impl ByScore for Wdl {
    fn counts(&self) -> Vec<u64> {
        vec![self.losses, self.draws, self.wins]
    }
}

impl ByScore for Pentanomial {
    fn counts(&self) -> Vec<u64> {
        self.0.to_vec()
    }
}

impl Sprt {
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Self, NoTest> {
        // Written so that NaN is refused too.
        let fits = |elo: f64| (-2000.0..=2000.0).contains(&elo);
        if !(fits(elo0) && fits(elo1) && elo0 < elo1) {
            return Err(NoTest::Hypotheses);
        }
        if ![alpha, beta]
            .iter()
            .all(|share| *share > 0.0 && *share < 0.5)
        {
            return Err(NoTest::Errors);
        }
        Ok(Self {
            elo0,
            elo1,
            alpha,
            beta,
        })
    }

    pub fn standing(&self, results: impl ByScore) -> Standing {
        let (lower, upper) = self.bounds();
        let llr = self.llr(results);
        let answer = if llr >= upper {
            Answer::Elo1
        } else if llr <= lower {
            Answer::Elo0
        } else {
            Answer::Open
        };
        Standing {
            llr,
            lower,
            upper,
            answer,
        }
    }

    /// Wald's bounds.
    pub fn bounds(&self) -> (f64, f64) {
        (
            libm::log(self.beta / (1.0 - self.alpha)),
            libm::log((1.0 - self.beta) / self.alpha),
        )
    }

    /// 0 without a result.
    pub fn llr(&self, results: impl ByScore) -> f64 {
        let counts = results.counts();
        if counts.iter().all(|count| *count == 0) {
            return 0.0;
        }
        let outcomes = outcomes(&counts);
        let [s0, s1] = [self.elo0, self.elo1].map(elo::to_score);
        let t0 = tilt(&outcomes, s0);
        let t1 = tilt(&outcomes, s1);
        // Under a hypothesis a result has the probability p / (1 + t (score - s)); the observed share p cancels out.
        let each = outcomes.iter().map(|(score, count)| {
            count * libm::log((1.0 + t0 * (score - s0)) / (1.0 + t1 * (score - s1)))
        });
        each.sum()
    }
}

/// Scores and counts. A result that was not observed counts as a thousandth of one, so that every distribution can
/// contain it.
fn outcomes(counts: &[u64]) -> Vec<(f64, f64)> {
    let best = counts.len().saturating_sub(1).max(1) as f64;
    let count = |seen: u64| if seen == 0 { 1e-3 } else { seen as f64 };
    counts
        .iter()
        .enumerate()
        .map(|(place, seen)| (place as f64 / best, count(*seen)))
        .collect()
}

/// The parameter that tilts the observed distribution to the mean `score`: the root of a decreasing function, by
/// bisection.
fn tilt(outcomes: &[(f64, f64)], score: f64) -> f64 {
    let excess = |t: f64| -> f64 {
        outcomes
            .iter()
            .map(|(value, count)| count * (value - score) / (1.0 + t * (value - score)))
            .sum()
    };
    // Outside these bounds a probability would be negative.
    let mut low = -1.0 / (1.0 - score);
    let mut high = 1.0 / score;
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}
