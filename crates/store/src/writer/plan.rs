//! The rows that commands become: each with its place in its stream, and its hash. Pure, but for reading the ends of streams.

use crate::append::{Append, AppendError, EventRow, Head, Transaction};
use crate::batch::Batch;
use crate::chain;
use crate::command::Command;
use crate::stream::Stream;
use std::collections::HashMap;

/// The ends of the streams that were written, by league.
pub(super) type Heads = HashMap<(u32, Stream), Head>;

/// The rows of commands, each with its place and its hash.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) transaction: Transaction,
    heads: Heads,
}

impl Plan {
    pub(super) fn add(
        &mut self,
        log: &mut dyn Append,
        known: &Heads,
        command: &Command,
    ) -> Result<(), AppendError> {
        match command {
            Command::Append { league, batch } => self.append(log, known, *league, batch)?,
            Command::SetWakeAt { league, wake_at } => {
                self.transaction.wake_at.push((*league, *wake_at))
            }
            Command::Flush { .. } | Command::Remove { .. } | Command::Taken { .. } => {}
        }
        Ok(())
    }

    fn append(
        &mut self,
        log: &mut dyn Append,
        known: &Heads,
        league: u32,
        batch: &Batch,
    ) -> Result<(), AppendError> {
        let Batch {
            at, stream, lines, ..
        } = batch;
        let key = (league, stream.clone());
        let mut after = match self.heads.get(&key).or_else(|| known.get(&key)) {
            Some(head) => *head,
            None => log.head(league, stream)?.unwrap_or_else(|| Head {
                league,
                seq: 0,
                hash: chain::genesis(stream),
            }),
        };
        for line in lines {
            let hash = chain::link(&after.hash, stream, after.seq.saturating_add(1), line);
            let row = EventRow {
                league,
                after,
                stream: stream.clone(),
                at: *at,
                line: line.clone(),
                hash,
            };
            after = row.head();
            self.transaction.events.push(row);
        }
        self.heads.insert(key, after);
        Ok(())
    }
}

/// The part of a transaction that a league alone appends.
pub(super) fn of_league(whole: &Transaction, league: u32) -> Transaction {
    Transaction {
        events: whole
            .events
            .iter()
            .filter(|row| row.league == league)
            .cloned()
            .collect(),
        wake_at: whole
            .wake_at
            .iter()
            .filter(|(number, _)| *number == league)
            .copied()
            .collect(),
        exchanges: Vec::new(),
    }
}
