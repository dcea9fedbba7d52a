//! The store in memory behind a handle: without a queue and a thread. Does no I/O.

use crate::append::Append;
use crate::batch::Batch;
use crate::error::StoreFailed;
use crate::event_time;
use crate::open::Memory;
use crate::stats::StoreStats;
use crate::writer::{Heads, Plan};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A store in memory is written by the one who appends, who has nothing to wait for.
#[derive(Debug, Default)]
pub(super) struct InMemory {
    pub(super) memory: Memory,
    state: Mutex<InMemoryState>,
}

#[derive(Debug, Default)]
pub(super) struct InMemoryState {
    pub(super) closed: bool,
    pub(super) stats: StoreStats,
}

impl InMemory {
    pub(super) fn state(&self) -> MutexGuard<'_, InMemoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn store(&self, league: u32, batch: &Batch) -> Result<(), StoreFailed> {
        let mut state = self.state();
        if state.closed {
            return Err(StoreFailed::closed());
        }
        let times = event_time::of_batch(&batch.stream, &batch.lines)?;
        let (mut log, mut plan) = (self.memory.clone(), Plan::default());
        let lines = batch.lines.iter().zip(&times);
        plan.append(&mut log, &Heads::new(), league, &batch.stream, lines)
            .and_then(|()| log.commit(&plan.transaction, true))
            .map_err(|error| error.into_failed(Path::new("memory")))?;
        state.stats.batches += 1;
        state.stats.commits += 1;
        state.stats.events += batch.lines.len() as u64;
        Ok(())
    }
}
