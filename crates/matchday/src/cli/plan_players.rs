//! The players of a plan of `matchday experiment` in a league. Reads the file.

use super::Usage;
use super::settings::{self, Config, Declared};
use anyhow::Result;
use matchday_net::client::Client;
use matchday_research::experiment::players::{self, LeaguePlayer};
use matchday_research::simulate::entrants::Externals;
use std::time::Duration;
use tokio::runtime::Handle;

/// All of them; `None` without a plan.
pub(super) fn all(config: &Config, client: &Client) -> Result<Option<Vec<LeaguePlayer>>> {
    let Some(path) = config.text(&settings::PLAN) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        config.wrong(&settings::PLAN, format!("{path} cannot be read: {error}"))
    })?;
    let externals = Externals {
        think_time: Duration::ZERO,
        runtime: Handle::current(),
        client: client.clone(),
        replays: false,
    };
    let players = players::for_league(&text, &externals)
        .map_err(|why| config.wrong(&settings::PLAN, format!("{path}: {why}")))?;
    Ok(Some(players))
}

/// The one that the player is called after.
pub(super) fn the_one(config: &Config, client: &Client) -> Result<LeaguePlayer> {
    refuse_beside_plan(
        config,
        &[
            &settings::STRATEGY,
            &settings::FALLBACK,
            &settings::THINK_TIME,
            &settings::OBSERVATION,
            &settings::LLM_URL,
            &settings::LLM_MODEL,
            &settings::LLM_API,
            &settings::LLM_RETRIES,
            &settings::LLM_BUDGET,
            &settings::LLM_PRICES,
        ],
    )?;
    let players = all(config, client)?.unwrap_or_default();
    let names: Vec<String> = players.iter().map(|player| player.name.clone()).collect();
    let wanted = config.text(&settings::NAME);
    let found = players
        .into_iter()
        .find(|player| wanted == Some(player.name.as_str()));
    found.ok_or_else(|| {
        let why = format!("the plan has {}: name one of them", names.join(", "));
        config.wrong(&settings::NAME, why)
    })
}

/// Who plays, and how, stands in the plan alone.
pub(super) fn refuse_beside_plan(config: &Config, others: &[&Declared]) -> Result<()> {
    match others.iter().find(|other| config.is_given(other)) {
        Some(other) => {
            Err(Usage(format!("--{}: the plan says it, with --plan", other.name())).into())
        }
        None => Ok(()),
    }
}
