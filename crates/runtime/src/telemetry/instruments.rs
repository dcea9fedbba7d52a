//! Counters and histograms of atomics: recording a value takes no lock and no memory.
//!
//! Our own: the crate `metrics-exporter-prometheus` keeps every value of a histogram in memory until the next scrape, and
//! can take over neither the store's histograms nor a counter of fractions (`process_cpu_seconds_total`).

use std::sync::atomic::{AtomicU64, Ordering};

/// A table of counters, all of them 0 at first.
#[derive(Debug)]
pub(super) struct Counters(Box<[AtomicU64]>);

impl Counters {
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    pub(super) fn add(&self, index: usize, count: u64) {
        if let Some(cell) = self.0.get(index) {
            cell.fetch_add(count, Ordering::Relaxed);
        }
    }

    pub(super) fn subtract(&self, index: usize, count: u64) {
        if let Some(cell) = self.0.get(index) {
            cell.fetch_sub(count, Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}

/// The distribution of values, in whole units: microseconds, thousandths, events.
#[derive(Debug)]
pub(super) struct Histogram {
    bounds: &'static [u64],
    /// How many of these units make one of the unit that is shown.
    scale: f64,
    /// One for each bound, and one for values beyond the last.
    counts: Counters,
    sum: AtomicU64,
}

/// A histogram at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HistogramSnapshot {
    /// Each bound, with how many values did not exceed it.
    pub(super) up_to: Vec<(f64, u64)>,
    pub(super) count: u64,
    pub(super) sum: f64,
}

impl HistogramSnapshot {
    /// `counts`: one for each bound, and one for values beyond the last.
    fn new(bounds: &[u64], counts: impl IntoIterator<Item = u64>, sum: u64, scale: f64) -> Self {
        let mut counts = counts.into_iter();
        let mut count = 0;
        let mut up_to = Vec::with_capacity(bounds.len());
        for (bound, more) in bounds.iter().zip(counts.by_ref()) {
            count += more;
            up_to.push((*bound as f64 / scale, count));
        }
        Self { up_to, count: count + counts.sum::<u64>(), sum: sum as f64 / scale }
    }

    pub(super) fn of_store(histogram: &matchday_store::Histogram, scale: f64) -> Self {
        Self::new(histogram.bounds, histogram.counts.iter().copied(), histogram.sum, scale)
    }
}

impl Histogram {
    /// Durations, shown in seconds: from half a millisecond to the longest timeout.
    pub(super) fn of_seconds() -> Self {
        const MICROS: &[u64] = &[
            500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
            2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
        ];
        Self::new(MICROS, 1e6)
    }

    /// Parts of a whole.
    pub(super) fn of_ratio() -> Self {
        Self::new(&[10, 50, 100, 250, 500, 750, 900, 1_000], 1e3)
    }

    #[cfg(test)]
    pub(super) fn of_counts() -> Self {
        Self::new(&[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024], 1.0)
    }

    fn new(bounds: &'static [u64], scale: f64) -> Self {
        Self { bounds, scale, counts: Counters::new(bounds.len() + 1), sum: AtomicU64::new(0) }
    }

    pub(super) fn observe(&self, value: u64) {
        let index = self.bounds.iter().position(|bound| value <= *bound).unwrap_or(self.bounds.len());
        self.counts.add(index, 1);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    pub(super) fn snapshot(&self) -> HistogramSnapshot {
        let counts = (0..=self.bounds.len()).map(|index| self.counts.get(index));
        HistogramSnapshot::new(self.bounds, counts, self.sum.load(Ordering::Relaxed), self.scale)
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
        let snapshot = histogram.snapshot();
        let counts: Vec<_> = snapshot.up_to.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [2, 3, 3, 3, 3, 3, 3, 4]);
        assert_eq!((snapshot.count, snapshot.sum), (5, 6.021));
        assert_eq!(snapshot.up_to.first().unwrap().0, 0.01);
    }
}
