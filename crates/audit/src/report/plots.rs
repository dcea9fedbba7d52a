//! The plots of a report. Pure.

use super::{Answers, Player, Report, sentences};
use matchday_plot::{Bar, Bars, Bin, Dot, Dots, HeatCell, HeatMap, Histogram, Line, LineChart, Mark};

/// `Ada`, or `Ada (P01)` if another has the name too.
fn label(report: &Report, player: &Player) -> String {
    let same = report.players.iter().filter(|other| other.who.name == player.who.name).count();
    if same > 1 { format!("{} ({})", player.who.name, player.who.id) } else { player.who.name.clone() }
}

pub(super) fn points(report: &Report) -> LineChart {
    let line = |player: &Player| {
        let points =
            player.points_by_round.iter().map(|(round, points)| (f64::from(*round), f64::from(*points)));
        let start = (!player.points_by_round.is_empty()).then_some((0.0, 0.0));
        Line::new(label(report, player), start.into_iter().chain(points).collect())
    };
    LineChart {
        title: "Points over rounds".into(),
        x: "round".into(),
        y: "points".into(),
        lines: report.players.iter().map(line).collect(),
        marks: Vec::new(),
    }
}

/// The score of each player against each other: a draw is half of a win.
pub(super) fn cross(report: &Report) -> HeatMap {
    let row = |player: &Player| {
        let cell = |other: &Player| {
            let met = player.against.iter().find(|against| against.who.id == other.who.id)?;
            let text = match met.met() {
                1 if met.technical > 0 => "T".to_owned(),
                1 => met.points().to_string(),
                _ => format!("{}-{}-{}", met.wins, met.draws, met.losses),
            };
            let score = f64::from(met.wins) + f64::from(met.draws) / 2.0;
            Some(HeatCell::new(score / f64::from(met.met().max(1)), text))
        };
        report.players.iter().map(cell).collect()
    };
    HeatMap {
        title: "Cross table".into(),
        rows: report.players.iter().map(|player| label(report, player)).collect(),
        columns: report.players.iter().map(|player| player.who.id.clone()).collect(),
        cells: report.players.iter().map(row).collect(),
        low: (0.0, "lost".into()),
        high: (1.0, "won".into()),
    }
}

/// Range and median of each player's response times; the deadline, if it is in scale.
pub(super) fn answers(report: &Report) -> Dots {
    let dot = |player: &Player| {
        let answers = &player.answers;
        let [low, median, high] = [0.0, 0.5, 1.0].map(|share| answers.quantile(share).map(f64::from));
        Some(Dot::new(label(report, player), median?, low?, high?))
    };
    let dots: Vec<Dot> = report.players.iter().filter_map(dot).collect();
    let longest = dots.iter().map(|dot| dot.high).fold(0.0, f64::max);
    Dots {
        title: "Answer times".into(),
        x: "ms, from the shortest to the longest, with the median".into(),
        dots,
        marks: deadline(report.deadline_ms, longest).into_iter().collect(),
    }
}

/// A deadline far beyond all answers would compress them.
fn deadline(deadline_ms: u64, longest_ms: f64) -> Option<Mark> {
    let at = deadline_ms as f64;
    (longest_ms * 10.0 >= at)
        .then(|| Mark::new(format!("deadline {}", sentences::format_ms(deadline_ms)), at))
}

pub(super) fn ratings(report: &Report) -> Dots {
    let dot = |player: &Player| {
        let strength = report.statistics_of(&player.who.id)?.bradley_terry?;
        Some(Dot::new(label(report, player), strength.rating, strength.low, strength.high))
    };
    let dots: Vec<Dot> = report.players.iter().filter_map(dot).collect();
    let marks = if dots.is_empty() { Vec::new() } else { vec![Mark::new("average", 1500.0)] };
    Dots { title: "Ratings".into(), x: "Bradley-Terry rating, with its 95 % interval".into(), dots, marks }
}

pub(super) fn faults(report: &Report) -> Bars {
    let bar =
        |fault: &super::Fault| Bar::new(format!("{}: {}", fault.group, fault.kind), f64::from(fault.count));
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
        for (player, row) in report.players.iter().zip(&map.cells) {
            for (other, cell) in report.players.iter().zip(row) {
                let met = player.against.iter().find(|against| against.who.id == other.who.id);
                if met.is_some_and(|met| met.draws > 0 && met.draws == met.met()) {
                    assert!(cell.as_ref().is_some_and(|cell| (cell.value - middle).abs() < 1e-9));
                    drawn += 1;
                }
            }
        }
        assert!(drawn > 0, "the sample has draws");
    }
}
