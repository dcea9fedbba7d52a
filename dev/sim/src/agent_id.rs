//! The agents and clients of the world by name, and their endpoints.

use core::net::{IpAddr, Ipv4Addr};
use matchday_core::protocol::Endpoint;
use matchday_core::protocol::text::RuleBroken;
use std::fmt;

/// An agent or a client of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AgentId {
    /// The only manager of the world.
    Manager,
    /// Counted from 1, as are players. The number is the world's own: the manager may number them otherwise.
    Referee(u8),
    /// Counted from 1.
    Player(u8),
    /// Someone who is no agent of the league: the launcher, a spectator, a forger.
    Outsider,
}

impl AgentId {
    /// Where it listens. An outsider has an address too, but nobody is there.
    pub fn endpoint(self) -> Endpoint {
        well_formed(Endpoint::parse(&format!("http://{self}.sim/mcp")))
    }

    /// Where its requests come from.
    pub fn address(self) -> IpAddr {
        match self {
            Self::Manager => Ipv4Addr::new(10, 0, 0, 1).into(),
            Self::Referee(number) => Ipv4Addr::new(10, 0, 1, number).into(),
            Self::Player(number) => Ipv4Addr::new(10, 0, 2, number).into(),
            Self::Outsider => Ipv4Addr::new(203, 0, 113, 1).into(),
        }
    }

    /// Who listens there.
    pub fn at(endpoint: &Endpoint) -> Option<Self> {
        let name = endpoint
            .raw()
            .strip_prefix("http://")?
            .strip_suffix(".sim/mcp")?;
        let numbered = |prefix| name.strip_prefix(prefix)?.parse().ok();
        match name {
            "manager" => Some(Self::Manager),
            _ => numbered("referee-")
                .map(Self::Referee)
                .or_else(|| numbered("player-").map(Self::Player)),
        }
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manager => f.write_str("manager"),
            Self::Referee(number) => write!(f, "referee-{number}"),
            Self::Player(number) => write!(f, "player-{number}"),
            Self::Outsider => f.write_str("outsider"),
        }
    }
}

/// Names and addresses that the world makes up keep the rules for them.
#[allow(
    clippy::expect_used,
    reason = "made of literals and small numbers, so every run would show it at once"
)]
pub(super) fn well_formed<T>(parsed: Result<T, RuleBroken>) -> T {
    parsed.expect("what the world makes up is well formed")
}
