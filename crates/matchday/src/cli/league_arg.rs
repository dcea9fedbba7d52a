//! The flag that names one of the leagues of a store.

use clap::Args;
use matchday_core::protocol::LeagueId;

/// Which of a store's leagues is meant.
#[derive(Debug, Args)]
pub(super) struct LeagueArg {
    /// Of a store that holds several leagues: which one [default: the latest]
    #[arg(long, value_name = "ID")]
    league: Option<String>,
}

impl LeagueArg {
    pub(super) fn id(&self) -> Option<LeagueId> {
        self.league.as_deref().map(LeagueId::new)
    }
}
