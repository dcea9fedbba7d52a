//! A league of processes: `matchday manager`, referees and players, each with its own store.

use crate::light_players::LightPlayers;
use crate::manager;
use crate::program::Program;
use crate::size::Size;
use crate::usage;
use anyhow::{Result, bail};
use matchday_core::league::LeagueSettings;
use matchday_net::client::Client;
use matchday_store::StoreUrl;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Over a hundred processes take long to start.
const GATHER_MAX: Duration = Duration::from_secs(120);
const PLAY_MAX: Duration = Duration::from_secs(600);

/// The manager's comes first, and so does its store.
pub(crate) struct LeagueProcesses {
    programs: Vec<Program>,
    stores: Vec<StoreUrl>,
    folder: PathBuf,
    /// The endpoint of the manager.
    pub(crate) manager: String,
}

/// How the manager and the referees reach the players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    Directly,
    /// They dial out to the relay of the manager.
    ByRelay,
}

impl LeagueProcesses {
    /// A manager alone.
    pub(crate) async fn manager(folder: &Path, args: &[&str]) -> Result<Self> {
        let mut processes = Self {
            programs: Vec::new(),
            stores: Vec::new(),
            folder: folder.to_owned(),
            manager: String::new(),
        };
        processes.start("manager", &[&["manager"], args].concat())?;
        processes.manager = processes.wait_for_output("listening on ").await?;
        Ok(processes)
    }

    /// A manager, its referees, and players in this process, all registered.
    pub(crate) async fn gather(
        size: Size,
        folder: &Path,
        reached: Reached,
    ) -> Result<(Self, LightPlayers)> {
        let relay: &[&str] = if reached == Reached::ByRelay {
            &["--relay", "on"]
        } else {
            &[]
        };
        let mut processes = Self::manager(folder, &[&["--lead", "0"], relay].concat()).await?;
        let matches = (size.at_once() / 2)
            .div_ceil(usize::from(size.referees.max(1)))
            .to_string();
        for number in 1..=size.referees {
            processes.join(
                &format!("referee-{number}"),
                &["referee", "--max-matches", &matches],
            )?;
        }
        processes.wait_for_output("registered as ").await?;
        let players = match reached {
            Reached::Directly => LightPlayers::register(size, &processes.manager).await?,
            Reached::ByRelay => LightPlayers::register_dialled(size, &processes.manager).await?,
        };
        Ok((processes, players))
    }

    /// Players in processes of their own, all registered.
    pub(crate) async fn join_players(&mut self, players: u8) -> Result<()> {
        for number in 1..=players {
            self.join(&format!("player-{number}"), &["player"])?;
        }
        self.wait_for_output("registered as ").await?;
        Ok(())
    }

    /// Of the manager first.
    pub(crate) fn pids(&self) -> Result<Vec<u32>> {
        self.programs.iter().map(Program::pid).collect()
    }

    pub(crate) async fn begin_league(&self, client: &Client) -> Result<()> {
        let league = LeagueSettings::default().league_id;
        manager::start_league(client, &self.manager, &league, None, usage::now()).await
    }

    pub(crate) async fn until_completed(&mut self, client: &Client) -> Result<()> {
        let deadline = Instant::now() + PLAY_MAX;
        while !manager::is_completed(client, &self.manager).await? {
            for program in &mut self.programs {
                program.check()?;
            }
            if Instant::now() > deadline {
                bail!("the league has not ended in {} s", PLAY_MAX.as_secs());
            }
            sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    /// The stores of a league that has ended.
    pub(crate) async fn stop(self) -> Result<Vec<StoreUrl>> {
        for program in &self.programs {
            program.terminate()?;
        }
        for program in self.programs {
            program.stopped().await?;
        }
        Ok(self.stores)
    }

    fn start(&mut self, name: &str, args: &[&str]) -> Result<()> {
        let store = self.folder.join(format!("{name}.db"));
        let file = store.to_string_lossy();
        let args = [args, &["--listen", "127.0.0.1:0", "--store", &file]].concat();
        self.programs
            .push(Program::start(&self.folder, name, &args)?);
        self.stores.push(StoreUrl::Sqlite(store));
        Ok(())
    }

    /// An agent of the league.
    fn join(&mut self, name: &str, args: &[&str]) -> Result<()> {
        let manager = self.manager.clone();
        self.start(name, &[args, &["--manager", &manager]].concat())
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
                    followed = rest
                        .split_whitespace()
                        .next()
                        .unwrap_or_default()
                        .to_owned();
                    break;
                }
                if Instant::now() > deadline {
                    bail!(
                        "an agent has not come so far in {} s: {output}",
                        GATHER_MAX.as_secs()
                    );
                }
                sleep(POLL_INTERVAL).await;
            }
        }
        Ok(followed)
    }
}
