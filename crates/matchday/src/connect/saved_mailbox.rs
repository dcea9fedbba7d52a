//! The mailbox of the last run, in a file that only its owner can read: an agent that goes on running stays registered.

use super::relay_client::OpenedMailbox;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

#[derive(Clone, Serialize, Deserialize)]
pub struct SavedMailbox {
    /// The league that it is of.
    pub league: String,
    pub mailbox: String,
    pub relay_token: String,
    pub contact_endpoint: String,
}

impl std::fmt::Debug for SavedMailbox {
    /// Without its token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SavedMailbox({})", self.mailbox)
    }
}

impl SavedMailbox {
    pub fn of(league: &str, opened: OpenedMailbox) -> Self {
        let OpenedMailbox { mailbox, relay_token, contact_endpoint, .. } = opened;
        Self { league: league.to_owned(), mailbox, relay_token, contact_endpoint }
    }

    /// The mailbox in the file, if there is one of this league.
    pub fn read(path: &Path, league: &str) -> Option<Self> {
        let saved: Self = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        Some(saved).filter(|saved| saved.league == league)
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let shown = path.display();
        // A file that others could read must not be kept.
        let _ = std::fs::remove_file(path);
        let mut file = matchday_os::file::create_private(path)
            .with_context(|| format!("cannot write {shown}: name another file with --mailbox"))?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        Ok(())
    }
}
