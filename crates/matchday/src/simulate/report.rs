//! The results of a simulation, as data. Except for `took`, they depend only on the seed.

use matchday_simulate::Pair;
use matchday_simulate::summary::{self, Estimate, Row, SeasonRow};
use matchday_stats::elo::EloDifference;
use matchday_stats::sprt::{Answer, Standing};
use serde::Serialize;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) game: String,
    pub(crate) seed: u64,
    /// Whether it was interrupted.
    pub(crate) interrupted: bool,
    pub(crate) matches: u64,
    #[serde(flatten)]
    pub(crate) results: Results,
    /// External programs that failed, with the reason of the last failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) complaints: Vec<ProgramFailure>,
    pub(crate) took: RunTime,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Results {
    Duels {
        /// After how many matches both players forget.
        series: u32,
        /// From how many openings the matches began; 0 if from the start.
        openings: usize,
        strategies: Vec<Row>,
        pairs: Vec<PairResult>,
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
pub(crate) struct PairResult {
    pub(crate) a: String,
    pub(crate) b: String,
    #[serde(flatten)]
    pub(crate) tally: matchday_simulate::Tally,
    /// A draw counts as half a win.
    pub(crate) score: Option<Estimate>,
    pub(crate) points_per_match: Option<Estimate>,
    pub(crate) elo: Option<EloDifference>,
    /// From pairs of matches with swapped seats.
    pub(crate) normalised_elo: Option<EloDifference>,
    /// How many different games were played, if they repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) different_games: Option<u64>,
}

impl PairResult {
    pub(crate) fn of(names: &[String], pair: &Pair) -> Self {
        let name = |place: usize| names.get(place).cloned().unwrap_or_default();
        let (score, points_per_match, elo) = summary::of_pair(&pair.tally);
        Self {
            a: name(pair.a),
            b: name(pair.b),
            tally: pair.tally,
            score,
            points_per_match,
            elo,
            normalised_elo: pair.tally.pairs.normalised_elo(),
            different_games: pair.distinct.replayed(pair.tally.matches()),
        }
    }
}

/// The result of the SPRT.
#[derive(Debug, Serialize)]
pub(crate) struct SprtVerdict {
    #[serde(flatten)]
    pub(crate) question: SprtQuestion,
    #[serde(flatten)]
    pub(crate) standing: Standing,
    pub(crate) sentence: String,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct SprtQuestion {
    pub(crate) elo0: f64,
    pub(crate) elo1: f64,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
}

impl SprtVerdict {
    pub(crate) fn of(question: SprtQuestion, standing: Standing, [a, b]: [&str; 2], matches: u64) -> Self {
        let SprtQuestion { elo0, elo1, alpha, beta } = question;
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
        Self { question, standing, sentence }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct ProgramFailure {
    pub(crate) strategy: String,
    pub(crate) last: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct RunTime {
    pub(crate) threads: usize,
    pub(crate) seconds: f64,
    pub(crate) matches_per_second: f64,
}

impl RunTime {
    pub(crate) fn of(threads: usize, took: Duration, matches: u64) -> Self {
        let seconds = took.as_secs_f64();
        Self { threads, seconds, matches_per_second: matches as f64 / seconds.max(1e-9) }
    }
}
