//! Who takes part in a local league: the settings of each agent. Pure.

use super::Plan;
use anyhow::Result;
use matchday_core::protocol::{DisplayName, Endpoint, Version};
use matchday_core::timing::Timing;
use matchday_core::{league, player, referee};
use smol_str::SmolStr;
use std::net::SocketAddr;
use tokio::net::TcpListener;

pub(super) struct Cast<'a> {
    plan: &'a Plan,
    manager: Endpoint,
    version: Version,
}

impl<'a> Cast<'a> {
    pub(super) fn at(plan: &'a Plan, manager: SocketAddr) -> Result<Self> {
        let version = Version::parse(env!("CARGO_PKG_VERSION"))?;
        Ok(Self { plan, manager: endpoint(manager)?, version })
    }

    pub(super) fn league(plan: &Plan) -> league::Settings {
        league::Settings {
            league_id: plan.league_id.clone(),
            game_type: plan.game_type.clone(),
            announce_lead: plan.lead,
            ..league::Settings::default()
        }
    }

    pub(super) fn referee(&self, number: u32, listener: &TcpListener) -> Result<referee::Settings> {
        Ok(referee::Settings {
            manager: self.manager.clone(),
            contact_endpoint: endpoint(listener.local_addr()?)?,
            display_name: DisplayName::parse(&format!("Referee {number}"))?,
            version: self.version.clone(),
            game_types: vec![self.plan.game_type.clone()],
            max_concurrent_matches: self.plan.matches_each(),
            timing: Timing::default(),
            conformance: Default::default(),
        })
    }

    pub(super) fn player(
        &self,
        number: u32,
        listener: &TcpListener,
        strategy: SmolStr,
    ) -> Result<player::Settings> {
        Ok(player::Settings {
            manager: self.manager.clone(),
            contact_endpoint: endpoint(listener.local_addr()?)?,
            display_name: DisplayName::parse(&format!("Player {number}"))?,
            version: self.version.clone(),
            game_types: vec![self.plan.game_type.clone()],
            strategy,
        })
    }
}

fn endpoint(address: SocketAddr) -> Result<Endpoint> {
    Ok(Endpoint::parse(&format!("http://{address}/mcp"))?)
}
