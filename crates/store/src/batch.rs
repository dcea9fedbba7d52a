//! What is appended to a store: events of one stream, and how durable they must be. Values only.

use crate::chain::Hash;
use crate::error::StoreFailed;
use crate::stream::Stream;
use matchday_core::driver::Durability;
use matchday_core::protocol::Timestamp;
use std::fmt;

/// An event as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its number in its stream, counted from 1.
    pub seq: u64,
    pub at: Timestamp,
    /// What `matchday_core::event_codec::encode` gave.
    pub line: String,
    pub hash: Hash,
}

/// Runs once a batch, and everything that its league appended before it, is stored or has failed. It runs on the writer
/// thread and must not block.
pub type Completion = Box<dyn FnOnce(Result<(), StoreFailed>) + Send>;

/// Events that are stored together or not at all. A batch without events waits for those before it.
pub struct Batch {
    /// When the events happened.
    pub at: Timestamp,
    pub stream: Stream,
    /// Events, each written by `matchday_core::event_codec::encode`.
    pub lines: Vec<String>,
    pub durability: Durability,
    /// Whether somebody waits for the completion. A batch that nobody waits for is committed with those of the next
    /// milliseconds; if it must be fsynced, it is before any later batch that somebody waits for completes.
    pub awaited: bool,
    pub then: Completion,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Batch({}, {} events, {:?})",
            self.stream,
            self.lines.len(),
            self.durability
        )
    }
}

/// Where a batch stands once it has been handed to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queued {
    /// It will be stored before everything that is appended from now on, or none of that will. Colocated agents may act on
    /// it at once.
    InOrder,
    /// In order too, but the league has a backlog, or has failed: wait until the batch is stored.
    Backlogged,
}
