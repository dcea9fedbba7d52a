//! Counters of atomics: recording a value takes no lock and no memory.

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
        self.0
            .get(index)
            .map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}
