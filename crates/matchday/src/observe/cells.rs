//! What things are counted in: atomics, so that whoever counts never waits for anyone and asks for no memory.

use std::sync::atomic::{AtomicU64, Ordering};

/// A table of counters, all of them 0 at first.
#[derive(Debug)]
pub(super) struct Counters(Box<[AtomicU64]>);

impl Counters {
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    pub(super) fn add(&self, place: usize, count: u64) {
        if let Some(cell) = self.0.get(place) {
            cell.fetch_add(count, Ordering::Relaxed);
        }
    }

    pub(super) fn subtract(&self, place: usize, count: u64) {
        if let Some(cell) = self.0.get(place) {
            cell.fetch_sub(count, Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self, place: usize) -> u64 {
        self.0.get(place).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}

/// How values are spread, in whole units: microseconds, thousandths, events.
#[derive(Debug)]
pub(crate) struct Histogram {
    bounds: &'static [u64],
    /// How many of these units make one of the unit that is shown.
    scale: f64,
    /// One for each bound, and one for what lies beyond.
    counts: Counters,
    sum: AtomicU64,
}

/// A histogram as it stood when someone looked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spread {
    /// Each bound, with how many values did not exceed it.
    pub(super) up_to: Vec<(f64, u64)>,
    pub(super) count: u64,
    pub(super) sum: f64,
}

impl Histogram {
    /// Times, shown in seconds: from half a millisecond to the longest that anyone is waited for.
    pub(crate) fn of_seconds() -> Self {
        const MICROS: &[u64] = &[
            500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
            2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
        ];
        Self::new(MICROS, 1e6)
    }

    /// Parts of a whole.
    pub(crate) fn of_ratio() -> Self {
        Self::new(&[10, 50, 100, 250, 500, 750, 900, 1_000], 1e3)
    }

    pub(crate) fn of_counts() -> Self {
        Self::new(&[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024], 1.0)
    }

    fn new(bounds: &'static [u64], scale: f64) -> Self {
        Self { bounds, scale, counts: Counters::new(bounds.len() + 1), sum: AtomicU64::new(0) }
    }

    pub(crate) fn observe(&self, value: u64) {
        let place = self.bounds.iter().position(|bound| value <= *bound).unwrap_or(self.bounds.len());
        self.counts.add(place, 1);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    pub(super) fn spread(&self) -> Spread {
        let mut count = 0;
        let mut up_to = Vec::with_capacity(self.bounds.len());
        for (place, bound) in self.bounds.iter().enumerate() {
            count += self.counts.get(place);
            up_to.push((*bound as f64 / self.scale, count));
        }
        count += self.counts.get(self.bounds.len());
        Spread { up_to, count, sum: self.sum.load(Ordering::Relaxed) as f64 / self.scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_what_does_not_exceed_each_bound() {
        let histogram = Histogram::of_ratio();
        for thousandths in [0, 10, 11, 1_000, 5_000] {
            histogram.observe(thousandths);
        }
        let spread = histogram.spread();
        let counts: Vec<_> = spread.up_to.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [2, 3, 3, 3, 3, 3, 3, 4]);
        assert_eq!((spread.count, spread.sum), (5, 6.021));
        assert_eq!(spread.up_to.first().unwrap().0, 0.01);
    }
}
