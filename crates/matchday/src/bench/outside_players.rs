//! A league with outside players: `matchday manager` and `referee` in processes of their own, each with its own store, and light
//! players in this one. Also measures a `matchday player` at rest.

use super::child_process::ChildProcess;
use super::light_players::LightPlayers;
use super::measurements::Memory;
use super::one_process::PlayedLeague;
use super::run_statistics::RunStatistics;
use super::size::Size;
use super::usage::{Usage, UsageSeries};
use crate::manager_client::ManagerClient;
use anyhow::{Context, Result, bail};
use matchday_core::league;
use matchday_net::client::Client;
use matchday_os::process::pss_bytes;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Over a hundred processes take long to start.
const GATHER_MAX: Duration = Duration::from_secs(120);
/// Enough for their shared code to count little.
const PLAYERS_AT_REST: u8 = 10;
const PLAY_MAX: Duration = Duration::from_secs(600);

/// The processes of a league, the manager's first, and their stores.
pub(super) struct LeagueProcesses {
    programs: Vec<ChildProcess>,
    stores: Vec<PathBuf>,
    folder: PathBuf,
}

/// How the manager and the referees reach the players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    Directly,
    /// They dial out to the relay of the manager.
    ByRelay,
}

pub(super) async fn play(size: Size, folder: &Path, reached: Reached) -> Result<PlayedLeague> {
    let relay: &[&str] = if reached == Reached::ByRelay { &["--relay", "on"] } else { &[] };
    let (mut processes, url) = LeagueProcesses::manager(folder, &[&["--lead", "0"], relay].concat()).await?;
    processes.start_referees(size, &url)?;
    processes.wait_for_output("registered as ").await?;
    let players = match reached {
        Reached::Directly => LightPlayers::register(size, &url).await?,
        Reached::ByRelay => LightPlayers::register_dialled(size, &url).await?,
    };
    let pids = processes.programs.iter().map(ChildProcess::pid).collect::<Result<Vec<u32>>>()?;
    let (before, own_before) = (Usage::of(&pids), Usage::of_this_process());
    let client = ManagerClient::at(&url, Client::new());
    client.start(&league::LeagueSettings::default().league_id, None).await?;
    processes.wait_until_completed(&client).await?;
    let (after, own_after) = (Usage::of(&pids), Usage::of_this_process());
    players.close().await;
    let stores = processes.stop().await?;
    let statistics = RunStatistics::read(&stores)?;
    let usage = UsageSeries(before.into_iter().chain(after).collect());
    let cpu = |before: Option<Usage>, after: Option<Usage>| Some(after?.cpu.saturating_sub(before?.cpu));
    Ok(PlayedLeague {
        // What the light players take is part of every exchange.
        cpu: cpu(before, after).zip(cpu(own_before, own_after)).map(|(others, own)| others + own),
        memory: memory(&usage),
        to_first_match: None,
        statistics,
    })
}

/// How much memory a `matchday player` takes that has registered and waits, of several that share their code as on one machine.
pub(super) async fn player_at_rest(folder: &Path) -> Result<Option<u64>> {
    let (mut processes, url) = LeagueProcesses::manager(folder, &[]).await?;
    for number in 1..=PLAYERS_AT_REST {
        processes.start(&format!("player-{number}"), &["player", "--manager", &url])?;
    }
    processes.wait_for_output("registered as ").await?;
    let players = processes.programs.iter().skip(1);
    let pids = players.map(ChildProcess::pid).collect::<Result<Vec<u32>>>()?;
    let bytes: Option<u64> = pids.into_iter().map(pss_bytes).sum();
    processes.stop().await?;
    Ok(bytes.map(|bytes| bytes / u64::from(PLAYERS_AT_REST)))
}

/// Only at both ends: sampling a hundred processes would distort the measurement.
fn memory(usage: &UsageSeries) -> Option<Memory> {
    let (first, last) = (usage.0.first()?, usage.0.get(1)?);
    Some(Memory {
        start_bytes: first.rss_bytes,
        quarters_bytes: vec![last.rss_bytes],
        most_bytes: first.rss_bytes.max(last.rss_bytes),
    })
}

impl LeagueProcesses {
    /// A manager alone, and its endpoint.
    pub(super) async fn manager(folder: &Path, args: &[&str]) -> Result<(Self, String)> {
        let mut processes = Self { programs: Vec::new(), stores: Vec::new(), folder: folder.to_owned() };
        processes.start("manager", &[&["manager"], args].concat())?;
        let url = processes.wait_for_output("listening on ").await?;
        Ok((processes, url))
    }

    pub(super) fn manager_pid(&self) -> Result<u32> {
        self.programs.first().context("there is a manager")?.pid()
    }

    fn start(&mut self, name: &str, args: &[&str]) -> Result<()> {
        let store = self.folder.join(format!("{name}.db"));
        let file = store.to_string_lossy();
        let args = [args, &["--listen", "127.0.0.1:0", "--store", &file]].concat();
        self.programs.push(ChildProcess::start(&self.folder, name, &args)?);
        self.stores.push(store);
        Ok(())
    }

    fn start_referees(&mut self, size: Size, manager: &str) -> Result<()> {
        let matches = (size.at_once() / 2).div_ceil(usize::from(size.referees.max(1))).to_string();
        for number in 1..=size.referees {
            let args = ["referee", "--manager", manager, "--max-matches", &matches];
            self.start(&format!("referee-{number}"), &args)?;
        }
        Ok(())
    }

    /// Waits for these words in the manager's output, if it is alone, or else in that of every other process. Returns
    /// the word that follows in the last.
    async fn wait_for_output(&mut self, words: &str) -> Result<String> {
        let deadline = Instant::now() + GATHER_MAX;
        let mut followed = String::new();
        let others = usize::from(self.programs.len() > 1);
        for program in self.programs.iter_mut().skip(others) {
            loop {
                program.check()?;
                let output = program.output();
                let found = output.split_once(words).map(|(_, rest)| rest);
                // The line may be incomplete.
                if let Some((rest, _)) = found.and_then(|rest| rest.split_once('\n')) {
                    followed = rest.split_whitespace().next().unwrap_or_default().to_owned();
                    break;
                }
                if Instant::now() > deadline {
                    bail!("an agent has not come so far in {} s: {output}", GATHER_MAX.as_secs());
                }
                sleep(POLL_INTERVAL).await;
            }
        }
        Ok(followed)
    }

    async fn wait_until_completed(&mut self, client: &ManagerClient) -> Result<()> {
        let deadline = Instant::now() + PLAY_MAX;
        loop {
            let status = client.status().await.context("the manager has been asked how far the league is")?;
            if status.get("status").and_then(Value::as_str) == Some("completed") {
                return Ok(());
            }
            for program in &mut self.programs {
                program.check()?;
            }
            if Instant::now() > deadline {
                bail!("the league has not ended in {} s: {status}", PLAY_MAX.as_secs());
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    pub(super) async fn stop(self) -> Result<Vec<PathBuf>> {
        for program in &self.programs {
            program.terminate()?;
        }
        for program in self.programs {
            program.stopped().await?;
        }
        Ok(self.stores)
    }
}
