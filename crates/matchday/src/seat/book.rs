//! Which seats there are, and how much those who hold them have been told: a stream of events of its own.

use crate::shell::{Clock, StartError};
use crate::store::{Batch, Store, Stream};
use matchday_core::log;
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
        /// The address that it was opened from. Those that were opened before this was kept have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<IpAddr>,
    },
    /// The results of so many games have been told.
    Told {
        number: u32,
        games: u32,
    },
    Closed {
        number: u32,
    },
}

/// A seat as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) key: String,
    pub(super) told: u32,
    pub(super) from: Option<IpAddr>,
}

#[derive(Debug)]
pub(super) struct Book {
    store: Store,
    clock: Clock,
}

impl Book {
    /// The book, the seats that are open, and the number of the next.
    pub(super) fn read(store: Store, clock: Clock) -> Result<(Self, Vec<Kept>, u32), StartError> {
        let name = || stream().0.to_string();
        let events =
            store.load(&stream()).map_err(|error| StartError::Unreadable { stream: name(), error })?;
        let mut open = BTreeMap::new();
        let mut next = 1;
        for (before, stored) in events.iter().enumerate() {
            let (_, event) = log::read::<SeatEvent>(&stored.line).map_err(|error| StartError::Foreign {
                stream: name(),
                number: before + 1,
                error,
            })?;
            match event {
                SeatEvent::Opened { number, name, key, from } => {
                    next = next.max(number + 1);
                    open.insert(number, Kept { number, name, key, told: 0, from });
                }
                SeatEvent::Told { number, games } => {
                    if let Some(kept) = open.get_mut(&number) {
                        kept.told = games;
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

    /// Comes back when the event is durable.
    pub(super) async fn write(&self, event: &SeatEvent) -> Result<(), String> {
        let line = log::write(self.clock.now(), event).map_err(|error| error.to_string())?;
        let (tell, told) = oneshot::channel();
        self.store.append(Batch {
            stream: stream(),
            lines: vec![line],
            can_wait: false,
            awaited: true,
            then: Box::new(move |outcome| {
                let _ = tell.send(outcome.map_err(|error| error.to_string()));
            }),
        });
        told.await.unwrap_or_else(|_| Err("the store has been closed".to_owned()))
    }
}

fn stream() -> Stream {
    Stream("seats".into())
}
