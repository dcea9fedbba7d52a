//! What all leagues of a service share: its address, its clock, and what their agents are made with. Values only.

use anyhow::Result;
use matchday_core::protocol::LeagueId;
use matchday_net::client::Client;
use matchday_runtime::{Clock, Options};
use matchday_store::checkpoint_keys::CheckpointKeys;
use std::fmt;
use std::net::SocketAddr;
use tracing::Dispatch;

/// What all leagues of a service share.
pub(crate) struct LeagueHost {
    /// Of the service's socket.
    pub(crate) address: SocketAddr,
    /// Where others reach the service: `https://leagues.example`.
    pub(crate) public_url: String,
    /// Where the service reaches itself.
    pub(crate) local_url: String,
    pub(crate) clock: Clock,
    /// What every agent begins with.
    pub(crate) options: Options,
    /// Makes the clients of one league: their connections and egress policies are its own.
    pub(crate) league_clients: Box<dyn Fn() -> Result<LeagueClients> + Send + Sync>,
    /// Makes the log of one league, whose entries name it.
    pub(crate) league_log: Box<dyn Fn(&LeagueId) -> Dispatch + Send + Sync>,
    /// For seats, which call the service itself.
    pub(crate) own_client: Client,
    pub(crate) checkpoint_keys: CheckpointKeys,
    /// How many matches a referee of the house runs at once.
    pub(crate) matches_max: u32,
    /// How many requests a league takes in a second.
    pub(crate) requests_per_s: u32,
}

/// What the agents of one league call with. Referees of the house, and they alone, may call the service itself.
#[derive(Debug)]
pub(crate) struct LeagueClients {
    pub(crate) manager: Client,
    pub(crate) house: Client,
}

impl fmt::Debug for LeagueHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeagueHost").field("public_url", &self.public_url).finish_non_exhaustive()
    }
}

impl LeagueHost {
    /// The base of a league's addresses: `https://leagues.example/leagues/spring`.
    pub(crate) fn league_url(&self, id: &LeagueId) -> String {
        format!("{}/leagues/{id}", self.public_url)
    }

    pub(super) fn local_league_url(&self, id: &LeagueId) -> String {
        format!("{}/leagues/{id}", self.local_url)
    }
}
