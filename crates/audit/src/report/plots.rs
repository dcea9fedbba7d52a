//! The plots of a report. Pure.

use super::{Report, sentences};
use crate::league_view::PlayerView;
use crate::league_view::players::Answers;
use matchday_plot::{
    Bar, Bars, Bin, Dot, Dots, HeatCell, HeatMap, Histogram, Line, LineChart, Mark,
};

/// A plot of the page.
pub(super) struct Figure {
    pub(super) title: &'static str,
    pub(super) about: String,
    pub(super) svg: String,
}

/// The plots of the page; none before the first match is decided.
pub(super) fn all(report: &Report) -> Vec<Figure> {
    if report.view.matches_decided == 0 {
        return Vec::new();
    }
    let figure = |title: &'static str, about: &str, svg: String| Figure {
        title,
        about: about.to_owned(),
        svg,
    };
    let about = "The first eight players are labelled; the others are thin lines behind them.";
    let about = if report.view.players.len() > 8 {
        about
    } else {
        ""
    };
    let cross_about = "The points of the player on the left against the one above. T: lost without play. Won-drawn-lost \
                       where they met more than once.";
    let mut figures = vec![
        figure("Points over rounds", about, points(report).svg()),
        figure("Cross table", cross_about, cross(report).svg()),
    ];
    let ratings = ratings(report);
    if !ratings.dots.is_empty() {
        let about = "Where two intervals overlap widely, the standings do not say who is better.";
        figures.push(figure("Ratings", about, ratings.svg()));
    }
    let answers = answers(report);
    if !answers.dots.is_empty() {
        figures.push(figure(
            "Answer times",
            &report.answers_sentence(),
            answers.svg(),
        ));
    }
    if !report.faults.is_empty() {
        figures.push(figure("What went wrong, by kind", "", faults(report).svg()));
    }
    figures
}

/// `Ada`, or `Ada (P01)` if another has the name too.
fn label(report: &Report, player: &PlayerView) -> String {
    let same = report
        .view
        .players
        .iter()
        .filter(|other| other.who.name == player.who.name)
        .count();
    if same > 1 {
        format!("{} ({})", player.who.name, player.who.id)
    } else {
        player.who.name.clone()
    }
}

fn points(report: &Report) -> LineChart {
    let line = |player: &PlayerView| {
        let points = player
            .points_by_round
            .iter()
            .map(|(round, points)| (f64::from(*round), f64::from(*points)));
        let start = (!player.points_by_round.is_empty()).then_some((0.0, 0.0));
        Line::new(
            label(report, player),
            start.into_iter().chain(points).collect(),
        )
    };
    LineChart {
        title: "Points over rounds".into(),
        x: "round".into(),
        y: "points".into(),
        lines: report.view.players.iter().map(line).collect(),
        marks: Vec::new(),
    }
}

/// The score of each player against each other: a draw is half of a win.
fn cross(report: &Report) -> HeatMap {
    let row = |player: &PlayerView| {
        let cell = |other: &PlayerView| {
            let met = player
                .against
                .iter()
                .find(|against| against.who.id == other.who.id)?;
            let text = match met.met() {
                1 if met.technical > 0 => "T".to_owned(),
                1 => met.points().to_string(),
                _ => format!("{}-{}-{}", met.wins, met.draws, met.losses),
            };
            let score = f64::from(met.wins) + f64::from(met.draws) / 2.0;
            Some(HeatCell::new(score / f64::from(met.met().max(1)), text))
        };
        report.view.players.iter().map(cell).collect()
    };
    HeatMap {
        title: "Cross table".into(),
        rows: report
            .view
            .players
            .iter()
            .map(|player| label(report, player))
            .collect(),
        columns: report
            .view
            .players
            .iter()
            .map(|player| player.who.id.clone())
            .collect(),
        cells: report.view.players.iter().map(row).collect(),
        low: (0.0, "lost".into()),
        high: (1.0, "won".into()),
    }
}

/// Range and median of each player's response times; the deadline, if it is in scale.
fn answers(report: &Report) -> Dots {
    let dot = |player: &PlayerView| {
        let answers = &player.answers;
        let [low, median, high] =
            [0.0, 0.5, 1.0].map(|share| answers.quantile(share).map(f64::from));
        Some(Dot::new(label(report, player), median?, low?, high?))
    };
    let dots: Vec<Dot> = report.view.players.iter().filter_map(dot).collect();
    let longest = dots.iter().map(|dot| dot.high).fold(0.0, f64::max);
    Dots {
        title: "Answer times".into(),
        x: "ms, from the shortest to the longest, with the median".into(),
        dots,
        marks: deadline(report.view.deadline_ms, longest)
            .into_iter()
            .collect(),
    }
}

/// A deadline far beyond all answers would compress them.
fn deadline(deadline_ms: u64, longest_ms: f64) -> Option<Mark> {
    let at = deadline_ms as f64;
    (longest_ms * 10.0 >= at).then(|| {
        Mark::new(
            format!("deadline {}", sentences::format_ms(deadline_ms)),
            at,
        )
    })
}

fn ratings(report: &Report) -> Dots {
    let dot = |player: &PlayerView| {
        let strength = report.statistics_of(&player.who.id)?.bradley_terry?;
        Some(Dot::new(
            label(report, player),
            strength.rating,
            strength.low,
            strength.high,
        ))
    };
    let dots: Vec<Dot> = report.view.players.iter().filter_map(dot).collect();
    let marks = if dots.is_empty() {
        Vec::new()
    } else {
        vec![Mark::new("average", 1500.0)]
    };
    Dots {
        title: "Ratings".into(),
        x: "Rating (Bradley-Terry), with its 95 % interval".into(),
        dots,
        marks,
    }
}

fn faults(report: &Report) -> Bars {
    let bar = |fault: &super::Fault| {
        Bar::new(
            format!("{}: {}", fault.group, fault.kind),
            f64::from(fault.count),
        )
    };
    Bars {
        title: "What went wrong, by kind".into(),
        unit: "How often".into(),
        bars: report.faults.iter().take(FAULTS_MAX).map(bar).collect(),
    }
}

/// The table beside the plot has all kinds.
const FAULTS_MAX: usize = 20;

pub(super) fn answers_of(answers: &Answers, deadline_ms: u64) -> Histogram {
    let values: Vec<f64> = answers.ms.iter().copied().map(f64::from).collect();
    let longest = answers.longest().map_or(0.0, f64::from);
    Histogram {
        title: "Answer times".into(),
        x: "ms".into(),
        y: "matches".into(),
        bins: Bin::from_zero(&values, 12),
        marks: deadline(deadline_ms, longest).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_draw_has_the_colour_between_won_and_lost() {
        let report = sample::league();
        let map = cross(&report);
        let middle = f64::midpoint(map.low.0, map.high.0);
        let mut drawn = 0;
        for (player, row) in report.view.players.iter().zip(&map.cells) {
            for (other, cell) in report.view.players.iter().zip(row) {
                let met = player
                    .against
                    .iter()
                    .find(|against| against.who.id == other.who.id);
                if met.is_some_and(|met| met.draws > 0 && met.draws == met.met()) {
                    assert!(
                        cell.as_ref()
                            .is_some_and(|cell| (cell.value - middle).abs() < 1e-9)
                    );
                    drawn += 1;
                }
            }
        }
        assert!(drawn > 0, "the sample has draws");
    }
}
