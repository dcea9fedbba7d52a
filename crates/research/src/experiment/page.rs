//! The results of an experiment as one self-contained HTML page, without scripts or external resources: a template. Pure.

use super::results::{GroupResult, Results};
use crate::simulate::plots;
use crate::simulate::progress::grouped;
use crate::summary::{Row, SeasonRow};
use askama::Template;
use matchday_audit::template::rendered;
use matchday_plot::{Dot, Dots, HeatMap, Line, LineChart, Mark};
use matchday_stats::elo::EloDifference;
use matchday_stats::estimate::Estimate;
use matchday_stats::sprt::Answer;

/// Larger differences in Elo are drawn here.
const ELO_DRAWN_MAX: f64 = 800.0;
/// How many pairs that repeat themselves are named.
const REPLAYED_SHOWN: usize = 3;

#[derive(Template)]
#[template(path = "experiment.html")]
struct ExperimentPage<'a> {
    results: &'a Results,
}

pub fn page(results: &Results) -> String {
    rendered(&ExperimentPage { results })
}

fn player_heads() -> [&'static str; 20] {
    super::player_text::HEADS
}

fn seeds(group: &GroupResult) -> String {
    let seeds: Vec<String> = group
        .seeds
        .iter()
        .map(|seed| seed.seed.to_string())
        .collect();
    format!(
        "{} {}",
        if seeds.len() == 1 { "seed" } else { "seeds" },
        seeds.join(", ")
    )
}

fn sprt_sentence(seed: &super::results::SeedResult) -> Option<String> {
    let standing = seed.sprt?;
    let answer = match standing.answer {
        Answer::Elo0 => "accepts the lower hypothesis",
        Answer::Elo1 => "accepts the higher hypothesis",
        Answer::Open => "is not settled",
    };
    Some(format!(
        "SPRT with seed {}: {answer} after {} matches (LLR {:.2}, bounds {:.2} and {:.2}).",
        seed.seed,
        grouped(seed.matches),
        standing.llr,
        standing.lower,
        standing.upper
    ))
}

