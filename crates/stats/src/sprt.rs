//! A test that stops as soon as it can: is one player at least `elo1` better than another, or not even `elo0`? Pure.
//!
//! Wald's sequential probability ratio test (1945), generalised to wins, draws and losses as chess engines are tested:
//! under each hypothesis the outcomes have the likeliest distribution with that expected score, whatever the share of
//! draws (Van den Bergh, "A practical introduction to the GSPRT").

use crate::elo;
use crate::results::Wdl;
use serde::{Deserialize, Serialize};

/// The question, and how often the answer may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

/// Why there is no such test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTest {
    #[error("elo0 must be below elo1, and both between -2000 and 2000")]
    Hypotheses,
    #[error("alpha and beta must lie above 0 and below 0.5")]
    Errors,
}

/// How far a test has come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The logarithm of how much better `elo1` explains the results than `elo0`.
    pub llr: f64,
    pub lower: f64,
    pub upper: f64,
    pub answer: Answer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The difference is `elo0` or less.
    Elo0,
    /// The difference is `elo1` or more.
    Elo1,
    /// More matches are needed.
    Open,
}

impl Sprt {
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Self, NoTest> {
        // Written so that what is no number is refused too.
        let fits = |elo: f64| (-2000.0..=2000.0).contains(&elo);
        if !(fits(elo0) && fits(elo1) && elo0 < elo1) {
            return Err(NoTest::Hypotheses);
        }
        if ![alpha, beta].iter().all(|share| *share > 0.0 && *share < 0.5) {
            return Err(NoTest::Errors);
        }
        Ok(Self { elo0, elo1, alpha, beta })
    }

    pub fn standing(&self, record: Wdl) -> Standing {
        let (lower, upper) = self.bounds();
        let llr = self.llr(record);
        let answer = if llr >= upper {
            Answer::Elo1
        } else if llr <= lower {
            Answer::Elo0
        } else {
            Answer::Open
        };
        Standing { llr, lower, upper, answer }
    }

    /// Wald's bounds.
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The logarithm of the likelihood ratio; 0 without a match.
    pub fn llr(&self, record: Wdl) -> f64 {
        if record.total() == 0 {
            return 0.0;
        }
        let outcomes = outcomes(record);
        let [s0, s1] = [self.elo0, self.elo1].map(elo::to_score);
        let (t0, t1) = (tilt(&outcomes, s0), tilt(&outcomes, s1));
        // Under a hypothesis an outcome has the share p / (1 + t (score - s)); the seen share cancels out.
        let each = outcomes
            .map(|(score, count)| count * ((1.0 + t0 * (score - s0)) / (1.0 + t1 * (score - s1))).ln());
        each.iter().sum()
    }
}

/// What every match can bring, and how often it did. An outcome that has not been seen yet counts as a thousandth of a
/// match, since the likeliest distribution must be able to hold it.
fn outcomes(record: Wdl) -> [(f64, f64); 3] {
    let count = |seen: u64| if seen == 0 { 1e-3 } else { seen as f64 };
    [(0.0, count(record.losses)), (0.5, count(record.draws)), (1.0, count(record.wins))]
}

/// How the seen shares are tilted until their mean is `score`: the root of a function that falls all the way, so halving
/// finds it.
fn tilt(outcomes: &[(f64, f64); 3], score: f64) -> f64 {
    let excess = |t: f64| -> f64 {
        outcomes.iter().map(|(value, count)| count * (value - score) / (1.0 + t * (value - score))).sum()
    };
    // Beyond these an outcome would have a share below nothing.
    let (mut low, mut high) = (-1.0 / (1.0 - score), 1.0 / score);
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
