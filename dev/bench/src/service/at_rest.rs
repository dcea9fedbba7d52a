//! Very many leagues in one store, some of them loaded, and nothing happens: memory, CPU time, and the start.

use super::ServicePlan;
use super::figures::AtRest;
use super::process::{BenchLeague, ServiceProcess, names, settings};
use crate::benchmark::Tell;
use crate::usage::Usage;
use anyhow::{Context, Result};
use matchday_net::client::Client;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Nothing is left to do so long after the last request.
const SETTLE: Duration = Duration::from_secs(2);
/// Longer than the measurement.
const AWAKE: &[&str] = &["--sleep-after", "3600"];

pub(crate) async fn measure(plan: &ServicePlan, folder: &Path, tell: Tell<'_>) -> Result<AtRest> {
    let count = plan.leagues;
    let active = plan.active.min(plan.leagues);
    tell(&format!("{count} leagues: created"));
    let service = ServiceProcess::start(folder, "127.0.0.1:0", &["--sleep-after", "1"]).await?;
    let began = Instant::now();
    let leagues = service
        .create(&names("league", count), settings(&[("lead", "0")]))
        .await?;
    let create_s = began.elapsed().as_secs_f64();
    tell(&format!(
        "{count} leagues: each loaded once, so that it has a log"
    ));
    service.load(&leagues).await?;
    let address = service.address().to_owned();
    service.stop().await?;

    tell(&format!("{count} leagues: start"));
    let began = Instant::now();
    let first = leagues.first().context("there is a league")?;
    let service = ServiceProcess::start(folder, &address, AWAKE).await?;
    first.ask_standings(&Client::new()).await?;
    let restart_ms = began.elapsed().as_secs_f64() * 1000.0;

    tell(&format!(
        "{count} leagues: {active} of them loaded, with {} players each",
        plan.players
    ));
    let loaded: Vec<BenchLeague> = leagues.iter().take(active).cloned().collect();
    let players = service.register(&loaded, plan.players).await?;
    sleep(SETTLE).await;
    tell(&format!(
        "{count} leagues: at rest for {} s",
        plan.rest.as_secs()
    ));
    let pids = [service.pid()?];
    let before = Usage::of(&pids);
    let began = Instant::now();
    sleep(plan.rest).await;
    let after = Usage::of(&pids);
    let took = began.elapsed();
    for players in players {
        players.close().await;
    }
    service.stop().await?;
    let cpu = before
        .zip(after)
        .map(|(before, after)| after.cpu.saturating_sub(before.cpu));
    Ok(AtRest {
        leagues: count,
        active,
        create_s,
        restart_ms,
        memory_bytes: after.map(|after| after.rss_bytes),
        idle_cpu_percent: cpu.map(|cpu| cpu.as_secs_f64() / took.as_secs_f64() * 100.0),
    })
}