fn replayed(group: &GroupResult) -> Option<String> {
    let found: Vec<String> = group
        .pairs
        .iter()
        .filter_map(|pair| {
            let games = pair.different_games?;
            Some(format!(
                "{} and {} ({games} in {} matches)",
                pair.a,
                pair.b,
                grouped(pair.tally.matches())
            ))
        })
        .collect();
    let more = match found.len().saturating_sub(REPLAYED_SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    (!found.is_empty()).then(|| {
        let shown: Vec<&str> = found.iter().take(REPLAYED_SHOWN).map(String::as_str).collect();
        format!(
            "Pairs that leave nothing to chance repeat few different games, and more repetitions tell nothing new of them: \
             {}{more}. Openings would give them more games.",
            shown.join(", ")
        )
    })
}

fn percent(share: Option<Estimate>) -> String {
    share.map_or_else(
        || "-".to_owned(),
        |share| format!("{:.1} %", share.value * 100.0),
    )
}

fn interval(estimate: Option<Estimate>, digits: usize, factor: f64) -> String {
    estimate.map_or_else(String::new, |it| {
        format!(
            "{:.digits$} to {:.digits$}",
            it.low * factor,
            it.high * factor
        )
    })
}

fn elo(difference: Option<EloDifference>) -> [String; 2] {
    let Some(EloDifference {
        difference,
        low,
        high,
    }) = difference
    else {
        return Default::default();
    };
    let sign = if low.is_some() { "+∞" } else { "-∞" };
    let end = |end: Option<f64>, beyond: &str| {
        end.map_or_else(
            || beyond.to_owned(),
            |elo| {
                if elo.abs() < 0.5 {
                    "0".to_owned()
                } else {
                    format!("{elo:+.0}")
                }
            },
        )
    };
    [
        end(difference, sign),
        format!("{} to {}", end(low, "-∞"), end(high, "+∞")),
    ]
}

/// The cells of a strategy, after its name.
fn strategy_cells(group: &GroupResult, row: &Row) -> Vec<String> {
    let payoff = group.payoffs.iter().find(|(name, _)| *name == row.strategy);
    let payoff = payoff.and_then(|(_, payoff)| *payoff);
    let [difference, range] = elo(row.elo);
    let mut cells = vec![
        grouped(row.matches),
        percent(row.win),
        percent(row.draw),
        percent(row.loss),
        percent(row.score),
        interval(row.score, 1, 100.0),
        difference,
        range,
        fixed(payoff.map(|payoff| payoff.value), 3),
        interval(payoff, 3, 1.0),
    ];
    cells.extend(has_forfeits(group).then(|| grouped(row.forfeits)));
    cells
}

fn has_forfeits(group: &GroupResult) -> bool {
    group.strategies.iter().any(|row| row.forfeits > 0)
}

fn fixed(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

fn ratings(group: &GroupResult) -> Dots {
    let drawn = |value: Option<f64>, beyond: f64| {
        value.unwrap_or(beyond).clamp(-ELO_DRAWN_MAX, ELO_DRAWN_MAX)
    };
    let dot = |row: &Row| {
        let EloDifference {
            difference,
            low,
            high,
        } = row.elo?;
        let beyond = if low.is_some() {
            ELO_DRAWN_MAX
        } else {
            -ELO_DRAWN_MAX
        };
        let [low, high] = [drawn(low, -ELO_DRAWN_MAX), drawn(high, ELO_DRAWN_MAX)];
        Some(Dot::new(
            &row.strategy,
            drawn(difference, beyond),
            low,
            high,
        ))
    };
    Dots {
        title: "Ratings".into(),
        x: "Elo difference to all others".into(),
        dots: group.strategies.iter().filter_map(dot).collect(),
        marks: vec![Mark::new("even", 0.0)],
    }
}

/// Names in the order of the table.
fn in_order(group: &GroupResult) -> impl Iterator<Item = (usize, &str)> {
    group.strategies.iter().filter_map(|row| {
        let place = group.names.iter().position(|name| *name == row.strategy)?;
        Some((place, row.strategy.as_str()))
    })
}

fn payoffs(group: &GroupResult) -> Dots {
    let mut dots: Vec<Dot> = group
        .payoffs
        .iter()
        .filter_map(|(name, payoff)| payoff.map(|it| Dot::new(name, it.value, it.low, it.high)))
        .collect();
    dots.sort_by(|one, other| other.value.total_cmp(&one.value));
    Dots {
        title: "Payoffs".into(),
        x: "payoff for each match".into(),
        dots,
        marks: Vec::new(),
    }
}

fn payoff_matrix(group: &GroupResult) -> HeatMap {
    let (places, names): (Vec<usize>, Vec<String>) = in_order(group)
        .map(|(place, name)| (place, name.to_owned()))
        .unzip();
    plots::matrix(&group.game, &names, |row, column| {
        let row = group.payoff_matrix.get(*places.get(row)?)?;
        row.get(*places.get(column)?).copied().flatten()
    })
}

fn convergence(group: &GroupResult) -> LineChart {
    let (unit, y) = if goes_by_payoff(group) {
        (1.0, "payoff for each match")
    } else {
        (100.0, "score in %")
    };
    let line = |(place, name): (usize, &str)| {
        let at = |snapshot: &super::results::Snapshot| {
            let score = snapshot.scores.get(place).copied().flatten()?;
            Some((snapshot.repetitions as f64, unit * score))
        };
        Line::new(name, group.convergence.iter().filter_map(at).collect())
    };
    LineChart {
        title: "Convergence".into(),
        x: "repetitions".into(),
        y: y.into(),
        lines: in_order(group).map(line).collect(),
        marks: Vec::new(),
    }
}

fn gained_per_match(row: &SeasonRow) -> String {
    let gained = row.payoff_per_match.or(row.points_per_match);
    fixed(gained.map(|gained| gained.value), 3)
}

fn goes_by_payoff(group: &GroupResult) -> bool {
    group
        .strategies
        .iter()
        .any(|row| row.payoff_per_match.is_some())
}

/// A circle of strategies, each of which beats the next.
fn circle(cycle: &[String]) -> String {
    cycle
        .iter()
        .chain(cycle.first())
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" > ")
}
