//! The event log of the relay: which mailboxes there are, so that agents can reconnect after a restart. Writes to its own stream.

use matchday_core::event_codec;
use matchday_core::protocol::token::TokenHash;
use matchday_runtime::{Clock, StartError};
use matchday_store::{Batch, Durability, Store, Stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;
use tokio::sync::oneshot;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum RelayEvent {
    MailboxOpened {
        mailbox: String,
        /// The hash of its relay token.
        token: TokenHash,
        /// The address that it was opened from.
        from: IpAddr,
    },
    MailboxRemoved {
        mailbox: String,
    },
}

/// A mailbox as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MailboxRecord {
    pub(super) token: TokenHash,
    pub(super) from: IpAddr,
}

#[derive(Debug)]
pub(super) struct RelayLog {
    store: Store,
    clock: Clock,
}

impl RelayLog {
    /// The log, and the mailboxes that there are.
    pub(super) fn read(
        store: Store,
        clock: Clock,
    ) -> Result<(Self, BTreeMap<String, MailboxRecord>), StartError> {
        let name = || stream().0.to_string();
        let events = store
            .load(&stream())
            .map_err(|error| StartError::Unreadable {
                stream: name(),
                error,
            })?;
        let mut open = BTreeMap::new();
        for (before, stored) in events.iter().enumerate() {
            let (_, event) = event_codec::decode::<RelayEvent>(&stored.line).map_err(|error| {
                StartError::Foreign {
                    stream: name(),
                    number: before + 1,
                    error,
                }
            })?;
            match event {
                RelayEvent::MailboxOpened {
                    mailbox,
                    token,
                    from,
                } => {
                    open.insert(mailbox, MailboxRecord { token, from });
                }
                RelayEvent::MailboxRemoved { mailbox } => {
                    open.remove(&mailbox);
                }
            }
        }
        Ok((Self { store, clock }, open))
    }

    /// Writes that a mailbox of another relay is one of this relay's from now on. It is stored before anything that is appended later.
    pub(super) fn inherit(&self, mailbox: &str, record: &MailboxRecord) -> Result<(), StartError> {
        let at = self.clock.now();
        let event = RelayEvent::MailboxOpened {
            mailbox: mailbox.to_owned(),
            token: record.token,
            from: record.from,
        };
        let line = event_codec::encode(at, &event).map_err(|error| StartError::Foreign {
            stream: stream().0.to_string(),
            number: 1,
            error,
        })?;
        self.store.append(Batch {
            at,
            stream: stream(),
            lines: vec![line],
            durability: Durability::Fsynced,
            awaited: false,
            then: Box::new(|_| {}),
        });
        Ok(())
    }

    /// Returns when the event is durable.
    pub(super) async fn write(&self, event: &RelayEvent) -> Result<(), String> {
        let at = self.clock.now();
        let line = event_codec::encode(at, event).map_err(|error| error.to_string())?;
        let (notify, durable) = oneshot::channel();
        self.store.append(Batch {
            at,
            stream: stream(),
            lines: vec![line],
            durability: Durability::Fsynced,
            awaited: true,
            then: Box::new(move |outcome| {
                let _ = notify.send(outcome.map_err(|error| error.to_string()));
            }),
        });
        durable
            .await
            .unwrap_or_else(|_| Err("the store has been closed".to_owned()))
    }
}

fn stream() -> Stream {
    Stream("relay".into())
}
