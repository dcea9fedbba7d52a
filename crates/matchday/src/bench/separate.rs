//! A league of separate processes: `matchday manager`, `referee` and `player`, each with a store of its own.

use super::figures::Memory;
use super::here::strategies;
use super::one_process::Played;
use super::program::Program;
use super::size::Size;
use super::story::Story;
use super::usage::{Course, Usage};
use crate::cli::desk::Desk;
use crate::net::client::Client;
use anyhow::{Context, Result, bail};
use matchday_core::league;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Over a hundred processes take their time to start.
const GATHER_MAX: Duration = Duration::from_secs(120);
const PLAY_MAX: Duration = Duration::from_secs(600);

/// The processes of a league, the manager's first, and where they keep what they know.
struct Fleet {
    programs: Vec<Program>,
    stores: Vec<PathBuf>,
    folder: PathBuf,
}

pub(super) async fn play(size: Size, folder: &Path) -> Result<Played> {
    let mut fleet = Fleet { programs: Vec::new(), stores: Vec::new(), folder: folder.to_owned() };
    fleet.start("manager", &["manager", "--lead", "0"])?;
    let url = fleet.until_said("listening on ").await?;
    fleet.start_others(size, &url)?;
    fleet.until_said("registered as ").await?;
    let pids = fleet.programs.iter().map(Program::pid).collect::<Result<Vec<u32>>>()?;
    let before = Usage::of(&pids);
    let desk = Desk::at(&url, Client::new());
    desk.start(&league::Settings::default().league_id, None).await?;
    fleet.until_over(&desk).await?;
    let after = Usage::of(&pids);
    let stores = fleet.stop().await?;
    let story = Story::read(&stores)?;
    let course = Course(before.into_iter().chain(after).collect());
    Ok(Played {
        cpu: before.zip(after).map(|(before, after)| after.cpu.saturating_sub(before.cpu)),
        memory: memory(&course),
        to_first_match: None,
        story,
    })
}

/// Looking into a hundred processes again and again would cost more than it shows: the ends must do.
fn memory(course: &Course) -> Option<Memory> {
    let (first, last) = (course.0.first()?, course.0.get(1)?);
    Some(Memory {
        start_bytes: first.rss_bytes,
        quarters_bytes: vec![last.rss_bytes],
        most_bytes: first.rss_bytes.max(last.rss_bytes),
    })
}

impl Fleet {
    fn start(&mut self, name: &str, args: &[&str]) -> Result<()> {
        let store = self.folder.join(format!("{name}.db"));
        let file = store.to_string_lossy();
        let args = [args, &["--listen", "127.0.0.1:0", "--store", &file]].concat();
        self.programs.push(Program::start(&self.folder, name, &args)?);
        self.stores.push(store);
        Ok(())
    }

    fn start_others(&mut self, size: Size, manager: &str) -> Result<()> {
        let matches = (size.at_once() / 2).div_ceil(usize::from(size.referees.max(1))).to_string();
        for number in 1..=size.referees {
            let args = ["referee", "--manager", manager, "--max-matches", &matches];
            self.start(&format!("referee-{number}"), &args)?;
        }
        for (number, strategy) in (1..=size.players).zip(strategies()) {
            let args = ["player", "--manager", manager, "--strategy", strategy.name];
            self.start(&format!("player-{number}"), &args)?;
        }
        Ok(())
    }

    /// Waits until the manager, if it is alone, or everyone else has said something. What followed the last time.
    async fn until_said(&mut self, words: &str) -> Result<String> {
        let deadline = Instant::now() + GATHER_MAX;
        let mut followed = String::new();
        let others = usize::from(self.programs.len() > 1);
        for program in self.programs.iter_mut().skip(others) {
            loop {
                program.check()?;
                let said = program.said();
                let told = said.split_once(words).map(|(_, rest)| rest);
                // Half a line may have been written.
                if let Some((rest, _)) = told.and_then(|rest| rest.split_once('\n')) {
                    followed = rest.split_whitespace().next().unwrap_or_default().to_owned();
                    break;
                }
                if Instant::now() > deadline {
                    bail!("an agent has not come so far in {} s: {said}", GATHER_MAX.as_secs());
                }
                sleep(LOOK_EVERY).await;
            }
        }
        Ok(followed)
    }

    async fn until_over(&mut self, desk: &Desk) -> Result<()> {
        let deadline = Instant::now() + PLAY_MAX;
        loop {
            let status = desk.status().await.context("the manager has been asked how far the league is")?;
            if status.get("status").and_then(Value::as_str) == Some("completed") {
                return Ok(());
            }
            for program in &mut self.programs {
                program.check()?;
            }
            if Instant::now() > deadline {
                bail!("the league has not ended in {} s: {status}", PLAY_MAX.as_secs());
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Where everything is that they have stored.
    async fn stop(self) -> Result<Vec<PathBuf>> {
        for program in &self.programs {
            program.ask_to_stop()?;
        }
        for program in self.programs {
            program.stopped().await?;
        }
        Ok(self.stores)
    }
}
