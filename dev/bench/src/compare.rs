//! Compares two runs: which figures differ significantly, and in which direction. Pure.

use crate::quantiles::median;
use serde::Serialize;
use std::fmt;

/// Fewer runs do not show the variation.
const RUNS_MIN: usize = 3;
/// Smaller relative differences are not reported.
const CHANGE_MIN: f64 = 0.02;

/// A figure that was measured in each of several runs.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) what: String,
    pub(crate) more: More,
    pub(crate) values: Vec<f64>,
}

/// The meaning of an increase.
#[derive(Debug, Clone, Copy)]
pub(crate) enum More {
    Faster,
    Slower,
    Larger,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct RunRange {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) runs: usize,
}

impl RunRange {
    fn of(figures: &[f64]) -> Option<Self> {
        Some(Self {
            median: median(figures.iter().copied())?,
            least: figures.iter().copied().min_by(f64::total_cmp)?,
            most: figures.iter().copied().max_by(f64::total_cmp)?,
            runs: figures.len(),
        })
    }
}

impl fmt::Display for RunRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            median,
            least,
            most,
            ..
        } = self;
        let places = if *most < 10.0 { 2 } else { 0 };
        write!(f, "{median:.places$} ({least:.places$} to {most:.places$})")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Faster,
    Slower,
    Smaller,
    Larger,
    /// The ranges of the two sides overlap, or there are too few runs.
    #[serde(rename = "cannot_be_told")]
    Inconclusive,
}

impl Verdict {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Smaller => "smaller",
            Self::Larger => "larger",
            Self::Inconclusive => "no difference that can be told",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Change {
    pub(crate) what: String,
    pub(crate) before: RunRange,
    pub(crate) now: RunRange,
    pub(crate) verdict: Verdict,
}

/// Compares every figure that both runs have.
pub(crate) fn compare(before: &[Sample], now: &[Sample]) -> Vec<Change> {
    let change_of = |new: &Sample| {
        let old = before.iter().find(|old| old.what == new.what)?;
        change(new.what.clone(), new.more, &old.values, &new.values)
    };
    now.iter().filter_map(change_of).collect()
}

/// Two figures differ if the ranges of their runs do not overlap. With three runs on each side this happens by chance
/// in one of ten cases; with five, in fewer than one of a hundred.
fn change(what: String, more: More, before: &[f64], now: &[f64]) -> Option<Change> {
    let before = RunRange::of(before)?;
    let now = RunRange::of(now)?;
    let apart = now.least > before.most || now.most < before.least;
    let enough = before.runs >= RUNS_MIN && now.runs >= RUNS_MIN;
    let large_enough = (now.median / before.median - 1.0).abs() >= CHANGE_MIN;
    let verdict = match (
        apart && enough && large_enough,
        more,
        now.median > before.median,
    ) {
        (false, ..) => Verdict::Inconclusive,
        (_, More::Faster, true) | (_, More::Slower, false) => Verdict::Faster,
        (_, More::Faster, false) | (_, More::Slower, true) => Verdict::Slower,
        (_, More::Larger, true) => Verdict::Larger,
        (_, More::Larger, false) => Verdict::Smaller,
    };
    Some(Change {
        what,
        before,
        now,
        verdict,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(more: More, before: &[f64], now: &[f64]) -> Verdict {
        change("it".to_owned(), more, before, now).unwrap().verdict
    }

    #[test]
    fn runs_that_lie_apart_tell_a_difference() {
        let low = [1.0, 1.1, 1.2];
        let high = [1.3, 1.4, 1.5];
        assert_eq!(verdict(More::Faster, &low, &high), Verdict::Faster);
        assert_eq!(verdict(More::Faster, &high, &low), Verdict::Slower);
        assert_eq!(verdict(More::Slower, &low, &high), Verdict::Slower);
        assert_eq!(verdict(More::Slower, &high, &low), Verdict::Faster);
        assert_eq!(verdict(More::Larger, &low, &high), Verdict::Larger);
        assert_eq!(verdict(More::Larger, &high, &low), Verdict::Smaller);
    }

    #[test]
    fn runs_that_lie_among_each_other_tell_none() {
        let found = verdict(More::Faster, &[1.0, 1.1, 1.4], &[1.3, 1.5, 1.6]);
        assert_eq!(found, Verdict::Inconclusive);
    }

    #[test]
    fn too_few_runs_tell_nothing() {
        assert_eq!(
            verdict(More::Faster, &[1.0, 1.0], &[9.0, 9.0, 9.0]),
            Verdict::Inconclusive
        );
    }

    #[test]
    fn a_difference_of_a_hundredth_is_not_worth_a_word() {
        let found = verdict(More::Larger, &[100.0, 100.0, 100.0], &[101.0, 101.0, 101.0]);
        assert_eq!(found, Verdict::Inconclusive);
    }

    #[test]
    fn what_was_not_measured_is_not_compared() {
        assert_eq!(change("it".to_owned(), More::Faster, &[], &[1.0]), None);
    }
}
