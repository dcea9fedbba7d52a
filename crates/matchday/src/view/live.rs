//! A league while it is played: a view that is redrawn on a terminal, plain lines anywhere else.

use super::progress::{Progress, Scene};
use super::{say, table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
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
        } else if io::stdout().is_terminal() && io::stderr().is_terminal() {
            Self::Live(Live::new())
        } else {
            Self::Lines
        }
    }

    pub(crate) fn say(&self, line: &str) {
        match self {
            Self::Live(live) => live.bar.set_message(line.to_owned()),
            Self::Lines => say(line),
            Self::Silent => {}
        }
    }

    /// Leaves the terminal as if nothing had been drawn.
    pub(crate) fn finish(&self) {
        if let Self::Live(live) = self {
            live.bar.finish_and_clear();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Live {
    bar: ProgressBar,
    began: Instant,
}

impl Live {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len} matches{msg}") {
            bar.set_style(style);
        }
        Self { bar, began: Instant::now() }
    }

    pub(crate) fn draw(&self, progress: &Progress, scene: &Scene) {
        self.bar.set_length(progress.matches as u64);
        self.bar.set_position(u64::from(progress.decided));
        self.bar.set_message(message(progress, scene, self.began.elapsed()));
    }
}

fn message(progress: &Progress, scene: &Scene, elapsed: Duration) -> String {
    let rows: Vec<Vec<String>> = scene
        .top
        .iter()
        .map(|row| {
            let numbers = [row.played, row.wins, row.draws, row.losses, row.points];
            let words = [row.rank.to_string(), row.player_id.to_string(), row.display_name.to_string()];
            words.into_iter().chain(numbers.iter().map(ToString::to_string)).collect()
        })
        .collect();
    let mut text = format!("   round {} of {}", progress.round, progress.rounds);
    if let Some(left) = time_left(progress, elapsed) {
        text.push_str(&format!("   {} left", seconds(left)));
    }
    text.push_str("\n\n");
    text.push_str(&table(&["#", "player", "name", "played", "won", "drawn", "lost", "points"], &rows));
    for result in &scene.latest {
        text.push_str(if text.contains("\n\nlast") { "\n      " } else { "\n\nlast  " });
        text.push_str(result);
    }
    text
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
mod tests {
    use super::*;

    fn progress(decided: u32) -> Progress {
        Progress { round: 2, rounds: 3, rounds_completed: 1, decided, matches: 6, completed: false }
    }

    #[test]
    fn time_left_goes_by_the_pace_so_far() {
        assert_eq!(time_left(&progress(0), Duration::from_secs(4)), None);
        assert_eq!(time_left(&progress(2), Duration::from_secs(4)), Some(Duration::from_secs(8)));
        assert_eq!(time_left(&progress(6), Duration::from_secs(4)), Some(Duration::ZERO));
    }

    #[test]
    fn durations_are_said_in_their_unit() {
        assert_eq!(seconds(Duration::from_millis(440)), "0.4 s");
        assert_eq!(seconds(Duration::from_secs(130)), "2 min 10 s");
    }

    #[test]
    fn the_latest_results_stand_under_one_another() {
        let scene = Scene { top: Vec::new(), latest: vec!["one".into(), "two".into()] };
        assert!(message(&progress(2), &scene, Duration::from_secs(4)).ends_with("\n\nlast  one\n      two"));
    }
}
