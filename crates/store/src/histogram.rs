//! Histograms of atomics: recording a value takes no lock and no memory.
//!
//! Our own: the crate `metrics-exporter-prometheus` keeps every value of a histogram in memory until the next scrape.

use std::sync::atomic::{AtomicU64, Ordering};

/// The distribution of values, in whole units: microseconds, thousandths, events.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// How many of these units make one of the unit that is shown.
    scale: f64,
    /// One for each bound, and one for values beyond the last.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// A histogram at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramSnapshot {
    /// Each bound, with how many values did not exceed it.
    pub up_to: Vec<(f64, u64)>,
    pub count: u64,
    pub sum: f64,
}

impl Histogram {
    pub fn new(bounds: &'static [u64], scale: f64) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self {
            bounds,
            scale,
            counts,
            sum: AtomicU64::new(0),
        }
    }

    pub fn observe(&self, value: u64) {
        if let Some(count) = self
            .counts
            .get(self.bounds.partition_point(|bound| *bound < value))
        {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    pub fn snapshot(&self) -> HistogramSnapshot {
        let mut counts = self
            .counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed));
        let mut count = 0;
        let mut up_to = Vec::with_capacity(self.bounds.len());
        for (bound, more) in self.bounds.iter().zip(counts.by_ref()) {
            count += more;
            up_to.push((*bound as f64 / self.scale, count));
        }
        let sum = self.sum.load(Ordering::Relaxed) as f64 / self.scale;
        HistogramSnapshot {
            up_to,
            count: count + counts.sum::<u64>(),
            sum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_what_does_not_exceed_each_bound() {
        let histogram = Histogram::new(&[10, 50, 100, 250, 500, 750, 900, 1_000], 1e3);
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
