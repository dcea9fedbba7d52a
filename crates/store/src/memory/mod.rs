//! A store without a file: what is appended is kept until the last handle is dropped. Does no I/O.

mod read;

use crate::append::{Append, AppendError, EventRow, Head, Transaction};
use crate::batch::Stored;
use crate::error::StoreFailed;
use crate::exchange::Exchange;
use crate::read::{LeagueState, Read};
use crate::stream::Stream;
use read::MemoryRead;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store that all its clones share.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<State>>);

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store as it is now, to be read.
    pub fn snapshot(&self) -> Box<dyn Read> {
        Box::new(MemoryRead(self.state().clone()))
    }
}

#[derive(Debug, Clone, Default)]
struct State {
    streams: BTreeMap<(u32, Stream), Vec<Stored>>,
    exchanges: Vec<(i64, u32, Exchange)>,
    leagues: BTreeMap<u32, LeagueState>,
}

impl State {
    fn league(&mut self, number: u32) -> &mut LeagueState {
        let unknown = LeagueState { number, exchange_bytes: 0, wake_at: None, removed: false };
        self.leagues.entry(number).or_insert(unknown)
    }

    fn end_of(&self, league: u32, stream: &Stream) -> Option<Head> {
        let last = self.streams.get(&(league, stream.clone()))?.last()?;
        Some(Head { league, seq: last.seq, hash: last.hash })
    }

    /// Whether every event follows the one before it in its stream.
    fn continues(&self, rows: &[EventRow]) -> bool {
        let mut ends: BTreeMap<(u32, &Stream), Option<Head>> = BTreeMap::new();
        rows.iter().all(|row| {
            let end = ends
                .entry((row.after.league, &row.stream))
                .or_insert_with(|| self.end_of(row.after.league, &row.stream));
            let follows = match end {
                Some(end) => *end == row.after,
                None => row.after.seq == 0,
            };
            *end = Some(row.head());
            follows
        })
    }
}

impl Append for Memory {
    fn head(&mut self, league: u32, stream: &Stream) -> Result<Option<Head>, AppendError> {
        Ok(self.state().end_of(league, stream))
    }

    fn commit(&mut self, transaction: &Transaction, _durable: bool) -> Result<bool, AppendError> {
        let mut state = self.state();
        if !state.continues(&transaction.events) {
            let why = "its events do not continue their stream";
            return Err(AppendError::Refused(StoreFailed::write(Path::new("memory"), why)));
        }
        for row in &transaction.events {
            let stored = Stored { seq: row.seq(), at: row.at, line: row.line.clone(), hash: row.hash };
            state.league(row.after.league);
            state.streams.entry((row.after.league, row.stream.clone())).or_default().push(stored);
        }
        for (league, wake_at) in &transaction.wake_at {
            state.league(*league).wake_at = *wake_at;
        }
        for (league, exchange) in &transaction.exchanges {
            state.league(*league).exchange_bytes += exchange.bytes();
            let last = state.exchanges.last().map_or(0, |(id, ..)| *id);
            state.exchanges.push((last + 1, *league, exchange.clone()));
        }
        Ok(true)
    }

    fn sync(&mut self) -> Result<(), AppendError> {
        Ok(())
    }

    fn remove(&mut self, league: u32) -> Result<bool, AppendError> {
        let mut state = self.state();
        state.streams.retain(|(number, _), _| *number != league);
        state.exchanges.retain(|(_, number, _)| *number != league);
        *state.league(league) =
            LeagueState { number: league, exchange_bytes: 0, wake_at: None, removed: true };
        Ok(true)
    }
}
