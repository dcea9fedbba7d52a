//! The mailbox of the last run, in a file that only its owner can read: an agent that goes on running stays registered.

use super::relay_client::{OpenedMailbox, RelayClient};
use anyhow::{Context, Result};
use matchday_core::protocol::{Timestamp, Token};
use matchday_net::client::Client;
use matchday_runtime::{Clock, NoEntropy, entropy_from_system};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// From which difference on a clock is said to be off.
const CLOCK_OFF: Duration = Duration::from_secs(2);

#[derive(Clone, Serialize, Deserialize)]
pub struct SavedMailbox {
    /// The league that it is of.
    pub league: String,
    pub mailbox: String,
    pub relay_token: String,
    pub contact_endpoint: String,
    /// The name of the client that reads it. It is kept, so that a start after a crash is a reconnect, even while the relay
    /// has not noticed yet that the stream before it is dead.
    pub client: String,
}

impl std::fmt::Debug for SavedMailbox {
    /// Without its token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SavedMailbox({})", self.mailbox)
    }
}

impl SavedMailbox {
    /// The mailbox of the last run, or a new one. `warn` is told if one of the clocks is off.
    pub async fn read_or_open(
        client: &Client,
        league: &str,
        code: Option<&Token>,
        file: Option<&Path>,
        warn: fn(&str),
    ) -> Result<Self> {
        if let Some(saved) = file.and_then(|file| Self::read(file, league)) {
            return Ok(saved);
        }
        let opened = RelayClient::open(client, league, code)
            .await
            .context("no address at the relay")?;
        if let Some(warning) = clock_warning(Clock::start().now(), opened.time) {
            warn(&warning);
        }
        let saved = Self::of(league, opened)?;
        file.map_or(Ok(()), |file| saved.write(file))?;
        Ok(saved)
    }

    pub fn of(league: &str, opened: OpenedMailbox) -> Result<Self, NoEntropy> {
        let OpenedMailbox {
            mailbox,
            relay_token,
            contact_endpoint,
            ..
        } = opened;
        let client = hex::encode(entropy_from_system()?.bytes::<8>());
        Ok(Self {
            league: league.to_owned(),
            mailbox,
            relay_token,
            contact_endpoint,
            client,
        })
    }

    pub fn relay_client(&self, client: Client) -> RelayClient {
        let token = Token::new(&*self.relay_token);
        RelayClient::new(
            client,
            &self.league,
            &self.mailbox,
            token,
            self.client.clone(),
        )
    }

    /// The mailbox in the file, if there is one of this league.
    fn read(path: &Path, league: &str) -> Option<Self> {
        let saved: Self = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        Some(saved).filter(|saved| saved.league == league)
    }

    fn write(&self, path: &Path) -> Result<()> {
        let shown = path.display();
        // A file that others could read must not be kept.
        let _ = std::fs::remove_file(path);
        let mut file = matchday_os::file::create_private(path)
            .with_context(|| format!("cannot write {shown}: name another file with --mailbox"))?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        Ok(())
    }
}

fn clock_warning(here: Timestamp, there: Timestamp) -> Option<String> {
    let ahead = here.since(there);
    let behind = there.since(here);
    let (off, how) = if ahead > behind {
        (ahead, "ahead of")
    } else {
        (behind, "behind")
    };
    (off > CLOCK_OFF).then(|| {
        format!(
            "the clock of this machine is {} s {how} the league's: set it, deadlines are read by it",
            off.as_secs()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_off_is_told() {
        let at = Timestamp::from_micros(1_767_225_600_000_000);
        assert_eq!(clock_warning(at, at + Duration::from_secs(2)), None);
        assert!(
            clock_warning(at, at + Duration::from_secs(90))
                .unwrap()
                .contains("90 s behind")
        );
        assert!(
            clock_warning(at + Duration::from_secs(90), at)
                .unwrap()
                .contains("90 s ahead of")
        );
    }
}
