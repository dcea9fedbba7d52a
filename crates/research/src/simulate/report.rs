//! The results of a simulation, as data. Except for `took`, they depend only on the seed.

use crate::Pair;
use crate::summary::{self, Row, SeasonRow};
use matchday_audit::best_response::BestResponse;
use matchday_stats::elo::EloDifference;
use matchday_stats::estimate::Estimate;
use matchday_stats::sprt::{Answer, Standing};
use serde::Serialize;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub struct Report {
    pub game: String,
    pub seed: u64,
    /// Whether it was interrupted.
    pub interrupted: bool,
    pub matches: u64,
    #[serde(flatten)]
    pub results: Results,
    /// External programs that failed, with the reason of the last failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<ProgramFailure>,
    pub took: RunTime,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Results {
    Duels {
        /// After how many matches both players forget.
        series: u32,
        /// From how many openings the matches began; 0 if from the start.
        openings: usize,
        strategies: Vec<Row>,
        pairs: Vec<PairResult>,
        /// Of games of simultaneous choice.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        best_responses: Vec<BestResponse>,
        #[serde(skip_serializing_if = "Option::is_none")]
        sprt: Option<SprtVerdict>,
    },
    Leagues {
        format: String,
        leagues: u64,
        strategies: Vec<SeasonRow>,
    },
}

/// From the first strategy's point of view.
#[derive(Debug, Serialize)]
pub struct PairResult {
    pub a: String,
    pub b: String,
    #[serde(flatten)]
    pub tally: crate::Tally,
    /// A draw counts as half a win.
    pub score: Option<Estimate>,
    pub points_per_match: Option<Estimate>,
    /// What the game itself pays each for a match, if its tables go by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payoffs_per_match: Option<[f64; 2]>,
    pub elo: Option<EloDifference>,
    /// From pairs of matches with swapped seats.
    pub normalised_elo: Option<EloDifference>,
    /// How many different games were played, if they repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub different_games: Option<u64>,
}

impl PairResult {
    pub fn of(names: &[String], pair: &Pair) -> Self {
        let name = |place: usize| names.get(place).cloned().unwrap_or_default();
        let (score, points_per_match, elo) = summary::of_pair(&pair.tally);
        Self {
            a: name(pair.a),
            b: name(pair.b),
            tally: pair.tally,
            score,
            points_per_match,
            payoffs_per_match: summary::payoffs_of_pair(&pair.tally),
            elo,
            normalised_elo: pair.tally.pairs.normalised_elo(),
            different_games: pair.distinct.replayed(pair.tally.matches()),
        }
    }
}

/// The result of the SPRT.
#[derive(Debug, Serialize)]
pub struct SprtVerdict {
    #[serde(flatten)]
    pub question: SprtQuestion,
    #[serde(flatten)]
    pub standing: Standing,
    pub sentence: String,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct SprtQuestion {
    pub elo0: f64,
    pub elo1: f64,
    pub alpha: f64,
    pub beta: f64,
}

impl SprtVerdict {
    pub fn of(question: SprtQuestion, standing: Standing, [a, b]: [&str; 2], matches: u64) -> Self {
        let SprtQuestion {
            elo0,
            elo1,
            alpha,
            beta,
        } = question;
        let often = |share: f64| format!("{} %", share * 100.0);
        let matches = super::progress::grouped(matches);
        let sentence = match standing.answer {
            Answer::Elo1 => format!(
                "Settled after {matches} matches: {a} is better than {b}, by {elo1} Elo rather than by {elo0}. \
                 If it were better by {elo0} or less, at most {} of such tests would say so.",
                often(alpha)
            ),
            Answer::Elo0 => format!(
                "Settled after {matches} matches: {a} is not {elo1} Elo better than {b}; {elo0} or less explains \
                 the results better. If it were better by {elo1} or more, at most {} of such tests would say so.",
                often(beta)
            ),
            Answer::Open => format!(
                "Not settled after {matches} matches: whether {a} is {elo1} Elo better than {b} or only {elo0} \
                 needs more of them (--matches)."
            ),
        };
        Self {
            question,
            standing,
            sentence,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct ProgramFailure {
    pub strategy: String,
    pub last: String,
}

#[derive(Debug, Serialize)]
pub struct RunTime {
    pub threads: usize,
    pub seconds: f64,
    pub matches_per_second: f64,
}

impl RunTime {
    pub fn of(threads: usize, took: Duration, matches: u64) -> Self {
        let seconds = took.as_secs_f64();
        Self {
            threads,
            seconds,
            matches_per_second: matches as f64 / seconds.max(1e-9),
        }
    }
}
