//! Watches the table for those who have subscribed to it. One look serves them all, and nobody looks while nobody
//! listens.

use crate::shell::Reception;
use matchday_core::agent::Content;
use matchday_core::protocol::messages::{Shared, StandingRow};
use matchday_core::protocol::{Body, Message};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

type Table = Shared<StandingRow>;

#[derive(Debug)]
pub(super) struct Board {
    reception: Arc<Reception>,
    /// Counts the tables that have been seen.
    tables: watch::Sender<u64>,
    is_watched: Mutex<bool>,
}

impl Board {
    pub(super) fn new(reception: Arc<Reception>) -> Self {
        Self { reception, tables: watch::Sender::new(0), is_watched: Mutex::new(false) }
    }

    /// What is given back changes whenever the table does. `None` if the table is not open to readers.
    pub(super) async fn subscribe(self: &Arc<Self>) -> Option<watch::Receiver<u64>> {
        let changes = self.reception.changes();
        let table = self.table().await?;
        let subscription = self.tables.subscribe();
        let mut is_watched = self.is_watched.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_watched {
            *is_watched = true;
            tokio::spawn(Arc::clone(self).watch(changes, table));
        }
        Some(subscription)
    }

    async fn watch(self: Arc<Self>, mut changes: watch::Receiver<u64>, mut shown: Table) {
        loop {
            tokio::select! {
                () = self.tables.closed() => {
                    let mut is_watched = self.is_watched.lock().unwrap_or_else(PoisonError::into_inner);
                    if self.tables.is_closed() {
                        *is_watched = false;
                        return;
                    }
                }
                // The sender lives as long as the reception does.
                _ = changes.changed() => {
                    if let Some(table) = self.table().await && table != shown {
                        shown = table;
                        self.tables.send_modify(|seen| *seen += 1);
                    }
                }
            }
        }
    }

    async fn table(&self) -> Option<Table> {
        match self.reception.look("get_standings").await {
            Ok(Content::Message(Message { body: Body::LeagueQueryResponse(response), .. })) => {
                response.standings.clone()
            }
            _ => None,
        }
    }
}
