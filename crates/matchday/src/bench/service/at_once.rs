//! Many leagues played at once, beside one league of the same size, and beside one that has as many matches as all of them.

use super::super::Tell;
use super::super::quantiles::median;
use super::ServicePlan;
use super::figures::AtOnce;
use super::played::{PlayedLeague, matches_per_s};
use super::process::{BenchLeague, ServiceProcess, names, settings};
use anyhow::{Context, Result};
use std::path::Path;

pub(super) async fn measure(plan: &ServicePlan, folder: &Path, tell: Tell<'_>) -> Result<AtOnce> {
    let mut service = ServiceProcess::start(folder, "127.0.0.1:0", &[]).await?;
    let one_size = settings(&[("lead", "0")]);
    // The first is not counted.
    let alone = service.create(&names("alone", plan.runs + 1), one_size.clone()).await?;
    for (number, league) in alone.iter().enumerate() {
        tell(&format!("one league of {} players, {number} of {}", plan.players, plan.runs));
        play(&mut service, std::slice::from_ref(league), plan.players).await?;
    }
    tell(&format!("{} leagues of {} players at once", plan.at_once, plan.players));
    let at_once = service.create(&names("at-once", plan.at_once), one_size).await?;
    play(&mut service, &at_once, plan.players).await?;
    let large_players = players_with_matches(plan.at_once * matches_of(plan.players));
    tell(&format!("one league of {large_players} players, with as many matches as these"));
    let large = service.create(&names("large", 1), settings(&[("lead", "0"), ("referees", "9")])).await?;
    play(&mut service, &large, large_players).await?;
    let store = service.stop().await?;

    let read = |leagues: &[BenchLeague]| {
        leagues.iter().map(|league| PlayedLeague::read(&store, league)).collect::<Result<Vec<_>>>()
    };
    let (alone, at_once, large) = (read(alone.get(1..).unwrap_or_default())?, read(&at_once)?, read(&large)?);
    let all = alone.iter().chain(&at_once).chain(&large);
    Ok(AtOnce {
        leagues: plan.at_once,
        players: plan.players,
        matches_per_s: matches_per_s(&at_once).context("leagues were played")?,
        one_matches_per_s: median(
            alone.iter().filter_map(|league| matches_per_s(std::slice::from_ref(league))),
        )
        .context("a league was played alone")?,
        large_players,
        large_matches_per_s: matches_per_s(&large).context("a large league was played")?,
        technical_losses: all.map(|league| league.technical_losses).sum(),
    })
}

async fn play(service: &mut ServiceProcess, leagues: &[BenchLeague], players: u16) -> Result<()> {
    let registered = service.register(leagues, players).await?;
    service.play(leagues).await?;
    for players in registered {
        players.close().await;
    }
    Ok(())
}

/// Of a round robin.
fn matches_of(players: u16) -> usize {
    usize::from(players) * usize::from(players.saturating_sub(1)) / 2
}

/// The round robin with nearly so many matches, within the sizes that a league may have.
fn players_with_matches(matches: usize) -> u16 {
    (2..=99).find(|players| matches_of(*players) >= matches).unwrap_or(99)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_league_has_about_as_many_matches_as_all_the_small_ones() {
        assert_eq!(matches_of(8), 28);
        assert_eq!(players_with_matches(100 * 28), 76);
        assert_eq!(players_with_matches(1_000_000), 99);
    }
}
