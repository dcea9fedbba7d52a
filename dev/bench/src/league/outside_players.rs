//! A league with outside players: manager and referees in processes of their own, light players in this one. Also measures
//! a `matchday player` at rest.

use super::figures::Memory;
use super::one_process::PlayedLeague;
use crate::processes::{LeagueProcesses, Reached};
use crate::run_statistics::RunStatistics;
use crate::size::Size;
use crate::usage::{Usage, UsageSeries};
use anyhow::Result;
use matchday_net::client::Client;
use matchday_os::process::pss_bytes;
use std::path::Path;
use std::time::Duration;

/// Enough for their shared code to count little.
const PLAYERS_AT_REST: u8 = 10;

pub(crate) async fn play(size: Size, folder: &Path, reached: Reached) -> Result<PlayedLeague> {
    let (mut processes, players) = LeagueProcesses::gather(size, folder, reached).await?;
    let pids = processes.pids()?;
    let client = Client::new();
    let before = Usage::of(&pids);
    let own_before = Usage::of_this_process();
    processes.begin_league(&client).await?;
    processes.until_completed(&client).await?;
    let after = Usage::of(&pids);
    let own_after = Usage::of_this_process();
    players.close().await;
    let stores = processes.stop().await?;
    let statistics = RunStatistics::read(&stores)?;
    let usage = UsageSeries(before.into_iter().chain(after).collect());
    let cpu = |before: Option<Usage>, after: Option<Usage>| -> Option<Duration> {
        Some(after?.cpu.saturating_sub(before?.cpu))
    };
    Ok(PlayedLeague {
        // What the light players take is part of every exchange.
        cpu: cpu(before, after)
            .zip(cpu(own_before, own_after))
            .map(|(others, own)| others + own),
        memory: memory(&usage),
        to_first_match: None,
        statistics,
    })
}

/// How much memory a `matchday player` takes that has registered and waits, of several that share their code as on one machine.
pub(crate) async fn player_at_rest(folder: &Path) -> Result<Option<u64>> {
    let mut processes = LeagueProcesses::manager(folder, &[]).await?;
    processes.join_players(PLAYERS_AT_REST).await?;
    let bytes: Option<u64> = processes.pids()?.into_iter().skip(1).map(pss_bytes).sum();
    processes.stop().await?;
    Ok(bytes.map(|bytes| bytes / u64::from(PLAYERS_AT_REST)))
}

/// Only at both ends: sampling a hundred processes would distort the measurement.
fn memory(usage: &UsageSeries) -> Option<Memory> {
    let first = usage.0.first()?;
    let last = usage.0.get(1)?;
    Some(Memory {
        start_bytes: first.rss_bytes,
        quarters_bytes: vec![last.rss_bytes],
        most_bytes: first.rss_bytes.max(last.rss_bytes),
    })
}
