//! Where a league is reached, and what it is opened from. Values only.

use crate::dashboard::Source;
use crate::relay::{Inherited, RelayLimits};
use anyhow::Result;
use matchday_core::entropy::Entropy;
use matchday_core::league::CarriedOver;
use matchday_core::protocol::Endpoint;
use matchday_runtime::{NoEntropy, Options, entropy_from_system, entropy_numbered};
use matchday_store::checkpoint_keys::CheckpointKeys;
use matchday_store::{Store, Stream};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Where a league is reached, and what its agents are made with.
#[derive(Debug)]
pub struct LeagueNet {
    /// Of the socket that its requests come to.
    pub address: SocketAddr,
    /// That socket, if it is the league's own.
    pub listener: Option<TcpListener>,
    /// Where others reach the manager: `https://leagues.example/leagues/spring/mcp`.
    pub endpoint: Endpoint,
    /// What every agent begins with.
    pub options: Options,
    /// What the relay may grow to, if agents can dial out.
    pub relay_limits: Option<RelayLimits>,
    /// What the addresses of agents that dial out begin with, if not as those of its other agents: with that of the season, so that
    /// they stay the same in its next league.
    pub relay_home: Option<String>,
    /// How many pages of its dashboard are kept up to date at once.
    pub viewers_max: usize,
    /// How many matches a built-in referee runs at once.
    pub matches_max: u32,
    /// Whether every player is of this process, so that a solver may speak of matches that are being played.
    pub players_are_own: bool,
    /// So that a local league is played the same way again.
    pub seed: Option<u64>,
}

impl LeagueNet {
    /// What the addresses of its other agents begin with: `https://leagues.example/leagues/spring`.
    pub(super) fn home(&self) -> &str {
        let endpoint = self.endpoint.raw();
        endpoint
            .strip_suffix("/mcp")
            .unwrap_or(endpoint)
            .trim_end_matches('/')
    }
}

/// The entropy of an agent, by its name if there is a seed.
pub(super) fn entropy(seed: Option<u64>, agent: &str) -> Result<Entropy, NoEntropy> {
    match seed {
        Some(seed) => Ok(entropy_numbered(seed, agent)),
        None => entropy_from_system(),
    }
}

/// The stores of a league, and what was before it is opened.
#[derive(Debug)]
pub struct LeagueStore {
    pub events: Store,
    pub stream: Stream,
    /// The players in seats keep their tokens and keys in clear, which the league's own log must not hold.
    pub seats: Option<Store>,
    pub checkpoint_keys: CheckpointKeys,
    /// Where readers see the league, if it has a dashboard.
    pub source: Option<Arc<Source>>,
    pub history: History,
    /// Of its season.
    pub carried_over: Vec<CarriedOver>,
    pub mailboxes: Inherited,
}

/// What happened to a league before it is opened.
#[derive(Debug, Clone, Copy)]
pub struct History {
    /// Whether something may be owed to others, so that a league that is over is woken too.
    pub had_work: bool,
    /// Whether this process opens it for the first time.
    pub is_new: bool,
}

impl LeagueStore {
    /// Of a league that has its process to itself. `keys` is where its checkpoint keys are kept: the same store, which has a
    /// file for them beside it, or its private streams.
    pub fn alone(
        events: Store,
        keys: &Store,
        stream: Stream,
        source: Option<Arc<Source>>,
    ) -> Result<Self> {
        Ok(Self {
            checkpoint_keys: CheckpointKeys::of(keys, &mut entropy_from_system()?)?,
            events,
            stream,
            seats: None,
            source,
            history: History {
                had_work: true,
                is_new: true,
            },
            carried_over: Vec::new(),
            mailboxes: Inherited::default(),
        })
    }
}
