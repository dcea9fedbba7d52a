//! What all leagues of a service share: its address, its clock, and what their agents are made with. Values only.

use crate::league::LeagueNet;
use crate::relay::RelayLimits;
use anyhow::Result;
use matchday_core::protocol::{Endpoint, LeagueId, Timestamp};
use matchday_net::client::Client;
use matchday_runtime::{Clock, Options};
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
    /// Whose clock all leagues go by, if the store is shared.
    pub shared: Option<Arc<dyn Ownership>>,
    /// What every agent begins with.
    pub options: Options,
    /// Makes the client of one league: its connections and its egress policy are its own.
    pub league_client: Box<dyn Fn() -> Result<Client> + Send + Sync>,
    /// Makes the log of one league, whose entries name it.
    pub league_log: Box<dyn Fn(&LeagueId) -> Dispatch + Send + Sync>,
    pub checkpoint_keys: CheckpointKeys,
    /// How many pages of a league are kept up to date at once.
    pub viewers_max: usize,
    /// How many matches a built-in referee runs at once.
    pub matches_max: u32,
    /// How many requests a league takes in a second.
    pub requests_per_s: u32,
    /// What the relays of all leagues may grow to, if agents can dial out.
    pub relay_limits: Option<RelayLimits>,
}

impl fmt::Debug for LeagueHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeagueHost")
            .field("public_url", &self.public_url)
            .finish_non_exhaustive()
    }
}

impl LeagueHost {
    /// The base of a league's addresses: `https://leagues.example/leagues/spring`.
    pub fn league_url(&self, id: &LeagueId) -> String {
        format!("{}/leagues/{id}", self.public_url)
    }

    /// The time of leagues: that of a shared store, carried on by the monotonic clock, or that of this machine.
    pub fn clock(&self) -> Clock {
        self.shared.as_ref().map_or(self.options.clock, |shared| {
            Clock::starting_at(shared.now())
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock().now()
    }

    /// What a league of this service is opened with, in this season.
    pub(super) fn net_of(&self, id: &LeagueId, season: Option<&LeagueId>) -> Result<LeagueNet> {
        Ok(LeagueNet {
            address: self.address,
            listener: None,
            endpoint: Endpoint::parse(&format!("{}/mcp", self.league_url(id)))?,
            options: Options {
                client: (self.league_client)()?,
                clock: self.clock(),
                log: (self.league_log)(id),
                telemetry: self.options.telemetry.of_league(id),
                ..self.options.clone()
            },
            relay_limits: self.relay_limits.clone(),
            relay_home: season.map(|season| self.league_url(season)),
            viewers_max: self.viewers_max,
            matches_max: self.matches_max,
            players_are_own: false,
            seed: None,
        })
    }
}
