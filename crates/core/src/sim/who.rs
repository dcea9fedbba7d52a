//! Who is who in the world, and where each one listens.

use crate::protocol::Endpoint;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    Manager,
    /// Counted from 1, as are players. The number is the world's own: the manager may number them otherwise.
    Referee(u8),
    Player(u8),
    /// Someone who is no agent of the league: the launcher, a spectator, a forger.
    Outsider,
}

impl Who {
    /// Where it listens; an outsider does not.
    pub fn endpoint(self) -> Option<Endpoint> {
        (self != Self::Outsider)
            .then(|| Endpoint::parse(&format!("http://{self}.sim/mcp")).ok())
            .flatten()
    }

    /// Who listens there.
    pub fn at(endpoint: &Endpoint) -> Option<Self> {
        let name = endpoint.as_str().strip_prefix("http://")?.strip_suffix(".sim/mcp")?;
        let numbered = |prefix| name.strip_prefix(prefix)?.parse().ok();
        match name {
            "manager" => Some(Self::Manager),
            _ => numbered("referee-")
                .map(Self::Referee)
                .or_else(|| numbered("player-").map(Self::Player)),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manager => f.write_str("manager"),
            Self::Referee(number) => write!(f, "referee-{number}"),
            Self::Player(number) => write!(f, "player-{number}"),
            Self::Outsider => f.write_str("outsider"),
        }
    }
}
