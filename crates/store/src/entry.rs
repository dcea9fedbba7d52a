//! Events as they were decoded from a stream: the one way to read a log. Pure, but for [`Reader::entries_after`].

use crate::batch::Stored;
use crate::error::StoreError;
use crate::reader::Reader;
use crate::stream::Stream;
use matchday_core::event_codec::{self, EventCodecError};
use matchday_core::protocol::Timestamp;
use serde::de::DeserializeOwned;

/// An event with its place in its stream.
#[derive(Debug, Clone)]
pub struct Entry<E> {
    pub seq: u64,
    pub at: Timestamp,
    pub event: E,
}

impl<E: DeserializeOwned> Entry<E> {
    pub fn decode(stored: &Stored) -> Result<Self, EventCodecError> {
        let (at, event) = event_codec::decode(&stored.line)?;
        Ok(Self {
            seq: stored.seq,
            at,
            event,
        })
    }

    pub fn decode_all(events: &[Stored]) -> Result<Vec<Self>, EventCodecError> {
        events.iter().map(Self::decode).collect()
    }
}

impl Reader {
    /// The events of a stream that come after the one with this number.
    pub fn entries_after<E: DeserializeOwned>(
        &self,
        stream: &Stream,
        seq: u64,
    ) -> Result<Vec<Entry<E>>, StoreError> {
        Entry::decode_all(&self.load_after(stream, seq)?).map_err(|error| self.unreadable(error))
    }

    pub fn unreadable(&self, error: EventCodecError) -> StoreError {
        StoreError::Unreadable {
            store: self.url().clone(),
            error,
        }
    }
}
