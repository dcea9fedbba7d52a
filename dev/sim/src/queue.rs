//! The event queue in virtual time: ordered by time, and at the same time by insertion.

use matchday_core::protocol::Timestamp;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Debug)]
pub(super) struct Queue<T> {
    heap: BinaryHeap<Entry<T>>,
    planned: u64,
}

#[derive(Debug)]
struct Entry<T> {
    at: Timestamp,
    number: u64,
    what: T,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            planned: 0,
        }
    }
}

impl<T> Queue<T> {
    pub(super) fn plan(&mut self, at: Timestamp, what: T) {
        self.planned += 1;
        self.heap.push(Entry {
            at,
            number: self.planned,
            what,
        });
    }

    pub(super) fn next(&mut self) -> Option<(Timestamp, u64, T)> {
        self.heap
            .pop()
            .map(|entry| (entry.at, entry.number, entry.what))
    }
}

impl<T> Ord for Entry<T> {
    /// Reversed, since the heap gives out its greatest entry first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}
