//! What a writer does when its store is lost sight of: waits until it can be reached again, finds out what it holds by number
//! and hash, and stores the rest again. Nothing is guessed.

use super::Writer;
use crate::append::{AppendError, EventRow, Head, Transaction};
use crate::error::StoreFailed;
use crate::stream::Stream;
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the writer waits between two attempts, at first and at most.
const WAIT_MIN: Duration = Duration::from_millis(20);
const WAIT_MAX: Duration = Duration::from_secs(1);
/// How long a store that is being closed is still waited for.
const CLOSING_MAX: Duration = Duration::from_secs(10);

/// Returns when the transaction, and everything before it, is stored and on disk; leagues whose last events are not those that
/// were written have failed.
pub(super) fn recover(writer: &mut Writer, lost: Transaction, why: &str) -> Result<(), AppendError> {
    let mut rest = lost;
    rest.events.splice(0..0, std::mem::take(&mut writer.unsynced));
    writer.queue.set_away(Some(why));
    tracing::warn!(target: "matchday::store", store = %writer.path.display(), why, "the store is away: its leagues stand still");
    let since = Instant::now();
    let outcome = loop {
        match attempt(writer, &mut rest, since) {
            Err(AppendError::Unknown(_)) => {}
            outcome => break outcome,
        }
    };
    writer.queue.set_away(None);
    if outcome.is_ok() {
        let seconds = since.elapsed().as_secs_f64();
        tracing::warn!(target: "matchday::store", store = %writer.path.display(), seconds, "the store is back: its leagues go on");
    }
    outcome
}

fn attempt(writer: &mut Writer, rest: &mut Transaction, since: Instant) -> Result<(), AppendError> {
    reconnect(writer, since)?;
    *rest = missing(writer, rest)?;
    if !rest.is_empty() {
        writer.log.commit(rest, true)?;
    }
    writer.log.sync()
}

fn reconnect(writer: &mut Writer, since: Instant) -> Result<(), AppendError> {
    let mut wait = WAIT_MIN;
    let mut closing_since = None;
    loop {
        let why = match writer.log.reconnect() {
            Err(AppendError::Unknown(why)) => why,
            outcome => return outcome,
        };
        if writer.queue.is_closed() {
            let began: &mut Instant = closing_since.get_or_insert_with(Instant::now);
            if began.elapsed() >= CLOSING_MAX && since.elapsed() >= CLOSING_MAX {
                return Err(AppendError::Failed(StoreFailed::away(&writer.path, &why)));
            }
        }
        sleep(wait);
        wait = (wait * 2).min(WAIT_MAX);
    }
}

/// What of a transaction the store does not hold: each stream ends before its first event there, or in one of them.
fn missing(writer: &mut Writer, rest: &Transaction) -> Result<Transaction, AppendError> {
    let mut streams: BTreeMap<(u32, &Stream), Vec<&EventRow>> = BTreeMap::new();
    for row in &rest.events {
        streams.entry((row.league, &row.stream)).or_default().push(row);
    }
    let mut ends = BTreeMap::new();
    for ((league, stream), rows) in streams {
        let held = writer.log.head(league, stream)?;
        let end = match (held, rows.first()) {
            (None, Some(first)) if first.after.seq == 0 => Some(first.after),
            (Some(held), Some(first)) => {
                let mut known = std::iter::once(first.after).chain(rows.iter().map(|row| row.head()));
                known.find(|head| (head.seq, head.hash) == (held.seq, held.hash))
            }
            _ => None,
        };
        match end {
            Some(end) => {
                ends.insert((league, stream), end);
            }
            None => writer.queue.fail(Some(league), StoreFailed::diverged(&writer.path, &stream.0)),
        }
    }
    let is_missing = |row: &&EventRow| {
        let end: Option<&Head> = ends.get(&(row.league, &row.stream));
        writer.queue.failure(row.league).is_none() && end.is_some_and(|end| row.seq() > end.seq)
    };
    Ok(Transaction {
        events: rest.events.iter().filter(is_missing).cloned().collect(),
        wake_at: rest.wake_at.clone(),
        exchanges: rest.exchanges.clone(),
    })
}
