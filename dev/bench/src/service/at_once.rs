//! Many leagues played at once, beside one league of the same size, and beside one that has as many matches as all of them.

use super::ServicePlan;
use super::figures::AtOnce;
use super::played::{PlayedLeague, matches_per_s};
use super::process::{BenchLeague, ServiceProcess, names, settings};
use crate::benchmark::Tell;
use crate::quantiles::median;
use anyhow::{Context, Result};
use matchday_store::StoreUrl;
use std::fs;
use std::path::Path;

pub(crate) async fn measure(plan: &ServicePlan, folder: &Path, tell: Tell<'_>) -> Result<AtOnce> {
    let mut service = ServiceProcess::start(folder, "127.0.0.1:0", &[]).await?;
    let one_size = settings(&[("lead", "0")]);
    // The first is not counted.
    let alone = service
        .create(&names("alone", plan.runs + 1), one_size.clone())
        .await?;
    for (number, league) in alone.iter().enumerate() {
        tell(&format!(
            "one league of {} players, {number} of {}",
            plan.players, plan.runs
        ));
        play(&mut service, std::slice::from_ref(league), plan.players).await?;
    }
    tell(&format!(
        "{} leagues of {} players at once",
        plan.at_once, plan.players
    ));
    let at_once = service
        .create(&names("at-once", plan.at_once), one_size)
        .await?;
    play(&mut service, &at_once, plan.players).await?;
    let large_players = players_with_matches(plan.at_once * matches_of(plan.players));
    tell(&format!(
        "one league of {large_players} players, with as many matches as these"
    ));
    let large = service
        .create(
            &names("large", 1),
            settings(&[("lead", "0"), ("referees", "9")]),
        )
        .await?;
    play(&mut service, &large, large_players).await?;
    let store = service.stop().await?;

    let read = |leagues: &[BenchLeague]| {
        leagues
            .iter()
            .map(|league| PlayedLeague::read(&store, league))
            .collect::<Result<Vec<_>>>()
    };
    let alone = read(alone.get(1..).unwrap_or_default())?;
    let at_once = read(&at_once)?;
    let large = read(&large)?;
    let all = alone.iter().chain(&at_once).chain(&large);
    Ok(AtOnce {
        leagues: plan.at_once,
        players: plan.players,
        matches_per_s: matches_per_s(&at_once).context("leagues were played")?,
        one_matches_per_s: median(
            alone
                .iter()
                .filter_map(|league| matches_per_s(std::slice::from_ref(league))),
        )
        .context("a league was played alone")?,
        large_players,
        large_matches_per_s: matches_per_s(&large).context("a large league was played")?,
        technical_losses: all.map(|league| league.technical_losses).sum(),
    })
}

/// Leagues that one service played at once.
#[derive(Debug)]
pub(crate) struct PlayedAtOnce {
    pub(crate) matches_per_s: f64,
    /// Of the commits that somebody waited for.
    pub(crate) commit_p99_ms: Option<f64>,
    pub(crate) technical_losses: usize,
}

/// Plays leagues at once in services that share a store, which is at this location and empty. The players call the first.
pub(crate) async fn play_many(
    folder: &Path,
    store: &StoreUrl,
    services: usize,
    leagues: usize,
    players: u16,
) -> Result<PlayedAtOnce> {
    let mut service = ServiceProcess::start_on(folder, store.clone(), "127.0.0.1:0", &[]).await?;
    let mut others = Vec::new();
    for number in 1..services {
        let folder = folder.join(format!("service-{number}"));
        fs::create_dir(&folder)?;
        let args = ["--public-url", &service.url];
        others.push(ServiceProcess::start_on(&folder, store.clone(), "127.0.0.1:0", &args).await?);
    }
    let made = service
        .create(&names("at-once", leagues), settings(&[("lead", "0")]))
        .await?;
    play(&mut service, &made, players).await?;
    let metrics = service.metrics().await?;
    for other in others {
        other.stop().await?;
    }
    let store = service.stop().await?;
    let played = made
        .iter()
        .map(|league| PlayedLeague::read(&store, league))
        .collect::<Result<Vec<_>>>()?;
    Ok(PlayedAtOnce {
        matches_per_s: matches_per_s(&played).context("leagues were played")?,
        commit_p99_ms: histogram_quantile(&metrics, "matchday_store_commit_duration_seconds", 0.99)
            .map(|seconds| seconds * 1000.0),
        technical_losses: played.iter().map(|league| league.technical_losses).sum(),
    })
}

/// The quantile of a histogram in Prometheus' form, as its function of this name interpolates it.
fn histogram_quantile(page: &str, name: &str, quantile: f64) -> Option<f64> {
    let buckets: Vec<(f64, f64)> = page
        .lines()
        .filter_map(|line| {
            let rest = line.strip_prefix(name)?.strip_prefix("_bucket{")?;
            let (labels, count) = rest.split_once("} ")?;
            let bound = labels.split("le=\"").nth(1)?.split('"').next()?;
            Some((bound.parse().ok()?, count.trim().parse().ok()?))
        })
        .collect();
    let wanted = buckets.last().filter(|(_, all)| *all > 0.0)?.1 * quantile;
    let place = buckets.iter().position(|(_, count)| *count >= wanted)?;
    let (low, before) = place
        .checked_sub(1)
        .and_then(|place| buckets.get(place))
        .copied()
        .unwrap_or_default();
    let (high, count) = *buckets.get(place)?;
    if high.is_finite() {
        Some(low + (high - low) * (wanted - before) / (count - before))
    } else {
        Some(low)
    }
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
    (2..=99)
        .find(|players| matches_of(*players) >= matches)
        .unwrap_or(99)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_lies_within_the_bucket_that_holds_it() {
        let page = "h_bucket{le=\"0.01\"} 90\nh_bucket{le=\"0.02\"} 100\nh_bucket{le=\"+Inf\"} 100\nh_sum 1\n";
        let found = |quantile| histogram_quantile(page, "h", quantile).unwrap();
        assert!((found(0.95) - 0.015).abs() < 1e-9 && (found(0.45) - 0.005).abs() < 1e-9);
        assert_eq!(
            histogram_quantile("h_bucket{le=\"+Inf\"} 0", "h", 0.99),
            None
        );
    }

    #[test]
    fn the_large_league_has_about_as_many_matches_as_all_the_small_ones() {
        assert_eq!(matches_of(8), 28);
        assert_eq!(players_with_matches(100 * 28), 76);
        assert_eq!(players_with_matches(1_000_000), 99);
    }
}
