//! `--dial`: an agent without a listening socket, which is called through the relay of its league.

use super::connect::{open, with_proxies};
use super::notice;
use super::settings::{self, Config};
use crate::connect::{AgentEndpoint, Change, Dialled, RelayClient, RelayError, SavedMailbox, Status};
use anyhow::{Result, anyhow};
use matchday_core::protocol::{Endpoint, Token};
use matchday_net::client::Client;
use matchday_net::memory::{self, MemoryListener};
use matchday_runtime::{Options, entropy_from_system};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// How many characters of a mailbox's id tell agents apart that have no port.
const SHORT: usize = 8;

pub(super) struct Dial {
    /// Where the league calls the agent.
    pub(super) contact: Endpoint,
    /// Where its calls come out.
    pub(super) listener: MemoryListener,
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
    options.client = with_proxies(&options.client)?;
    // What comes from the relay comes from anyone.
    options.trusts_loopback = false;
    let league = manager.raw();
    let file = config.text(&settings::STORE).map(|store| PathBuf::from(format!("{store}.mailbox.json")));
    let saved = match file.as_ref().and_then(|file| SavedMailbox::read(file, league)) {
        Some(saved) => saved,
        None => {
            let saved = SavedMailbox::of(league, open(&options.client, league, code).await?);
            if let Some(file) = &file {
                saved.write(file)?;
            }
            saved
        }
    };
    let status = Status::new(|change, _| match change {
        Change::Answered(_) => {}
        change => notice(&change.to_string()),
    });
    let (listener, link) = dial(options.client.clone(), league, &saved, status)?;
    notice(&format!("called through the relay of {league}"));
    let short_name = saved.mailbox.chars().take(SHORT).collect();
    Ok(Some(Dial { contact: Endpoint::parse(&saved.contact_endpoint)?, listener, short_name, link }))
}

fn dial(
    client: Client,
    league: &str,
    saved: &SavedMailbox,
    status: Status,
) -> Result<(MemoryListener, DialLink)> {
    let mut entropy = entropy_from_system()?;
    let name = hex::encode(entropy.bytes::<8>());
    let relay = RelayClient::new(client, league, &saved.mailbox, Token::new(&*saved.relay_token), name);
    let (listener, dialer) = memory::pair();
    let agent = AgentEndpoint::new(Client::with_dialer(Arc::new(dialer)), Some(memory::URL.to_owned()));
    let dialled = Dialled::new(relay, agent, status, false);
    let (failed, failure) = watch::channel(None);
    tokio::spawn(async move {
        let why = dialled.run(entropy).await;
        failed.send_replace(Some(why));
    });
    Ok((listener, DialLink(failure)))
}
