//! A league in this process, for measurements that need access to it.

use super::size::Size;
use anyhow::Result;
use matchday_core::game;
use matchday_core::game::strategy;
use matchday_core::game::strategy::StrategyEntry;
use matchday_core::league;
use matchday_core::protocol::GameType;
use matchday_runtime::deciders::player_strategy::PlayerStrategy;
use matchday_runtime::telemetry::Telemetry;
use matchday_server::local::ports::Ports;
use matchday_server::local::{LeaguePlan, LocalLeague, PlayerPlan};
use matchday_store::Store;
use std::path::Path;
use std::time::Duration;

/// Returns when all agents have registered. The store is in `folder`.
pub(super) async fn gather(size: Size, folder: &Path) -> Result<LocalLeague> {
    let Ports { manager, listeners } = Ports::bind(0, size.referees, size.players).await?;
    let store = Store::open(&folder.join("league.db"))?;
    let mut local = LocalLeague::begin(plan(size), store, manager)?;
    local.gather(listeners).await?;
    Ok(local)
}

/// The built-in strategies of the game, repeated.
pub(super) fn strategies() -> impl Iterator<Item = &'static StrategyEntry> {
    let game = game::find(&GameType::new("even_odd"));
    game.into_iter().flat_map(strategy::of).collect::<Vec<_>>().into_iter().cycle()
}

fn plan(size: Size) -> LeaguePlan {
    let strategies = (1..=size.players).zip(strategies());
    let player_plan = |(number, entry)| PlayerPlan {
        name: format!("Player {number}"),
        strategy: PlayerStrategy::BuiltIn(entry),
        reached_at: None,
    };
    LeaguePlan {
        league: league::LeagueSettings { announce_lead: Duration::ZERO, ..league::LeagueSettings::default() },
        player_plans: strategies.map(player_plan).collect(),
        referees: size.referees.into(),
        seed: None,
        record_exchanges: true,
        dashboard: false,
        pace: Duration::ZERO,
        rules: None,
        telemetry: Telemetry::default(),
        dial: false,
    }
}
