//! What all leagues of a service share: its address, its clock, and what their agents are made with. Values only.

use crate::relay::{Relay, RelayLimits, RelaySettings};
use anyhow::Result;
use matchday_core::league::LeagueSettings;
use matchday_core::protocol::{LeagueId, Timestamp};
use matchday_net::client::Client;
use matchday_runtime::{Clock, Options};
use matchday_store::Store;
use matchday_store::checkpoint_keys::CheckpointKeys;
use matchday_store::ownership::Ownership;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use tracing::Dispatch;

/// What all leagues of a service share.
pub struct LeagueHost {
    /// Of the service's socket.
    pub address: SocketAddr,
    /// Where others reach the service: `https://leagues.example`.
    pub public_url: String,
    /// Where the service reaches itself.
    pub local_url: String,
    /// Whose clock all leagues go by, if the store is shared.
    pub shared: Option<Arc<dyn Ownership>>,
    /// What every agent begins with.
    pub options: Options,
    /// Makes the clients of one league: their connections and egress policies are its own.
    pub league_clients: Box<dyn Fn() -> Result<LeagueClients> + Send + Sync>,
    /// Makes the log of one league, whose entries name it.
    pub league_log: Box<dyn Fn(&LeagueId) -> Dispatch + Send + Sync>,
    /// For seats, which call the service itself.
    pub own_client: Client,
    pub checkpoint_keys: CheckpointKeys,
    /// How many matches a referee of the house runs at once.
    pub matches_max: u32,
    /// How many requests a league takes in a second.
    pub requests_per_s: u32,
    /// What the relays of all leagues may grow to, if agents can dial out.
    pub relay_limits: Option<RelayLimits>,
}

/// What the agents of one league call with. Referees of the house, and they alone, may call the service itself.
#[derive(Debug)]
pub struct LeagueClients {
    pub manager: Client,
    pub house: Client,
}

impl fmt::Debug for LeagueHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeagueHost").field("public_url", &self.public_url).finish_non_exhaustive()
    }
}

impl LeagueHost {
    /// The base of a league's addresses: `https://leagues.example/leagues/spring`.
    pub fn league_url(&self, id: &LeagueId) -> String {
        format!("{}/leagues/{id}", self.public_url)
    }

    /// The time of leagues: that of a shared store, carried on by the monotonic clock, or that of this machine.
    pub fn clock(&self) -> Clock {
        self.shared.as_ref().map_or(self.options.clock, |shared| Clock::starting_at(shared.now()))
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock().now()
    }

    /// The relay of a league, if there is one: mailboxes are at `home`.
    pub(super) fn relay(
        &self,
        league: &LeagueSettings,
        home: &str,
        store: &Store,
        clock: Clock,
    ) -> Result<Option<Arc<Relay>>> {
        let Some(limits) = self.relay_limits.clone() else { return Ok(None) };
        let message_bytes_max = league.message_bytes_max;
        let settings = RelaySettings { base_url: home.to_owned(), limits, message_bytes_max };
        Ok(Some(Relay::open(settings, store.clone(), &Options { clock, ..self.options.clone() })?))
    }

    pub(super) fn local_league_url(&self, id: &LeagueId) -> String {
        format!("{}/leagues/{id}", self.local_url)
    }
}
