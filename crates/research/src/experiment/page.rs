//! The results of an experiment as one self-contained HTML page, without scripts or external resources. Pure.

use super::results::{GroupResult, Results};
use crate::simulate::plots;
use crate::simulate::progress::grouped;
use crate::summary::{Estimate, Row};
use matchday_audit::report::html::tables::{Cell, Head, table};
use matchday_audit::report::html::writer::{Html, figure, section};
use matchday_audit::report::html::{POLICY, STYLE};
use matchday_plot::{Dot, Dots, HeatCell, HeatMap, Line, LineChart, Mark};
use matchday_stats::elo::EloDifference;
use matchday_stats::sprt::Answer;

/// Larger differences in Elo are drawn here.
const ELO_DRAWN_MAX: f64 = 800.0;

/// Plots stand beside each other where there is room.
const LAYOUT: &str = "pre{background:var(--card);padding:1rem;overflow-x:auto}\
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:0 2rem}";
/// How many pairs that repeat themselves are named.
const REPLAYED_SHOWN: usize = 3;

pub fn page(results: &Results) -> String {
    let mut html = Html::document();
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.open("meta", &[("charset", "utf-8")]);
            html.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
            html.leaf("title", &[], &format!("{} - experiment", results.name));
            html.style(&[STYLE, matchday_plot::CSS, LAYOUT]);
        });
        html.element("body", &[], |html| body(html, results));
    });
    html.finish()
}

fn id(group: &GroupResult) -> String {
    format!("{}-{}", group.game, group.format)
}

fn title(group: &GroupResult) -> String {
    format!("{}, {}", group.game, group.format)
}

fn body(html: &mut Html, results: &Results) {
    let all: u64 = results.groups.iter().map(|group| group.matches).sum();
    html.element("header", &[], |html| {
        html.leaf("p", &[("class", "quiet")], "Experiment");
        html.leaf("h1", &[], &results.name);
        html.leaf(
            "p",
            &[("class", "champion")],
            &format!("{} matches. Intervals are of 95 %.", grouped(all)),
        );
    });
    html.element("nav", &[("aria-label", "Sections")], |html| {
        html.element("ul", &[], |html| {
            for group in &results.groups {
                let to = format!("#{}", id(group));
                html.element("li", &[], |html| html.leaf("a", &[("href", &to)], &title(group)));
            }
            html.element("li", &[], |html| html.leaf("a", &[("href", "#plan")], "Run it again"));
        });
    });
    html.element("main", &[], |html| {
        results.groups.iter().for_each(|group| section(html, &id(group), &title(group), |html| of_group(html, group)));
        section(html, "plan", "Run it again", |html| {
            let about = format!(
                "Made by matchday {}. This plan gives the same matches.csv, results.json and report.html, to the byte, with \
                 the same version on any machine and any number of threads; programs and models may decide otherwise.",
                results.version
            );
            html.leaf("p", &[], &about);
            html.element("pre", &[("tabindex", "0"), ("aria-label", "The plan")], |html| {
                html.leaf("code", &[], &results.plan);
            });
            html.element("p", &[], |html| html.leaf("code", &[], "matchday experiment plan.toml"));
        });
    });
}

fn of_group(html: &mut Html, group: &GroupResult) {
    let what = if group.leagues.is_some() { "leagues" } else { "repetitions" };
    let seeds: Vec<String> = group.seeds.iter().map(|seed| seed.seed.to_string()).collect();
    html.leaf(
        "p",
        &[],
        &format!(
            "{} matches in {} {what}, with the {} {}.",
            grouped(group.matches),
            grouped(group.repetitions),
            if seeds.len() == 1 { "seed" } else { "seeds" },
            seeds.join(", ")
        ),
    );
    group.seeds.iter().filter_map(sprt_sentence).for_each(|sentence| html.leaf("p", &[], &sentence));
    standings(html, group);
    if let Some(sentence) = replayed(group) {
        html.leaf("p", &[("class", "notice"), ("role", "note")], &sentence);
    }
    html.element("div", &[("class", "plots")], |html| figures(html, group));
    cycles(html, group);
}

fn figures(html: &mut Html, group: &GroupResult) {
    figure(
        html,
        "Who beats whom",
        "The score of each row against each column in %, a draw as half a win. Best strategies first.",
        &plots::of_duels(&group.game, &group.strategies, &group.pairs),
    );
    let about = "What each row scores in a match against each column.";
    figure(html, "Payoff matrix", about, &payoff_matrix(group));
    let about = "The difference in Elo to all others together, with its interval; beyond 800 it is drawn at 800. Where \
                 two intervals overlap widely, more repetitions are needed.";
    figure(html, "Ratings", about, &ratings(group));
    let about = "What each scores in a match: its points within the match, or 3, 1 and 0 for a win, a draw and a loss.";
    figure(html, "Payoffs", about, &payoffs(group));
    if group.convergence.len() > 1 {
        let about =
            "The score of each strategy as repetitions add up. Lines that still move have not settled.";
        figure(html, "Convergence", about, &convergence(group));
    }
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
            Some(format!("{} and {} ({games} in {} matches)", pair.a, pair.b, grouped(pair.tally.matches())))
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
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share.value * 100.0))
}

fn interval(estimate: Option<Estimate>, digits: usize, factor: f64) -> String {
    estimate.map_or_else(String::new, |it| {
        format!("{:.digits$} to {:.digits$}", it.low * factor, it.high * factor)
    })
}

fn elo(difference: Option<EloDifference>) -> [String; 2] {
    let Some(EloDifference { difference, low, high }) = difference else { return Default::default() };
    let sign = if low.is_some() { "+∞" } else { "-∞" };
    let end = |end: Option<f64>, beyond: &str| {
        end.map_or_else(
            || beyond.to_owned(),
            |elo| if elo.abs() < 0.5 { "0".to_owned() } else { format!("{elo:+.0}") },
        )
    };
    [end(difference, sign), format!("{} to {}", end(low, "-∞"), end(high, "+∞"))]
}

