//! Who takes part in a local league: the settings of each agent. Pure.

use super::{Plan, Seat};
use anyhow::Result;
use matchday_core::protocol::messages::Timeouts;
use matchday_core::protocol::{DisplayName, Endpoint, Version};
use matchday_core::{player, referee};
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

    pub(super) fn referee(&self, number: u32, listener: &TcpListener) -> Result<referee::Settings> {
        Ok(referee::Settings {
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

    pub(super) fn player(&self, seat: &Seat, listener: &TcpListener) -> Result<player::Settings> {
        Ok(player::Settings {
            manager: self.manager.clone(),
            contact_endpoint: match &seat.reached_at {
                Some(elsewhere) => elsewhere.clone(),
                None => endpoint(listener.local_addr()?)?,
            },
            display_name: DisplayName::parse(&seat.name)?,
            version: self.version.clone(),
            game_types: vec![self.plan.league.game_type.clone()],
            strategy: seat.chooser.name(),
        })
    }
}

pub(crate) fn endpoint(address: SocketAddr) -> Result<Endpoint> {
    Ok(Endpoint::parse(&format!("http://{address}/mcp"))?)
}
