//! The configuration of each agent of a local league. Pure.

use super::{LeaguePlan, PlayerPlan};
use anyhow::Result;
use matchday_core::protocol::messages::Timeouts;
use matchday_core::protocol::{DisplayName, Endpoint, Version};
use matchday_core::{player, referee};
use std::net::SocketAddr;
use tokio::net::TcpListener;

pub(super) struct AgentSettings<'a> {
    plan: &'a LeaguePlan,
    manager: Endpoint,
    version: Version,
}

impl<'a> AgentSettings<'a> {
    pub(super) fn at(plan: &'a LeaguePlan, manager: SocketAddr) -> Result<Self> {
        let version = Version::parse(env!("CARGO_PKG_VERSION"))?;
        Ok(Self {
            plan,
            manager: endpoint(manager)?,
            version,
        })
    }

    pub(super) fn referee(
        &self,
        number: u32,
        listener: &TcpListener,
    ) -> Result<referee::RefereeSettings> {
        Ok(referee::RefereeSettings {
            manager: self.manager.clone(),
            contact_endpoint: endpoint(listener.local_addr()?)?,
            display_name: DisplayName::parse(&format!("Referee {number}"))?,
            version: self.version.clone(),
            game_types: vec![self.plan.league.game_type.clone()],
            max_concurrent_matches: self.plan.matches_each(),
            timing: self.plan.league.timing,
            bounds: Timeouts::default(),
            conformance: self.plan.league.conformance,
        })
    }

    pub(super) fn player(
        &self,
        player_plan: &PlayerPlan,
        listener: &TcpListener,
    ) -> Result<player::PlayerSettings> {
        Ok(player::PlayerSettings {
            manager: self.manager.clone(),
            contact_endpoint: match &player_plan.reached_at {
                Some(elsewhere) => elsewhere.clone(),
                None => endpoint(listener.local_addr()?)?,
            },
            display_name: DisplayName::parse(&player_plan.name)?,
            version: self.version.clone(),
            game_types: vec![self.plan.league.game_type.clone()],
            strategy: player_plan.strategy.announced(),
        })
    }
}

pub fn endpoint(address: SocketAddr) -> Result<Endpoint> {
    Ok(Endpoint::parse(&format!("http://{address}/mcp"))?)
}
