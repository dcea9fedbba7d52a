//! A league while it is played: a view that is redrawn on a terminal, plain lines anywhere else.

use super::progress::{Progress, Scene};
use super::screen::{Screen, Size, width};
use super::{places, show, table_that_fits};
use std::time::{Duration, Instant};

/// Where news of the league goes.
#[derive(Debug)]
pub(crate) enum View {
    /// Redrawn in place.
    Live(Live),
    /// One line for each round.
    Lines,
    Silent,
}

impl View {
    pub(crate) fn new(silent: bool) -> Self {
        if silent {
            Self::Silent
        } else if Size::of_terminal().is_some() {
            Self::Live(Live { screen: Screen::default(), began: Instant::now() })
        } else {
            Self::Lines
        }
    }

    pub(crate) fn say(&mut self, line: &str) {
        match self {
            Self::Live(live) => {
                live.clear();
                show(format!("{line}\n"));
            }
            Self::Lines => show(format!("{line}\n")),
            Self::Silent => {}
        }
    }

    /// Leaves the terminal as if nothing had been drawn.
    pub(crate) fn finish(&mut self) {
        if let Self::Live(live) = self {
            live.clear();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Live {
    screen: Screen,
    began: Instant,
}

impl Live {
    pub(crate) fn draw(&mut self, progress: &Progress, scene: &Scene) {
        if let Some(size) = Size::of_terminal() {
            let lines = frame(progress, scene, self.began.elapsed(), size);
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

/// All that is shown, in lines that fit: how far it is, the table as far as there is room, the last results.
fn frame(progress: &Progress, scene: &Scene, elapsed: Duration, size: Size) -> Vec<String> {
    let mut lines = vec![headline(progress, scene.title.as_deref(), Some(elapsed), size.columns)];
    // The cursor stands below.
    let room = size.rows.saturating_sub(2);
    let results = scene.latest.len().min(RESULTS_MAX).min(room / 4);
    let for_results = if results > 0 { results + 1 } else { 0 };
    // A blank line and the headers.
    let places = room.saturating_sub(for_results + 2);
    if places > 0 && !scene.top.is_empty() {
        lines.push(String::new());
        lines.extend(standings(scene, places, size.columns));
    }
    if results > 0 {
        lines.push(String::new());
    }
    for (number, result) in scene.latest.iter().take(results).enumerate() {
        lines.push(format!("{:6}{result}", if number == 0 { "last" } else { "" }));
    }
    lines
}

/// The table, with the columns for which there is room and the places for which there is.
fn standings(scene: &Scene, places: usize, columns: usize) -> Vec<String> {
    let shown = if scene.players > places { places.saturating_sub(1) } else { places };
    let rows: Vec<_> = scene.top.iter().take(shown).map(places::cells).collect();
    let table = table_that_fits(&places::HEADERS, &rows, places::CHOICES_IN_BRIEF, columns);
    let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
    if shown < scene.players {
        lines.push(format!("... and {} more", scene.players - shown));
    }
    lines
}

/// `████████░░░░  4 of 6 matches, round 2 of 3, 0.4 s left`, shorter where there is no room for it. How long it
/// may still take is told if it is known how long it has taken.
pub(crate) fn headline(
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

/// At the pace so far.
fn time_left(progress: &Progress, elapsed: Duration) -> Option<Duration> {
    let matches = u32::try_from(progress.matches).ok()?;
    let each = elapsed.checked_div(progress.decided)?;
    each.checked_mul(matches.saturating_sub(progress.decided))
}

/// "0.4 s", "2 min 10 s".
pub(crate) fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        whole => format!("{} min {} s", whole / 60, whole % 60),
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