fn strategy_row(row: &Row, payoff: Option<Estimate>) -> Vec<Cell<'_>> {
    let [difference, range] = elo(row.elo);
    let numbers = [
        grouped(row.matches),
        percent(row.win),
        percent(row.draw),
        percent(row.loss),
        percent(row.score),
        interval(row.score, 1, 100.0),
        difference,
        range,
        payoff.map_or_else(|| "-".to_owned(), |payoff| format!("{:.3}", payoff.value)),
        interval(payoff, 3, 1.0),
    ];
    std::iter::once(Cell::Name(&row.strategy)).chain(numbers.map(Cell::Number)).collect()
}

fn standings(html: &mut Html, group: &GroupResult) {
    let forfeits = group.strategies.iter().any(|row| row.forfeits > 0);
    let mut heads: Vec<Head> = vec![
        ("Strategy", false),
        ("Matches", true),
        ("Won", true),
        ("Drawn", true),
        ("Lost", true),
        ("Score", true),
        ("95 %", true),
        ("Elo", true),
        ("95 %", true),
        ("Payoff", true),
        ("95 %", true),
    ];
    heads.extend(forfeits.then_some(("Forfeited", true)));
    let rows = group.strategies.iter().map(|row| {
        let payoff = group.payoffs.iter().find(|(name, _)| *name == row.strategy);
        let mut cells = strategy_row(row, payoff.and_then(|(_, payoff)| *payoff));
        cells.extend(forfeits.then(|| Cell::Number(grouped(row.forfeits))));
        cells
    });
    table(html, "Strategies", &heads, rows);
    let Some(leagues) = &group.leagues else { return };
    html.leaf("h3", &[], "Places in the leagues");
    let heads = [
        ("Strategy", false),
        ("Champion", true),
        ("95 %", true),
        ("Mean rank", true),
        ("Points a match", true),
    ];
    let rows = leagues.iter().map(|row| {
        let rank = row.mean_rank.map_or_else(|| "-".to_owned(), |rank| format!("{rank:.2}"));
        let points =
            row.points_per_match.map_or_else(|| "-".to_owned(), |points| format!("{:.3}", points.value));
        vec![
            Cell::Name(&row.strategy),
            Cell::Number(percent(row.champion)),
            Cell::Number(interval(row.champion, 1, 100.0)),
            Cell::Number(rank),
            Cell::Number(points),
        ]
    });
    table(html, "Places in the leagues", &heads, rows);
}

fn ratings(group: &GroupResult) -> Dots {
    let drawn =
        |value: Option<f64>, beyond: f64| value.unwrap_or(beyond).clamp(-ELO_DRAWN_MAX, ELO_DRAWN_MAX);
    let dot = |row: &Row| {
        let EloDifference { difference, low, high } = row.elo?;
        let beyond = if low.is_some() { ELO_DRAWN_MAX } else { -ELO_DRAWN_MAX };
        let [low, high] = [drawn(low, -ELO_DRAWN_MAX), drawn(high, ELO_DRAWN_MAX)];
        Some(Dot::new(&row.strategy, drawn(difference, beyond), low, high))
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
    Dots { title: "Payoffs".into(), x: "payoff for each match".into(), dots, marks: Vec::new() }
}

fn payoff_matrix(group: &GroupResult) -> HeatMap {
    let order: Vec<(usize, &str)> = in_order(group).collect();
    let at = |row: usize, column: usize| group.payoff_matrix.get(row)?.get(column).copied().flatten();
    let all = || group.payoff_matrix.iter().flatten().flatten().copied();
    let cell =
        |row: usize, column: usize| at(row, column).map(|mean| HeatCell::new(mean, format!("{mean:.1}")));
    let names: Vec<String> = order.iter().map(|(_, name)| (*name).to_owned()).collect();
    HeatMap {
        title: format!("{}: what each row scores in a match against each column", group.game),
        cells: order
            .iter()
            .map(|(row, _)| order.iter().map(|(column, _)| cell(*row, *column)).collect())
            .collect(),
        columns: names.clone(),
        rows: names,
        low: (all().fold(f64::INFINITY, f64::min), "least".into()),
        high: (all().fold(f64::NEG_INFINITY, f64::max), "most".into()),
    }
}

fn convergence(group: &GroupResult) -> LineChart {
    let line = |(place, name): (usize, &str)| {
        let at = |snapshot: &super::results::Snapshot| {
            let score = snapshot.scores.get(place).copied().flatten()?;
            Some((snapshot.repetitions as f64, 100.0 * score))
        };
        Line::new(name, group.convergence.iter().filter_map(at).collect())
    };
    LineChart {
        title: "Convergence".into(),
        x: "repetitions".into(),
        y: "score in %".into(),
        lines: in_order(group).map(line).collect(),
        marks: Vec::new(),
    }
}

fn cycles(html: &mut Html, group: &GroupResult) {
    html.leaf("h3", &[], "Cycles");
    if group.cycles.is_empty() {
        html.leaf("p", &[], "No circle of strategies was found in which each beats the next beyond chance: a rating can order them.");
        return;
    }
    html.leaf(
        "p",
        &[],
        "Each beats the next beyond chance, and the last the first. No rating can order these strategies.",
    );
    html.element("ul", &[], |html| {
        for cycle in &group.cycles {
            let round = cycle.iter().chain(cycle.first()).map(String::as_str).collect::<Vec<_>>().join(" > ");
            html.leaf("li", &[], &round);
        }
    });
}
