//! Watches the standings for the clients that have subscribed. One task polls for all of them, and only while there are some.

use matchday_core::agent::{Ask, Content};
use matchday_core::protocol::Query;
use matchday_core::protocol::messages::{Shared, StandingRow};
use matchday_core::protocol::{Body, Message};
use matchday_runtime::Intake;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

type Table = Shared<StandingRow>;

#[derive(Debug)]
pub(super) struct StandingsWatch {
    intake: Arc<Intake>,
    /// Counts the changes of the table.
    tables: watch::Sender<u64>,
    is_watched: Mutex<bool>,
}

impl StandingsWatch {
    pub(super) fn new(intake: Arc<Intake>) -> Self {
        Self {
            intake,
            tables: watch::Sender::new(0),
            is_watched: Mutex::new(false),
        }
    }

    /// A receiver that changes whenever the table does. `None` if the table is not public.
    pub(super) async fn subscribe(self: &Arc<Self>) -> Option<watch::Receiver<u64>> {
        let changes = self.intake.changes();
        let table = self.table().await?;
        let subscription = self.tables.subscribe();
        let mut is_watched = self
            .is_watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
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
                // The sender lives as long as the intake does.
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
        match self.intake.look(Ask::Query(Query::Standings.into())).await {
            Ok(Content::Message(Message {
                body: Body::LeagueQueryResponse(response),
                ..
            })) => response.standings.clone(),
            _ => None,
        }
    }
}
