//! A store without a file: events are kept until the last handle is dropped, exchanges are not kept. Does no I/O.

use crate::batch::{Batch, Stored};
use crate::error::StoreFailed;
use crate::stats::StoreStats;
use crate::stream::Stream;
use crate::{chain, event_time};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    streams: BTreeMap<(u32, Stream), Vec<Stored>>,
    closed: bool,
    stats: StoreStats,
}

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The numbers and the managers' streams of all leagues.
    pub(super) fn leagues(&self) -> Vec<(u32, Stream)> {
        self.state().streams.keys().filter(|(_, stream)| stream.is_managers()).cloned().collect()
    }

    pub(super) fn load(&self, league: u32, stream: &Stream) -> Vec<Stored> {
        self.state().streams.get(&(league, stream.clone())).cloned().unwrap_or_default()
    }

    /// Stores a batch and runs its completion, on the caller's thread.
    pub(super) fn append(&self, league: u32, batch: Batch) {
        let outcome = self.state().store(league, &batch);
        (batch.then)(outcome);
    }

    pub(super) fn remove(&self, league: u32) {
        self.state().streams.retain(|(number, _), _| *number != league);
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    pub(super) fn stats(&self) -> StoreStats {
        self.state().stats
    }
}

impl State {
    fn store(&mut self, league: u32, batch: &Batch) -> Result<(), StoreFailed> {
        let Batch { stream, lines, .. } = batch;
        if self.closed {
            return Err(StoreFailed::closed());
        }
        let times = event_time::of_batch(stream, lines)?;
        let events = self.streams.entry((league, stream.clone())).or_default();
        for (line, at) in lines.iter().zip(times) {
            let seq = events.len() as u64 + 1;
            let before = events.last().map_or_else(|| chain::genesis(stream), |last| last.hash);
            let hash = chain::link(&before, stream, seq, line);
            events.push(Stored { seq, at, line: line.clone(), hash });
        }
        self.stats.batches += 1;
        self.stats.commits += 1;
        self.stats.events += lines.len() as u64;
        Ok(())
    }
}
