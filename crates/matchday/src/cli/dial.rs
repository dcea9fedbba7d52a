//! `--dial`: an agent without a listening socket, which is called through the relay of its league.

use super::connect::with_proxies;
use super::notice;
use super::settings::{self, Config};
use anyhow::{Result, anyhow};
use matchday_core::protocol::{Endpoint, Token};
use matchday_net::client::Client;
use matchday_runtime::Options;
use matchday_server::connect::{self, DialledAgent, RelayError, SavedMailbox, Status};
use std::path::PathBuf;
use tokio::sync::watch;

/// How many characters of a mailbox's id tell agents apart that have no port.
const SHORT: usize = 8;

pub(super) struct Dial {
    /// Where the league calls the agent.
    pub(super) contact: Endpoint,
    /// What answers its calls.
    pub(super) agent: DialledAgent,
    /// Takes the place of the port in names of files and agents.
    pub(super) short_name: String,
    pub(super) link: DialLink,
}

/// The connection to the relay, for as long as this is kept.
pub(super) struct DialLink(watch::Receiver<Option<RelayError>>);

impl DialLink {
    /// Fails once the relay cannot be used any more.
    pub(super) fn check(&self) -> Result<()> {
        match &*self.0.borrow() {
            Some(why) => Err(anyhow!("{why}")),
            None => Ok(()),
        }
    }
}

/// Connects to the relay of the manager, if the settings say so.
pub(super) async fn begin(
    config: &Config,
    options: &mut Options,
    manager: &Endpoint,
    code: Option<&Token>,
) -> Result<Option<Dial>> {
    if !config.need(&settings::DIAL)? {
        return Ok(None);
    }
    prepare(options)?;
    let league = manager.raw();
    let file = mailbox_file(config);
    let saved =
        SavedMailbox::read_or_open(&options.client, league, code, file.as_deref(), notice).await?;
    let (agent, dialling) = connect::dial(options.client.clone(), &saved, Status::notices(notice))?;
    let (failed, failure) = watch::channel(None);
    tokio::spawn(async move {
        let why = dialling.await;
        // The next start opens another.
        if let (RelayError::MailboxGone, Some(file)) = (&why, file) {
            let _ = std::fs::remove_file(file);
        }
        failed.send_replace(Some(why));
    });
    let link = DialLink(failure);
    notice(&format!("called through the relay of {league}"));
    let short_name = saved.mailbox.chars().take(SHORT).collect();
    Ok(Some(Dial {
        contact: Endpoint::parse(&saved.contact_endpoint)?,
        agent,
        short_name,
        link,
    }))
}

/// Options of an agent that dials out; its client, which calls through the proxies of the environment.
pub(super) fn prepare(options: &mut Options) -> Result<Client> {
    options.client = with_proxies(&options.client)?;
    // What comes from the relay comes from anyone.
    options.trusts_loopback = false;
    Ok(options.client.clone())
}

/// The file that keeps the mailbox, beside the store.
fn mailbox_file(config: &Config) -> Option<PathBuf> {
    let base = config.get(&settings::STORE).ok()??.file_base()?;
    Some(PathBuf::from(format!("{}.mailbox.json", base.display())))
}
