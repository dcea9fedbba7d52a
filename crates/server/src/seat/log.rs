//! The event log of the seats: which are open, and how many results each client has received. Writes to its own stream.

use matchday_core::event_codec;
use matchday_runtime::{Clock, StartError};
use matchday_store::{Batch, Durability, Store, Stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;
use tokio::sync::oneshot;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum SeatEvent {
    Opened {
        number: u32,
        name: String,
        /// The hash of its key.
        key: String,
        /// The address that it was opened from, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<IpAddr>,
    },
    /// The results of this many games have been told to the client.
    #[serde(rename = "told")]
    Delivered {
        number: u32,
        games: u32,
        /// How many of them its moves have confirmed.
        confirmed: u32,
    },
    Closed {
        number: u32,
    },
}

/// A seat as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeatRecord {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) key: String,
    pub(super) games_delivered: u32,
    pub(super) games_confirmed: u32,
    pub(super) from: Option<IpAddr>,
}

#[derive(Debug)]
pub(super) struct SeatLog {
    store: Store,
    clock: Clock,
}

impl SeatLog {
    /// The log, the open seats, and the number of the next seat.
    pub(super) fn read(
        store: Store,
        clock: Clock,
    ) -> Result<(Self, Vec<SeatRecord>, u32), StartError> {
        let name = || stream().0.to_string();
        let events = store
            .load(&stream())
            .map_err(|error| StartError::Unreadable {
                stream: name(),
                error,
            })?;
        let mut open = BTreeMap::new();
        let mut next = 1;
        for (before, stored) in events.iter().enumerate() {
            let (_, event) = event_codec::decode::<SeatEvent>(&stored.line).map_err(|error| {
                StartError::Foreign {
                    stream: name(),
                    number: before + 1,
                    error,
                }
            })?;
            match event {
                SeatEvent::Opened {
                    number,
                    name,
                    key,
                    from,
                } => {
                    next = next.max(number + 1);
                    let record = SeatRecord {
                        number,
                        name,
                        key,
                        games_delivered: 0,
                        games_confirmed: 0,
                        from,
                    };
                    open.insert(number, record);
                }
                SeatEvent::Delivered {
                    number,
                    games,
                    confirmed,
                } => {
                    if let Some(record) = open.get_mut(&number) {
                        record.games_delivered = games;
                        record.games_confirmed = confirmed;
                    }
                }
                SeatEvent::Closed { number } => {
                    open.remove(&number);
                }
            }
        }
        Ok((Self { store, clock }, open.into_values().collect(), next))
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Returns when the event is durable.
    pub(super) async fn write(&self, event: &SeatEvent) -> Result<(), String> {
        let (notify, durable) = oneshot::channel();
        self.append(event, true, move |outcome| {
            let _ = notify.send(outcome);
        })?;
        durable
            .await
            .unwrap_or_else(|_| Err("the store has been closed".to_owned()))
    }

    /// Queues an event whose loss in a crash means only that something is told again.
    pub(super) fn note(&self, event: &SeatEvent) {
        // A store that fails says so itself.
        let _ = self.append(event, false, |_| {});
    }

    fn append(
        &self,
        event: &SeatEvent,
        awaited: bool,
        then: impl FnOnce(Result<(), String>) + Send + 'static,
    ) -> Result<(), String> {
        let at = self.clock.now();
        let line = event_codec::encode(at, event).map_err(|error| error.to_string())?;
        self.store.append(Batch {
            at,
            stream: stream(),
            lines: vec![line],
            durability: if awaited {
                Durability::Fsynced
            } else {
                Durability::Written
            },
            awaited,
            then: Box::new(move |outcome| then(outcome.map_err(|error| error.to_string()))),
        });
        Ok(())
    }
}

fn stream() -> Stream {
    Stream("seats".into())
}
