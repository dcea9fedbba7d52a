//! Seats that dial out: each is called through a mailbox of its own at the relay of the league, and listens nowhere.

use crate::connect::{self, DialledAgent, RelayError, SavedMailbox, Status};
use anyhow::Result;
use matchday_core::protocol::Token;
use matchday_net::client::Client;
use std::path::PathBuf;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How seats dial out.
#[derive(Debug)]
pub struct SeatDial {
    /// Calls the league, through proxies if need be.
    pub client: Client,
    pub league: String,
    /// The store of the seats: the mailbox of seat 3 is kept in `STORE.seat-3.mailbox.json`. `None`: they are not kept.
    pub store: Option<PathBuf>,
    /// Hears what the person who runs the seats should know.
    pub notice: fn(&str),
    /// Becomes the reason why a mailbox cannot be used any more.
    pub failed: watch::Sender<Option<RelayError>>,
}

/// A mailbox whose calls go to one seat.
pub(super) struct DialledMailbox {
    pub(super) contact: String,
    pub(super) agent: DialledAgent,
    /// The connection to the relay; it ends when this is dropped.
    pub(super) tasks: JoinSet<()>,
}

impl SeatDial {
    /// The mailbox of a seat: that of the last run, or a new one.
    pub(super) async fn mailbox(
        &self,
        number: u32,
        code: Option<&Token>,
    ) -> Result<DialledMailbox> {
        let file = self.file(number);
        let saved = SavedMailbox::read_or_open(
            &self.client,
            &self.league,
            code,
            file.as_deref(),
            self.notice,
        )
        .await?;
        let (agent, dialling) =
            connect::dial(self.client.clone(), &saved, Status::notices(self.notice))?;
        let failed = self.failed.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let why = dialling.await;
            // The next start opens another.
            if let (RelayError::MailboxGone, Some(file)) = (&why, file) {
                let _ = std::fs::remove_file(file);
            }
            failed.send_replace(Some(why));
        });
        Ok(DialledMailbox {
            contact: saved.contact_endpoint,
            agent,
            tasks,
        })
    }

    /// A seat is closed for good.
    pub(super) fn forget(&self, number: u32) {
        if let Some(file) = self.file(number) {
            let _ = std::fs::remove_file(file);
        }
    }

    fn file(&self, number: u32) -> Option<PathBuf> {
        let store = self.store.as_ref()?;
        Some(PathBuf::from(format!(
            "{}.seat-{number}.mailbox.json",
            store.display()
        )))
    }
}
