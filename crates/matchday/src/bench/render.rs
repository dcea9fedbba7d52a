//! The figures for people. Pure.

use super::compare::{Change, RunRange, Verdict};
use super::measurements::{League, Measurements, Run};
use super::quantiles::{Quantiles, median};
use super::targets::Target;
use matchday_terminal::{Colour, Paint, table};

const MEGABYTE: f64 = 1024.0 * 1024.0;

pub(crate) fn for_people(
    figures: &Measurements,
    targets: &[Target],
    changes: &[Change],
    paint: Paint,
) -> String {
    let mut parts = Vec::new();
    if !figures.optimised {
        parts.push(paint.colour(
            Colour::Yellow,
            "Not built for speed: these figures say nothing about a release build (cargo run --release -- bench).",
        ));
    }
    parts.push(leagues(&figures.leagues, figures.cores, paint));
    parts.extend(memory(&figures.leagues, paint));
    parts.extend(answers(&figures.leagues, paint));
    parts.extend(others(figures, paint));
    if !targets.is_empty() {
        parts.push(targets_met(targets, paint));
    }
    if !changes.is_empty() {
        parts.push(compared(changes, paint));
    }
    parts.join("\n\n")
}

pub(super) fn headed(title: &str, columns: &str, rows: &[Vec<String>], paint: Paint) -> String {
    let columns: Vec<&str> = columns.split('|').collect();
    format!("{}\n{}", paint.bold(title), table(&columns, rows))
}

fn number(value: Option<f64>, places: usize) -> String {
    value.map_or_else(String::new, |value| format!("{value:.places$}"))
}

fn leagues(leagues: &[League], cores: usize, paint: Paint) -> String {
    let rows: Vec<Vec<String>> = leagues.iter().map(league).collect();
    let title = format!(
        "Whole leagues on {cores} cores, every event and message stored; the ceiling is the same exchanges with nothing \
         behind them"
    );
    let columns = "players/referees|as|matches|runs|matches/s|exchanges/s|ceiling/s|ratio|least to most|CPU ratio|CPU us/match|\
                   log bytes/match|technical losses";
    headed(&title, columns, &rows, paint)
}

fn league(league: &League) -> Vec<String> {
    let median = |places, figure: fn(&Run) -> f64| number(league.median(figure), places);
    let ratios = league.runs.iter().map(Run::ratio);
    let range = ratios.clone().reduce(f64::min).zip(ratios.reduce(f64::max));
    vec![
        league.size.to_string(),
        league.kind.name().to_owned(),
        median(0, |run| run.matches as f64),
        league.runs.len().to_string(),
        median(0, Run::matches_per_s),
        median(0, Run::exchanges_per_s),
        median(0, |run| run.ceiling_per_s),
        median(2, Run::ratio),
        range.map_or_else(String::new, |(least, most)| format!("{least:.2} to {most:.2}")),
        number(league.median_of(Run::cpu_ratio), 2),
        number(league.median_of(|run| run.cpu_us_per_match), 0),
        median(0, |run| run.log_bytes_per_match),
        league.runs.iter().map(|run| run.technical_losses).sum::<usize>().to_string(),
    ]
}

/// Only the last run: a median over runs would hide growth.
fn memory(leagues: &[League], paint: Paint) -> Option<String> {
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / MEGABYTE);
    let row = |league: &League| {
        let memory = league.runs.last()?.memory.as_ref()?;
        let mut row =
            vec![league.size.to_string(), league.kind.name().to_owned(), megabytes(memory.start_bytes)];
        let quarters = memory.quarters_bytes.iter().map(|bytes| megabytes(*bytes));
        row.extend(std::iter::repeat_n(String::new(), 4_usize.saturating_sub(memory.quarters_bytes.len())));
        row.extend(quarters);
        row.push(megabytes(memory.most_bytes));
        Some(row)
    };
    let rows: Vec<Vec<String>> = leagues.iter().filter_map(row).collect();
    let columns = "players/referees|as|start|1st quarter|2nd|3rd|end|most";
    (!rows.is_empty()).then(|| headed("Resident memory in MB, in the last run", columns, &rows, paint))
}

/// Only the largest league of each kind; the JSON has all.
fn answers(leagues: &[League], paint: Paint) -> Vec<String> {
    let largest =
        |league: &&League| !leagues.iter().any(|other| other.kind == league.kind && other.size > league.size);
    leagues
        .iter()
        .filter(largest)
        .map(|league| {
            let mut rows: Vec<Vec<String>> = league
                .answers
                .iter()
                .map(|answers| {
                    times(&answers.message_type, number(Some(answers.per_match), 2), &answers.took)
                })
                .collect();
            rows.extend(
                league
                    .standings
                    .iter()
                    .map(|took| times("report arrived to table sent", String::new(), took)),
            );
            let title =
                format!("How long answers took, {} as {}, in milliseconds", league.size, league.kind.name());
            headed(&title, "message|count|a match|p50|p99|p99.9", &rows, paint)
        })
        .collect()
}

