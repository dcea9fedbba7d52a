//! The flags of the commands that talk to a manager.

use super::settings;
use super::tls::TlsArgs;
use crate::manager_client::{ManagerClient, manager_url};
use anyhow::Result;
use matchday_core::protocol::LeagueId;

/// Which manager a command talks to.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ManagerArg {
    #[arg(long, value_name = "URL", env = settings::MANAGER.variable(), default_value = settings::MANAGER.default(),
        global = true, help = settings::MANAGER.help())]
    pub(super) manager: String,
    /// Which league [default: the one that the manager names]
    #[arg(long, value_name = "ID", global = true)]
    league_id: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
}

impl ManagerArg {
    pub(super) fn client(&self) -> Result<ManagerClient> {
        let league_id = self.league_id.as_deref().map(LeagueId::new);
        Ok(
            ManagerClient::at(&manager_url(&self.manager), self.tls.client()?)
                .with_league(league_id),
        )
    }
}
