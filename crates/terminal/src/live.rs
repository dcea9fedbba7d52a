//! Live progress of a league: redrawn in place on a terminal, plain lines otherwise.

use super::colours::painted;
use super::progress::{LiveState, Progress};
use super::rank_changes::RankChanges;
use super::screen::{Screen, Size, width};
use super::wrap::wrapped;
use super::{Paint, show, standings_table, table_that_fits};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub enum View {
    Live(Live),
    /// One line for each round.
    Lines,
    Silent,
}

impl View {
    pub fn new(silent: bool) -> Self {
        if silent {
            Self::Silent
        } else if Size::of_terminal().is_some() {
            Self::Live(Live {
                screen: Screen::default(),
                began: Instant::now(),
                changes: RankChanges::default(),
            })
        } else {
            Self::Lines
        }
    }

    pub fn say(&mut self, line: &str) {
        match self {
            Self::Live(live) => {
                live.clear();
                let columns = Size::of_terminal().map_or(usize::MAX, |size| size.columns);
                show(format!("{}\n", wrapped(line, columns)));
            }
            Self::Lines => show(format!("{line}\n")),
            Self::Silent => {}
        }
    }

    /// Clears the view.
    pub fn finish(&mut self) {
        if let Self::Live(live) = self {
            live.clear();
        }
    }
}

#[derive(Debug)]
pub struct Live {
    screen: Screen,
    began: Instant,
    changes: RankChanges,
}

impl Live {
    pub fn draw(&mut self, progress: &Progress, state: &LiveState) {
        if let Some(size) = Size::of_terminal() {
            self.changes.take(progress.round, &state.top);
            let look = (&self.changes, Paint::of_stdout());
            let lines = frame(progress, state, self.began.elapsed(), size, look);
            show(self.screen.draw(&lines, size));
        }
    }

    fn clear(&mut self) {
        if let Some(size) = Size::of_terminal() {
            show(self.screen.clear(size));
        }
    }
}

const RESULTS_MAX: usize = 4;
const BAR_MAX: usize = 40;
const BAR_MIN: usize = 8;

/// All lines of the view: progress, standings as far as they fit, latest results.
fn frame(
    progress: &Progress,
    state: &LiveState,
    elapsed: Duration,
    size: Size,
    look: (&RankChanges, Paint),
) -> Vec<String> {
    let mut lines = vec![headline(progress, state.title.as_deref(), Some(elapsed), size.columns)];
    // One row for the cursor.
    let room = size.rows.saturating_sub(2);
    let results = state.latest.len().min(RESULTS_MAX).min(room / 4);
    let for_results = if results > 0 { results + 1 } else { 0 };
    // A blank line and the headers.
    let places = room.saturating_sub(for_results + 2);
    if places > 0 && !state.top.is_empty() {
        lines.push(String::new());
        lines.extend(standings(state, places, size.columns, look));
    }
    if results > 0 {
        lines.push(String::new());
    }
    for (number, result) in state.latest.iter().take(results).enumerate() {
        lines.push(format!("{:6}{result}", if number == 0 { "last" } else { "" }));
    }
    lines
}

/// The standings, with as many columns and rows as fit.
fn standings(
    state: &LiveState,
    places: usize,
    columns: usize,
    (changes, paint): (&RankChanges, Paint),
) -> Vec<String> {
    let shown = if state.players > places { places.saturating_sub(1) } else { places };
    let rows = standings_table::rows(&state.top, changes, shown);
    let table =
        table_that_fits(&standings_table::HEADERS, &rows, standings_table::COMPACT_COLUMN_SETS, columns);
    let mut lines: Vec<String> = painted(&table, paint).lines().map(str::to_owned).collect();
    if shown < state.players {
        lines.push(format!("... and {} more", state.players - shown));
    }
    lines
}

/// `████████░░░░  4 of 6 matches, round 2 of 3, 0.4 s left`, shorter where it does not fit. The
/// remaining time is shown if the elapsed time is known.
pub fn headline(
    progress: &Progress,
    title: Option<&str>,
    elapsed: Option<Duration>,
    columns: usize,
) -> String {
    let Progress { decided, matches, round, rounds, .. } = progress;
    let rest = match (progress.paused, progress.completed) {
        (true, _) => ", paused".to_owned(),
        (_, true) => ", over".to_owned(),
        _ => {
            let left = elapsed.and_then(|elapsed| time_left(progress, elapsed));
            left.map_or_else(String::new, |left| format!(", {} left", seconds(left)))
        }
    };
    let title = title.map_or_else(String::new, |title| format!(" ({title})"));
    let wordings = [
        format!("{decided} of {matches} matches, round {round} of {rounds}{title}{rest}"),
        format!("{decided} of {matches} matches, round {round} of {rounds}{rest}"),
        format!("{decided} of {matches}, round {round} of {rounds}{rest}"),
        format!("{decided} of {matches}{rest}"),
    ];
    let [.., shortest] = &wordings;
    let words = wordings.iter().find(|words| width(words) <= columns).unwrap_or(shortest);
    let bar = columns.saturating_sub(width(words) + 2).min(BAR_MAX);
    if bar < BAR_MIN { words.clone() } else { format!("{}  {words}", drawn_bar(progress, bar)) }
}

fn drawn_bar(progress: &Progress, columns: usize) -> String {
    let decided = usize::try_from(progress.decided).unwrap_or(usize::MAX);
    let full = decided.saturating_mul(columns).checked_div(progress.matches).unwrap_or(0).min(columns);
    "█".repeat(full) + &"░".repeat(columns - full)
}

/// Extrapolated from the pace so far.
fn time_left(progress: &Progress, elapsed: Duration) -> Option<Duration> {
    let matches = u32::try_from(progress.matches).ok()?;
    let each = elapsed.checked_div(progress.decided)?;
    each.checked_mul(matches.saturating_sub(progress.decided))
}

/// `0.4 s`, `2 min 10 s`.
pub fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        whole => format!("{} min {} s", whole / 60, whole % 60),
    }
}

#[cfg(test)]
mod tests;