fn times(name: &str, per_match: String, took: &Quantiles) -> Vec<String> {
    let ms = |value: f64| format!("{value:.2}");
    vec![
        name.to_owned(),
        took.count.to_string(),
        per_match,
        ms(took.p50_ms),
        ms(took.p99_ms),
        ms(took.p999_ms),
    ]
}

fn others(figures: &Measurements, paint: Paint) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(queries) = &figures.queries {
        let rows: Vec<Vec<String>> =
            queries.took.iter().map(|(name, took)| times(name, String::new(), took)).collect();
        let title = format!("LEAGUE_QUERY while {} runs flat out, in milliseconds", queries.size);
        parts.push(headed(&title, "query|count||p50|p99|p99.9", &rows, paint));
    }
    if !figures.allocations.is_empty() {
        let row = |counted: &super::measurements::Allocations| {
            vec![counted.size.to_string(), number(Some(counted.per_match), 0)]
        };
        let rows: Vec<Vec<String>> = figures.allocations.iter().map(row).collect();
        let title = "Allocations, in one process; this program counts them, and is the slower for it";
        parts.push(headed(title, "players/referees|a match", &rows, paint));
    }
    if !figures.core.is_empty() {
        let row = |core: &super::measurements::Core| {
            let rate = median(core.matches_per_s.iter().copied());
            vec![core.size.to_string(), number(rate, 0), number(rate.map(|rate| 1e6 / rate), 2)]
        };
        let rows: Vec<Vec<String>> = figures.core.iter().map(row).collect();
        let title = "The pure core: the same agents without network, disk or JSON, on one core";
        parts.push(headed(title, "players/referees|matches/s|us/match", &rows, paint));
    }
    if let Some(bytes) = figures.player_bytes {
        let megabytes = bytes as f64 / MEGABYTE;
        parts.push(format!(
            "A player process at rest takes {megabytes:.1} MB, with its part of what such processes share"
        ));
    }
    parts
}

pub(super) fn targets_met(targets: &[Target], paint: Paint) -> String {
    let rows: Vec<Vec<String>> = targets
        .iter()
        .map(|target| {
            let (word, colour) = if target.met { ("meets", Colour::Green) } else { ("misses", Colour::Red) };
            let verdict = paint.colour(colour, word);
            vec![target.what.to_owned(), target.wanted.clone(), target.found.clone(), verdict]
        })
        .collect();
    headed("What it should reach", "target|wanted|found|", &rows, paint)
}

fn compared(changes: &[Change], paint: Paint) -> String {
    let range = |range: &RunRange| {
        let places = if range.most < 10.0 { 2 } else { 0 };
        format!("{:.places$} ({:.places$} to {:.places$})", range.median, range.least, range.most)
    };
    let rows: Vec<Vec<String>> = changes
        .iter()
        .map(|change| {
            let percent = (change.now.median / change.before.median - 1.0) * 100.0;
            let colour = match change.verdict {
                Verdict::Faster | Verdict::Smaller => Colour::Green,
                Verdict::Slower | Verdict::Larger => Colour::Red,
                Verdict::Inconclusive => Colour::Grey,
            };
            let verdict = paint.colour(colour, change.verdict.words());
            vec![
                change.what.clone(),
                range(&change.before),
                range(&change.now),
                format!("{percent:+.1}%"),
                verdict,
            ]
        })
        .collect();
    let title = "Against the saved run: median (least to most)";
    headed(title, "figure|before|now|change|", &rows, paint)
}

#[cfg(test)]
mod tests {
    use super::super::compare::compare;
    use super::super::sample;
    use super::super::targets::targets;
    use super::*;

    #[test]
    fn everything_that_was_measured_is_shown() {
        let figures = sample::figures(1.0);
        insta::assert_snapshot!(for_people(&figures, &targets(&figures), &[], Paint::Plain));
    }

    #[test]
    fn a_comparison_names_what_can_be_told_and_what_cannot() {
        let (before, now) = (sample::figures(1.0), sample::figures(1.2));
        insta::assert_snapshot!(compared(&compare(&before, &now), Paint::Plain));
    }

    #[test]
    fn a_program_that_was_not_built_for_speed_says_so_first() {
        let figures = Measurements { optimised: false, ..sample::figures(1.0) };
        let text = for_people(&figures, &[], &[], Paint::Plain);
        assert!(text.starts_with("Not built for speed"), "{text}");
    }
}
