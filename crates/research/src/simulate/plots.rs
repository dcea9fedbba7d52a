//! The plots of a simulation. Pure.

use super::report::{PairResult, Report, Results};
use crate::summary::{Row, SeasonRow, share};
use matchday_plot::{Dot, Dots, HeatCell, HeatMap};
use matchday_stats::estimate::Estimate;

impl Report {
    /// Scores of each pair, or how often each strategy reached each rank.
    pub fn heat_map(&self) -> HeatMap {
        match &self.results {
            Results::Duels {
                strategies, pairs, ..
            } if strategies.iter().any(|row| row.payoff_per_match.is_some()) => {
                payoffs(&self.game, strategies, pairs)
            }
            Results::Duels {
                strategies, pairs, ..
            } => of_duels(&self.game, strategies, pairs),
            Results::Leagues {
                leagues,
                strategies,
                format,
            } => of_leagues(&self.game, format, *leagues, strategies),
        }
    }

    pub fn dots(&self) -> Dots {
        let dot = |name: &str, points: Option<Estimate>| {
            points.map(|points| Dot::new(name, points.value, points.low, points.high))
        };
        let rows: Vec<_> = match &self.results {
            Results::Duels { strategies, .. } => strategies
                .iter()
                .map(|row| (&row.strategy, row.payoff_per_match, row.points_per_match))
                .collect(),
            Results::Leagues { strategies, .. } => strategies
                .iter()
                .map(|row| (&row.strategy, row.payoff_per_match, row.points_per_match))
                .collect(),
        };
        let goes_by_payoff = rows.iter().any(|(_, payoff, _)| payoff.is_some());
        let (title, x) = if goes_by_payoff {
            ("Payoff for each match", "payoff")
        } else {
            ("Points for each match", "points")
        };
        Dots {
            title: title.into(),
            x: x.into(),
            dots: rows
                .into_iter()
                .filter_map(|(name, payoff, points)| dot(name, payoff.or(points)))
                .collect(),
            ..Dots::default()
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

pub fn of_duels(game: &str, strategies: &[Row], pairs: &[PairResult]) -> HeatMap {
    let names: Vec<String> = strategies.iter().map(|row| row.strategy.clone()).collect();
    let score = |row: &str, column: &str| {
        let score = |meeting: &PairResult| meeting.score.map(|score| score.value);
        let found = pairs
            .iter()
            .find(|pair| pair.a == row && pair.b == column)
            .and_then(score);
        let turned = || {
            pairs
                .iter()
                .find(|pair| pair.a == column && pair.b == row)
                .and_then(score)
        };
        found.or_else(|| turned().map(|score| 1.0 - score))
    };
    let cell = |row: &str, column: &str| {
        score(row, column).map(|score| HeatCell::new(score, percent(score)))
    };
    HeatMap {
        title: format!(
            "{game}: the score of each row against each column in %, a draw as half a win"
        ),
        cells: names
            .iter()
            .map(|row| names.iter().map(|column| cell(row, column)).collect())
            .collect(),
        columns: names.clone(),
        rows: names,
        low: (0.0, "loses".into()),
        high: (1.0, "wins".into()),
    }
}

/// What each row is paid against each column.
fn payoffs(game: &str, strategies: &[Row], pairs: &[PairResult]) -> HeatMap {
    let names: Vec<String> = strategies.iter().map(|row| row.strategy.clone()).collect();
    let payoff = |row: &str, column: &str| {
        pairs.iter().find_map(|pair| {
            let [a, b] = pair.payoffs_per_match?;
            if pair.a == row && pair.b == column {
                Some(a)
            } else {
                (pair.a == column && pair.b == row).then_some(b)
            }
        })
    };
    matrix(game, &names, |row, column| {
        payoff(names.get(row)?, names.get(column)?)
    })
}

/// What each name is paid for a match against each of the others.
pub fn matrix(
    game: &str,
    names: &[String],
    payoff: impl Fn(usize, usize) -> Option<f64>,
) -> HeatMap {
    let places = 0..names.len();
    let cells: Vec<Vec<Option<HeatCell>>> = places
        .clone()
        .map(|row| {
            let cell =
                |column| payoff(row, column).map(|mean| HeatCell::new(mean, format!("{mean:.1}")));
            places.clone().map(cell).collect()
        })
        .collect();
    let all = || {
        places
            .clone()
            .flat_map(|row| places.clone().map(move |column| (row, column)))
            .filter_map(|(row, column)| payoff(row, column))
    };
    HeatMap {
        title: format!("{game}: what each row scores in a match against each column"),
        low: (all().fold(f64::INFINITY, f64::min), "least".into()),
        high: (all().fold(f64::NEG_INFINITY, f64::max), "most".into()),
        cells,
        columns: names.to_vec(),
        rows: names.to_vec(),
    }
}

fn of_leagues(game: &str, format: &str, leagues: u64, strategies: &[SeasonRow]) -> HeatMap {
    let cell = |count: &u64| {
        share(*count, leagues).map(|share| HeatCell::new(share.value, percent(share.value)))
    };
    let most = strategies
        .iter()
        .flat_map(|row| &row.places)
        .max()
        .copied()
        .unwrap_or(0);
    HeatMap {
        title: format!("{game}, {format}: how often each comes in first, second and so on, in %"),
        rows: strategies.iter().map(|row| row.strategy.clone()).collect(),
        columns: (1..=strategies.len())
            .map(|place| place.to_string())
            .collect(),
        cells: strategies
            .iter()
            .map(|row| row.places.iter().map(cell).collect())
            .collect(),
        low: (0.0, "never".into()),
        high: (
            share(most, leagues).map_or(1.0, |share| share.value),
            "most often".into(),
        ),
    }
}
