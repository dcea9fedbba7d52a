//! What a store does so that events can be appended to it: the one trait of its writing side, run by one thread.

use crate::chain::Hash;
use crate::error::StoreFailed;
use crate::exchange::Exchange;
use crate::lease::Lease;
use crate::stream::Stream;
use matchday_core::protocol::Timestamp;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// The number of what belongs to no single league: the log of a service.
pub const NO_LEAGUE: u32 = 0;

/// The last event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The number under which the stream is kept.
    pub league: u32,
    pub seq: u64,
    pub hash: Hash,
}

/// An event with its place: league, stream and number are its key, and no two events have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// The league that appends it.
    pub league: u32,
    /// The event before it in its stream, under whose number it is kept; that of the first has the number 0.
    pub after: Head,
    pub stream: Stream,
    pub at: Timestamp,
    pub line: String,
    pub hash: Hash,
}

impl EventRow {
    pub fn seq(&self) -> u64 {
        self.after.seq.saturating_add(1)
    }

    /// The end of its stream, once it is stored.
    pub fn head(&self) -> Head {
        Head {
            league: self.after.league,
            seq: self.seq(),
            hash: self.hash,
        }
    }
}

/// What is stored together or not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transaction {
    pub events: Vec<EventRow>,
    /// When leagues are to be loaded again.
    pub wake_at: Vec<(u32, Option<Timestamp>)>,
    /// Each with its league.
    pub exchanges: Vec<(u32, Exchange)>,
}

impl Transaction {
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.wake_at.is_empty() && self.exchanges.is_empty()
    }

    /// Leaves out what belongs to some leagues.
    pub fn without(mut self, leagues: &BTreeSet<u32>) -> Self {
        self.events.retain(|row| !leagues.contains(&row.league));
        self.wake_at.retain(|(league, _)| !leagues.contains(league));
        self.exchanges
            .retain(|(league, _)| !leagues.contains(league));
        self
    }

    /// The numbers under which its rows are kept.
    pub fn leagues(&self) -> BTreeSet<u32> {
        let events = self.events.iter().map(|row| row.after.league);
        let wakes = self.wake_at.iter().map(|(league, _)| *league);
        events
            .chain(wakes)
            .chain(self.exchanges.iter().map(|(league, _)| *league))
            .collect()
    }
}

/// Why a transaction was not stored, or may not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendError {
    /// Its events do not continue their streams; nothing of it is stored.
    Refused(StoreFailed),
    /// Other processes own these leagues of it; nothing of it is stored.
    Fenced(BTreeSet<u32>),
    /// Nothing can be stored any more; nothing of it is.
    Failed(StoreFailed),
    /// The store was lost sight of: whether the transaction is stored is known once it can be reached again.
    Unknown(String),
}

/// The writing side of a store. Implementations do not retry: the writer thread does.
pub trait Append: Debug + Send {
    /// The end of a stream that belongs to this league; `None` if it has no events.
    fn head(&mut self, league: u32, stream: &Stream) -> Result<Option<Head>, AppendError>;

    /// Stores a transaction. If `durable`, the store may bring it and all before it to disk right away; whether it did.
    fn commit(&mut self, transaction: &Transaction, durable: bool) -> Result<bool, AppendError>;

    /// Brings to disk everything that was committed.
    fn sync(&mut self) -> Result<(), AppendError>;

    /// Removes rows of a league for good, and no more than take a moment. Whether none are left.
    fn remove(&mut self, league: u32) -> Result<bool, AppendError>;

    /// What is due between two groups, such as copying a log that has become long.
    fn maintain(&mut self) -> Result<(), AppendError> {
        Ok(())
    }

    /// How often it has something to do even if nothing is appended.
    fn maintenance_interval(&self) -> Option<Duration> {
        None
    }

    /// Finds the store again after an unknown outcome.
    fn reconnect(&mut self) -> Result<(), AppendError> {
        Ok(())
    }

    /// Those of these streams that do not hold their last event any more.
    fn diverged(
        &mut self,
        ends: &[(u32, Stream, Head)],
    ) -> Result<Vec<(u32, Stream)>, AppendError> {
        let _ = ends;
        Ok(Vec::new())
    }

    /// Those of these leagues that other processes own now.
    fn taken_over(&mut self, leagues: &BTreeSet<u32>) -> Result<BTreeSet<u32>, AppendError> {
        let _ = leagues;
        Ok(BTreeSet::new())
    }

    /// The lease under which a shared store is written.
    fn lease(&self) -> Option<Arc<Lease>> {
        None
    }

    /// Nothing that is known of these leagues holds any more: another may have written to them.
    fn forget(&mut self, leagues: &BTreeSet<u32>) {
        let _ = leagues;
    }

    /// Whether commits that are not on disk yet may be lost while this process lives on, so that the writer keeps them.
    fn may_lose_commits(&self) -> bool {
        false
    }
}
