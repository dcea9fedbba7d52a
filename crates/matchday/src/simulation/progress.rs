//! How far a simulation has come: a bar on a terminal, and nothing anywhere else.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Often enough to look alive, seldom enough to cost nothing.
const BETWEEN: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

#[derive(Debug)]
pub(crate) struct Bar {
    began: Instant,
    drawn: Option<Instant>,
    shown: bool,
}

impl Bar {
    /// Silent where a program reads, or nobody does.
    pub(crate) fn new(silent: bool) -> Self {
        Self { began: Instant::now(), drawn: None, shown: !silent && std::io::stderr().is_terminal() }
    }

    pub(crate) fn took(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn at(&mut self, matches: u64, of: u64) {
        if !self.shown || self.drawn.is_some_and(|drawn| drawn.elapsed() < BETWEEN) {
            return;
        }
        self.drawn = Some(Instant::now());
        draw(&line(matches, of, self.took()));
    }

    pub(crate) fn clear(&self) {
        if self.drawn.is_some() {
            draw("");
        }
    }
}

fn draw(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "\r\u{1b}[2K{text}").and_then(|()| stderr.flush());
}

fn line(matches: u64, of: u64, took: Duration) -> String {
    let share = matches as f64 / of.max(1) as f64;
    let full = ((share * WIDTH as f64) as usize).min(WIDTH);
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(WIDTH - full));
    let pace = matches as f64 / took.as_secs_f64().max(1e-9);
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
pub(crate) fn grouped(number: u64) -> String {
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
        let shown = line(2_500_000, 10_000_000, Duration::from_millis(500));
        let expected = "███████░░░░░░░░░░░░░░░░░░░░░░░  25 %  2,500,000 of 10,000,000 matches, 5,000,000 a second, 2 s left";
        assert_eq!(shown, expected);
    }

    #[test]
    fn digits_stand_in_groups_of_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
