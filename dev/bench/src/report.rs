//! What every benchmark hands back: its figures, the goals that they are held to, and tables for people. Pure.

use crate::compare::{Change, Sample, compare};
use comfy_table::{CellAlignment, presets};
use serde::Serialize;

pub(crate) const MEGABYTE: f64 = 1024.0 * 1024.0;

/// The figures of one benchmark.
pub(crate) trait Figures: Serialize {
    /// The goals for which there are figures.
    fn targets(&self) -> Vec<Target>;

    fn tables(&self) -> Vec<Table>;

    /// What a comparison with a saved run compares.
    fn samples(&self) -> Vec<Sample> {
        Vec::new()
    }
}

/// All of it, as it is printed and saved.
#[derive(Debug, Serialize)]
pub(crate) struct Report<F> {
    made_by: &'static str,
    cores: usize,
    /// Whether this is a release build; otherwise the figures are meaningless.
    optimised: bool,
    #[serde(flatten)]
    figures: F,
    targets: Vec<Target>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Change>,
}

impl<F: Figures> Report<F> {
    pub(crate) fn new(figures: F, before: Option<&F>) -> Self {
        Self {
            made_by: concat!("matchday ", env!("CARGO_PKG_VERSION")),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            optimised: !cfg!(debug_assertions),
            targets: figures.targets(),
            changes: before
                .map(|before| compare(&before.samples(), &figures.samples()))
                .unwrap_or_default(),
            figures,
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut parts = vec![format!(
            "matchday {} on {} cores",
            env!("CARGO_PKG_VERSION"),
            self.cores
        )];
        if !self.optimised {
            parts.push("Not built for speed: these figures say nothing about a release build (cargo run --release -p matchday-bench).".to_owned());
        }
        parts.extend(self.figures.tables().iter().map(Table::text));
        if !self.targets.is_empty() {
            parts.push(targets_table(&self.targets).text());
        }
        if !self.changes.is_empty() {
            parts.push(changes_table(&self.changes).text());
        }
        parts.join("\n\n")
    }
}

fn targets_table(targets: &[Target]) -> Table {
    let verdict = |target: &Target| if target.met { "meets" } else { "misses" };
    let row = |target: &Target| {
        vec![
            target.what.to_owned(),
            target.wanted.clone(),
            target.found.clone(),
            verdict(target).to_owned(),
        ]
    };
    Table::new(
        "What it should reach",
        "target|wanted|found|",
        targets.iter().map(row),
    )
}

fn changes_table(changes: &[Change]) -> Table {
    let row = |change: &Change| {
        let percent = (change.now.median / change.before.median - 1.0) * 100.0;
        let before = change.before.to_string();
        let now = change.now.to_string();
        vec![
            change.what.clone(),
            before,
            now,
            format!("{percent:+.1}%"),
            change.verdict.words().to_owned(),
        ]
    };
    let title = "Against the saved run: median (least to most)";
    Table::new(title, "figure|before|now|change|", changes.iter().map(row))
}

/// A goal, and whether it is met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Target {
    pub(crate) what: &'static str,
    pub(crate) wanted: String,
    pub(crate) found: String,
    pub(crate) met: bool,
}

impl Target {
    /// `None` if nothing was measured.
    pub(crate) fn at_least(
        what: &'static str,
        bound: f64,
        places: usize,
        unit: &str,
        found: Option<f64>,
    ) -> Option<Self> {
        let wanted = format!("at least {bound:.places$}{unit}");
        found.map(|found| Self {
            what,
            wanted,
            found: format!("{found:.places$}{unit}"),
            met: found >= bound,
        })
    }

    pub(crate) fn at_most(
        what: &'static str,
        bound: f64,
        places: usize,
        unit: &str,
        found: Option<f64>,
    ) -> Option<Self> {
        let wanted = format!("at most {bound:.places$}{unit}");
        found.map(|found| Self {
            what,
            wanted,
            found: format!("{found:.places$}{unit}"),
            met: found <= bound,
        })
    }

    /// Whether a benchmark misses any, for tests.
    #[cfg(test)]
    pub(crate) fn missed(figures: &impl Figures) -> Vec<&'static str> {
        figures
            .targets()
            .iter()
            .filter(|target| !target.met)
            .map(|target| target.what)
            .collect()
    }
}

/// Aligned columns under a title.
#[derive(Debug)]
pub(crate) struct Table {
    title: String,
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// `columns`: their headers, separated by `|`.
    pub(crate) fn new(
        title: impl Into<String>,
        columns: &'static str,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        Self {
            title: title.into(),
            columns: columns.split('|').collect(),
            rows: rows.into_iter().collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn text(&self) -> String {
        let mut table = comfy_table::Table::new();
        table
            .load_style(presets::NOTHING)
            .set_header(&self.columns)
            .add_rows(&self.rows);
        for (place, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if self.holds_numbers(place) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let text = table.to_string();
        let lines = std::iter::once(self.title.as_str()).chain(text.lines().map(str::trim_end));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn holds_numbers(&self, place: usize) -> bool {
        let cells = self
            .rows
            .iter()
            .filter_map(|row| row.get(place))
            .filter(|cell| !cell.is_empty());
        let mut cells = cells
            .map(|cell| cell.trim_end_matches('%').parse::<f64>().is_ok())
            .peekable();
        cells.peek().is_some() && cells.all(|is_number| is_number)
    }
}

/// A figure as a cell; empty where the system does not tell it.
pub(crate) fn number(value: Option<f64>, places: usize) -> String {
    value.map_or_else(String::new, |value| format!("{value:.places$}"))
}

/// What people read of these figures, wherever they were measured.
#[cfg(test)]
pub(crate) fn tables_text(figures: &impl Figures) -> String {
    let mut tables = figures.tables();
    tables.push(targets_table(&figures.targets()));
    tables
        .iter()
        .map(Table::text)
        .collect::<Vec<_>>()
        .join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::league::sample;

    #[test]
    fn a_debug_build_says_first_that_its_figures_mean_nothing() {
        let mut report = Report::new(sample::figures(1.0), None);
        report.optimised = false;
        let text = report.text();
        assert!(
            text.lines()
                .nth(2)
                .unwrap()
                .starts_with("Not built for speed"),
            "{text}"
        );
    }

    #[test]
    fn a_comparison_names_what_can_be_told_and_what_cannot() {
        let report = Report::new(sample::figures(1.2), Some(&sample::figures(1.0)));
        insta::assert_snapshot!(changes_table(&report.changes).text());
    }
}
