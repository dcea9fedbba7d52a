//! What a writer does when its store is lost sight of: waits until it can be reached again, finds out what it holds by number
//! and hash, and stores the rest again. Nothing is guessed.

use super::Writer;
use crate::append::{AppendError, EventRow, Head, Transaction};
use crate::error::StoreFailed;
use crate::queue::LEASE_EXPIRED;
use crate::stream::Stream;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the writer waits between two attempts, at first and at most.
const WAIT_MIN: Duration = Duration::from_millis(20);
const WAIT_MAX: Duration = Duration::from_secs(1);
/// How long a store that is being closed is still waited for.
const CLOSING_MAX: Duration = Duration::from_secs(10);

/// Returns when the transaction, and everything before it, is stored and on disk; leagues whose last events are not those that
/// were written have failed.
pub(super) fn recover(
    writer: &mut Writer,
    lost: Transaction,
    why: &str,
) -> Result<(), AppendError> {
    let mut rest = lost;
    rest.events
        .splice(0..0, std::mem::take(&mut writer.unsynced));
    writer.queue.set_away(Some(why));
    tracing::warn!(target: "matchday::store", store = %writer.store, why, "the store is unavailable: its leagues wait");
    let since = Instant::now();
    let outcome = loop {
        match attempt(writer, &mut rest, since) {
            Err(AppendError::Unknown(why))
                if writer.queue.is_closed() && since.elapsed() >= CLOSING_MAX =>
            {
                break Err(AppendError::Failed(StoreFailed::away(&writer.store, &why)));
            }
            // The store is there, but not able to go on yet.
            Err(AppendError::Unknown(_)) => sleep(WAIT_MIN),
            Err(AppendError::Fenced(leagues)) => {
                writer.fence(&leagues);
                rest = rest.without(&leagues);
            }
            outcome => break outcome,
        }
    };
    writer.queue.set_away(None);
    if outcome.is_ok() {
        let seconds = since.elapsed().as_secs_f64();
        tracing::warn!(target: "matchday::store", store = %writer.store, seconds, "the store is available again: its leagues continue");
    }
    outcome
}

fn attempt(writer: &mut Writer, rest: &mut Transaction, since: Instant) -> Result<(), AppendError> {
    reconnect(writer, since)?;
    stop_diverged(writer, rest)?;
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
                return Err(AppendError::Failed(StoreFailed::away(&writer.store, &why)));
            }
        }
        sleep(wait);
        wait = (wait * 2).min(WAIT_MAX);
    }
}

/// Fails the leagues whose last events are gone, as far as nothing of them was under way: the rest is [`missing`]'s.
fn stop_diverged(writer: &mut Writer, rest: &Transaction) -> Result<(), AppendError> {
    let under_way: BTreeSet<(u32, &Stream)> = rest
        .events
        .iter()
        .map(|row| (row.league, &row.stream))
        .collect();
    let ends: Vec<(u32, Stream, Head)> = writer
        .heads
        .iter()
        .filter(|((league, stream), _)| !under_way.contains(&(*league, stream)))
        .map(|((league, stream), head)| (*league, stream.clone(), *head))
        .collect();
    let diverged = writer.log.diverged(&ends)?;
    check_owned(writer, diverged.iter().map(|(league, _)| *league))?;
    for (league, stream) in diverged {
        let failed = StoreFailed::diverged(&writer.store, &stream.0);
        tracing::error!(target: "matchday::store", league, "{failed}");
        writer.queue.fail(Some(league), failed);
    }
    Ok(())
}

/// An error with those of these leagues that others have taken meanwhile, and so have written to: that they hold something else
/// than this process wrote is in order. One that this process has taken back since is its own again, under another epoch.
fn check_owned(writer: &mut Writer, leagues: impl Iterator<Item = u32>) -> Result<(), AppendError> {
    let leagues: BTreeSet<u32> = leagues.collect();
    if leagues.is_empty() {
        return Ok(());
    }
    let mut taken = writer.log.taken_over(&leagues)?;
    taken.extend(writer.lost().intersection(&leagues));
    if taken.is_empty() {
        Ok(())
    } else {
        Err(AppendError::Fenced(taken))
    }
}

/// Blocks while the lease may have expired: what is released meanwhile could contradict another owner. Leagues that were lost
/// with it have failed afterwards.
pub(super) fn confirm_lease(writer: &mut Writer) {
    let queue = Arc::clone(&writer.queue);
    if let Some(lease) = queue.lease().filter(|lease| !lease.wait(Duration::ZERO)) {
        queue.set_away(Some(LEASE_EXPIRED));
        let since = Instant::now();
        while !lease.wait(WAIT_MAX) {
            if queue.is_closed() && since.elapsed() >= CLOSING_MAX {
                queue.fail(None, StoreFailed::away(&writer.store, LEASE_EXPIRED));
                break;
            }
        }
        queue.set_away(None);
    }
    writer.fence_lost();
}

/// What of a transaction the store does not hold: each stream ends before its first event there, or in one of them.
fn missing(writer: &mut Writer, rest: &Transaction) -> Result<Transaction, AppendError> {
    let mut streams: BTreeMap<(u32, &Stream), Vec<&EventRow>> = BTreeMap::new();
    for row in &rest.events {
        streams
            .entry((row.league, &row.stream))
            .or_default()
            .push(row);
    }
    let mut ends = BTreeMap::new();
    let mut diverged = Vec::new();
    for ((league, stream), rows) in streams {
        let held = writer.log.head(league, stream)?;
        let end = match (held, rows.first()) {
            (None, Some(first)) if first.after.seq == 0 => Some(first.after),
            (Some(held), Some(first)) => {
                let mut known =
                    std::iter::once(first.after).chain(rows.iter().map(|row| row.head()));
                known.find(|head| (head.seq, head.hash) == (held.seq, held.hash))
            }
            _ => None,
        };
        match end {
            Some(end) => {
                ends.insert((league, stream), end);
            }
            None => diverged.push((league, stream)),
        }
    }
    check_owned(writer, diverged.iter().map(|(league, _)| *league))?;
    for (league, stream) in diverged {
        let failed = StoreFailed::diverged(&writer.store, &stream.0);
        writer.queue.fail(Some(league), failed);
    }
    let is_sound = |league| writer.queue.failure(league).is_none();
    let is_missing = |row: &&EventRow| {
        let end: Option<&Head> = ends.get(&(row.league, &row.stream));
        is_sound(row.league) && end.is_some_and(|end| row.seq() > end.seq)
    };
    Ok(Transaction {
        events: rest.events.iter().filter(is_missing).cloned().collect(),
        wake_at: rest
            .wake_at
            .iter()
            .filter(|(league, _)| is_sound(*league))
            .copied()
            .collect(),
        exchanges: rest
            .exchanges
            .iter()
            .filter(|(league, _)| is_sound(*league))
            .cloned()
            .collect(),
    })
}
