//! The progress of a simulation: a bar on a terminal; lines from time to time elsewhere, if it is long.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const REDRAW_INTERVAL: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// For what is no terminal, such as a log file.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct ProgressBar {
    began: Instant,
    drawn: Option<Instant>,
    shown: Shown,
    /// Matches of an earlier run, which say nothing of the pace of this one.
    earlier: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// Redrawn in place.
    Bar,
    /// From time to time.
    Lines,
    Nothing,
}

impl ProgressBar {
    pub fn new(silent: bool) -> Self {
        let shown = if !silent && std::io::stderr().is_terminal() {
            Shown::Bar
        } else {
            Shown::Nothing
        };
        Self {
            began: Instant::now(),
            drawn: None,
            shown,
            earlier: 0,
        }
    }

    /// With a line from time to time where there is no terminal.
    pub fn of_long_run() -> Self {
        let bar = Self::new(false);
        match bar.shown {
            Shown::Nothing => Self {
                shown: Shown::Lines,
                drawn: Some(bar.began),
                ..bar
            },
            Shown::Bar | Shown::Lines => bar,
        }
    }

    /// So many matches were played before this run.
    pub fn resume(&mut self, matches: u64) {
        self.earlier = matches;
    }

    pub fn took(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether [`at`](Self::at) would show anything now.
    pub fn is_due(&self) -> bool {
        let interval = match self.shown {
            Shown::Bar => REDRAW_INTERVAL,
            Shown::Lines => LINE_INTERVAL,
            Shown::Nothing => return false,
        };
        self.drawn.is_none_or(|drawn| drawn.elapsed() >= interval)
    }

    pub fn at(&mut self, matches: u64, of: u64) {
        if self.is_due() {
            self.drawn = Some(Instant::now());
            let line = line(
                matches,
                of,
                matches.saturating_sub(self.earlier),
                self.took(),
            );
            match self.shown {
                Shown::Bar => draw(&line),
                Shown::Lines | Shown::Nothing => matchday_terminal::warn(format!("{line}\n")),
            }
        }
    }

    pub fn clear(&self) {
        if self.shown == Shown::Bar && self.drawn.is_some() {
            draw("");
        }
    }
}

fn draw(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "\r\u{1b}[2K{text}").and_then(|()| stderr.flush());
}

fn line(matches: u64, of: u64, now: u64, took: Duration) -> String {
    let share = matches as f64 / of.max(1) as f64;
    let full = ((share * WIDTH as f64) as usize).min(WIDTH);
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(WIDTH - full));
    let pace = now as f64 / took.as_secs_f64().max(1e-9);
    let left = of.saturating_sub(matches) as f64 / pace.max(1e-9);
    format!(
        "{bar} {:3.0} %  {} of {} matches, {} a second, {} left",
        share * 100.0,
        grouped(matches),
        grouped(of),
        grouped(pace as u64),
        duration(left)
    )
}

fn duration(seconds: f64) -> String {
    match seconds {
        short if short < 90.0 => format!("{short:.0} s"),
        middle if middle < 5400.0 => format!("{:.0} min", middle / 60.0),
        long => format!("{:.0} h", long / 3600.0),
    }
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_says_how_much_is_done_and_how_long_it_will_take() {
        let shown = line(2_500_000, 10_000_000, 2_500_000, Duration::from_millis(500));
        let expected = "███████░░░░░░░░░░░░░░░░░░░░░░░  25 %  2,500,000 of 10,000,000 matches, 5,000,000 a second, 2 s left";
        assert_eq!(shown, expected);
    }

    #[test]
    fn digits_stand_in_groups_of_three() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
