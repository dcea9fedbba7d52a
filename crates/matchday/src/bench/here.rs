//! A league in this very process, for what cannot be seen from outside.

use super::size::Size;
use crate::local::ports::Ports;
use crate::local::{LocalLeague, Plan, Seat};
use crate::mind::chooser::Chooser;
use crate::store::Store;
use anyhow::Result;
use matchday_core::game;
use matchday_core::league;
use matchday_core::player::strategy::{self, StrategyEntry};
use matchday_core::protocol::GameType;
use std::path::Path;
use std::time::Duration;

/// Everyone has registered; the league is kept in `folder`, like any other.
pub(super) async fn gather(size: Size, folder: &Path) -> Result<LocalLeague> {
    let Ports { manager, others } = Ports::bind(0, size.referees, size.players).await?;
    let store = Store::open(&folder.join("league.db"))?;
    let mut local = LocalLeague::begin(plan(size), store, manager)?;
    local.gather(others).await?;
    Ok(local)
}

/// Those of the game, one after the other, over and over.
pub(super) fn strategies() -> impl Iterator<Item = &'static StrategyEntry> {
    let game = game::find(&GameType::new("even_odd"));
    game.into_iter().flat_map(strategy::of).collect::<Vec<_>>().into_iter().cycle()
}

fn plan(size: Size) -> Plan {
    let choosers = (1..=size.players).zip(strategies());
    let seat = |(number, entry)| Seat {
        name: format!("Player {number}"),
        chooser: Chooser::BuiltIn(entry),
        reached_at: None,
    };
    Plan {
        league: league::Settings { announce_lead: Duration::ZERO, ..league::Settings::default() },
        seats: choosers.map(seat).collect(),
        referees: size.referees.into(),
        seed: None,
        record_exchanges: true,
        dashboard: false,
        rules: None,
    }
}
