//! The line in front of the writer, and what both sides know of each other. Touches no file.
//!
//! It does not bound itself: whoever appends waits for the `then`s before taking more work on.

use super::Batch;
use super::error::StoreFailed;
use super::stats::StoreStats;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How much one commit carries at most: enough to share it among many, little enough that nobody waits long.
const BATCHES_MAX: usize = 1024;
const BYTES_MAX: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Queue {
    line: Mutex<Line>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Batch>,
    /// Taken by the writer, and not acknowledged yet.
    in_hand: usize,
    closed: bool,
    /// Why nothing is stored any more.
    failure: Option<StoreFailed>,
    stats: StoreStats,
}

impl Queue {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, batch: Batch) {
        let mut line = self.line();
        let idle = line.waiting.is_empty() && line.in_hand == 0;
        if line.closed {
            let verdict = Err(line.failure.clone().unwrap_or_else(StoreFailed::closed));
            drop(line);
            return acknowledge(batch, verdict);
        }
        if idle && batch.is_empty() {
            let verdict = line.failure.clone().map_or(Ok(()), Err);
            line.stats.batches += 1;
            drop(line);
            return acknowledge(batch, verdict);
        }
        line.waiting.push_back(batch);
        drop(line);
        self.changed.notify_one();
    }

    /// Acknowledges a batch at once, if `keep` takes it.
    pub(super) fn pass(&self, batch: Batch, keep: impl FnOnce(&Batch) -> Result<(), StoreFailed>) {
        let mut line = self.line();
        let verdict = if line.closed { Err(StoreFailed::closed()) } else { keep(&batch) };
        if verdict.is_ok() {
            line.stats.batches += 1;
            line.stats.committed(1, batch.lines.len() as u64, batch.exchanges.len() as u64, Duration::ZERO);
        }
        drop(line);
        acknowledge(batch, verdict);
    }

    /// What is to be committed next, as soon as there is something; an empty group if nothing came for as long as
    /// `patience`; `None` once the queue is closed and empty.
    pub(super) fn take(&self, patience: Duration) -> Option<Vec<Batch>> {
        let mut line = self.line();
        while line.waiting.is_empty() {
            if line.closed {
                return None;
            }
            let (held, waited) =
                self.changed.wait_timeout(line, patience).unwrap_or_else(PoisonError::into_inner);
            line = held;
            if waited.timed_out() && line.waiting.is_empty() && !line.closed {
                return Some(Vec::new());
            }
        }
        let mut bytes = 0_usize;
        let mut group = Vec::new();
        while group.len() < BATCHES_MAX && bytes < BYTES_MAX {
            let Some(batch) = line.waiting.pop_front() else { break };
            bytes = bytes.saturating_add(batch.bytes());
            group.push(batch);
        }
        line.in_hand = group.len();
        Some(group)
    }

    pub(super) fn note_commit(&self, batches: usize, events: usize, exchanges: usize, took: Duration) {
        self.line().stats.committed(batches as u64, events as u64, exchanges as u64, took);
    }

    /// From now on nothing is acknowledged any more.
    pub(super) fn fail(&self, failed: StoreFailed) {
        self.line().failure.get_or_insert(failed);
    }

    pub(super) fn failure(&self) -> Option<StoreFailed> {
        self.line().failure.clone()
    }

    /// Tells everyone of a group, in order, how it went for them.
    pub(super) fn settle(&self, group: Vec<Batch>, verdict: &Result<(), StoreFailed>) {
        for batch in group {
            acknowledge(batch, verdict.clone());
            let mut line = self.line();
            line.in_hand = line.in_hand.saturating_sub(1);
            line.stats.batches += 1;
        }
    }

    pub(super) fn close(&self) {
        self.line().closed = true;
        self.changed.notify_all();
    }

    pub(super) fn stats(&self) -> StoreStats {
        let line = self.line();
        StoreStats { queue_depth: (line.waiting.len() + line.in_hand) as u64, ..line.stats }
    }
}

/// What a `then` does wrong is its own affair: the panic has been reported, and the others must have their answer.
fn acknowledge(batch: Batch, verdict: Result<(), StoreFailed>) {
    let _ = catch_unwind(AssertUnwindSafe(|| (batch.then)(verdict)));
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.exchanges.is_empty()
    }

    fn bytes(&self) -> usize {
        let exchanges = self.exchanges.iter();
        self.lines.iter().map(String::len).sum::<usize>()
            + exchanges
                .map(|one| one.request.len() + one.answer.as_ref().map_or(0, String::len))
                .sum::<usize>()
    }
}
