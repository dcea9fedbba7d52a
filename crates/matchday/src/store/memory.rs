//! Events that are kept for as long as someone holds the store, and no longer: for whoever wants no file. Touches nothing.

use super::error::StoreFailed;
use super::writer::time_of;
use super::{Batch, Stored, Stream, chain};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<BTreeMap<Stream, Vec<Stored>>>);

impl Memory {
    fn streams(&self) -> MutexGuard<'_, BTreeMap<Stream, Vec<Stored>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn names(&self) -> Vec<Stream> {
        self.streams().keys().cloned().collect()
    }

    pub(super) fn load(&self, stream: &Stream) -> Vec<Stored> {
        self.streams().get(stream).cloned().unwrap_or_default()
    }

    /// Keeps all events of a batch, or none.
    pub(super) fn keep(&self, batch: &Batch) -> Result<(), StoreFailed> {
        let Batch { stream, lines, .. } = batch;
        let times: Result<Vec<_>, _> = lines.iter().map(|line| time_of(line)).collect();
        let times = times.map_err(|why| StoreFailed::unreadable(&stream.0, &why))?;
        let mut streams = self.streams();
        let events = streams.entry(stream.clone()).or_default();
        for (line, at) in lines.iter().zip(times) {
            let seq = events.len() as u64 + 1;
            let before = events.last().map_or_else(|| chain::genesis(stream), |last| last.hash);
            let hash = chain::link(&before, stream, seq, line);
            events.push(Stored { seq, at, line: line.clone(), hash });
        }
        Ok(())
    }
}
