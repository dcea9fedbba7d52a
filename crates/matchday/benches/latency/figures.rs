//! Times, and how they are shown. Prints.

use std::time::Duration;

/// How long each of many tries took.
#[derive(Debug, Default)]
pub(crate) struct Figures(Vec<Duration>);

impl Figures {
    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(crate) fn sorted(mut self) -> Self {
        self.0.sort_unstable();
        self
    }

    /// The time that `share` of the tries did not exceed, in milliseconds. They must have been sorted.
    fn at(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        let place = (share * last as f64).round() as usize;
        self.0
            .get(place)
            .map_or(f64::NAN, |took| took.as_secs_f64() * 1000.0)
    }
}

pub(crate) fn head(title: &str, columns: [&str; 6]) {
    println!("\n{title}");
    row("milliseconds", columns.map(str::to_owned));
}

/// A time beside the floor below which it cannot fall.
pub(crate) fn above(name: &str, taken: Figures, floor: Figures) {
    let taken = taken.sorted();
    let floor = floor.sorted();
    let added = |share| number(taken.at(share) - floor.at(share));
    let ratio = format!("{:.1} x", taken.at(0.5) / floor.at(0.5));
    row(
        name,
        [
            number(floor.at(0.5)),
            number(taken.at(0.5)),
            number(taken.at(0.99)),
            added(0.5),
            added(0.99),
            ratio,
        ],
    );
}

pub(crate) fn alone(name: &str, taken: Figures) {
    let taken = taken.sorted();
    let at = |share| number(taken.at(share));
    row(
        name,
        [
            taken.0.len().to_string(),
            at(0.5),
            at(0.9),
            at(0.99),
            at(0.999),
            at(1.0),
        ],
    );
}

fn number(milliseconds: f64) -> String {
    format!("{milliseconds:.3}")
}

fn row(name: &str, cells: [String; 6]) {
    let cells: String = cells.iter().map(|cell| format!("{cell:>11}")).collect();
    println!("  {name:<36}{cells}");
}
