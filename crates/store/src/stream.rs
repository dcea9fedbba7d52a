//! The names of event streams: one for each agent, and one for each league's manager. Values only.

use serde::Serialize;
use smol_str::{SmolStr, format_smolstr};
use std::fmt;

/// One stream of events: `league`, `league/2`, `referee/8001`, `player/8101`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Stream(pub SmolStr);

impl Stream {
    /// The kind of agent that writes it: `league`, `referee`, `player`.
    pub fn role(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The role of every manager's stream.
const ROLE: &str = "league";
/// The role of every stream of secrets.
const PRIVATE: &str = "private";

impl Stream {
    /// The manager's stream in the first league of a store.
    pub fn league() -> Self {
        Self(SmolStr::new_static(ROLE))
    }

    /// The manager's stream in the league with this number, counted from 1.
    pub fn of_league(number: u32) -> Self {
        match number {
            0 | 1 => Self::league(),
            more => Self(format_smolstr!("{ROLE}/{more}")),
        }
    }

    /// The log of a service: which leagues were created, archived and deleted.
    pub fn service() -> Self {
        Self(SmolStr::new_static("service"))
    }

    /// A stream of secrets, which no reader lists: it is not exported, archived, copied by a backup of leagues, or verified.
    pub(super) fn private(&self) -> Self {
        Self(format_smolstr!("{PRIVATE}/{}", self.0))
    }

    /// The name under which its readers know a stream of secrets; `None` for any other.
    pub(super) fn of_private(&self) -> Option<Self> {
        let name = self.0.strip_prefix(PRIVATE)?.strip_prefix('/')?;
        Some(Self(name.into()))
    }

    pub(super) fn is_private(&self) -> bool {
        self.role() == PRIVATE
    }

    /// Whether it is the stream of a league's manager.
    pub fn is_managers(&self) -> bool {
        self.role() == ROLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_leagues_are_told_from_all_others() {
        for (name, is_managers) in [
            ("league", true),
            ("league/2", true),
            ("leagues", false),
            ("referee/8001", false),
            ("player", false),
        ] {
            assert_eq!(Stream(name.into()).is_managers(), is_managers, "{name}");
        }
        assert_eq!(Stream::of_league(1), Stream::league());
    }
}
