//! This very program, started again: an agent or a whole league in a process of its own. What it says goes to a file.

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A league that takes longer hangs, or is not worth waiting for.
const RUN_MAX: Duration = Duration::from_secs(600);
const STOP_MAX: Duration = Duration::from_secs(20);
/// How much of what a program said is told when it failed.
const LAST_LINES: usize = 5;

/// Ends with whoever holds it.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    name: String,
    said: PathBuf,
}

impl Program {
    /// Starts it in `folder`, and keeps what it says in a file named after it there.
    pub(super) fn start(folder: &Path, name: &str, args: &[&str]) -> Result<Self> {
        let said = folder.join(format!("{name}.txt"));
        let file = File::create(&said).with_context(|| format!("cannot write to {}", said.display()))?;
        let program = std::env::current_exe().context("where this program lies is not known")?;
        let mut command = Command::new(&program);
        // Only what is asked for here is measured, whatever the surroundings say.
        for (variable, _) in std::env::vars_os().filter(|(name, _)| is_ours(name)) {
            command.env_remove(variable);
        }
        command.args(args).current_dir(folder).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self { child, name: name.to_owned(), said })
    }

    pub(super) fn pid(&self) -> Result<u32> {
        self.child.id().ok_or_else(|| anyhow!("{} has ended: {}", self.name, self.last_words()))
    }

    pub(super) fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap_or_default()
    }

    /// An error if it has ended, though nobody told it to.
    pub(super) fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("{} has ended ({status}): {}", self.name, self.last_words()),
        }
    }

    /// Waits until it has done its work.
    pub(super) async fn finish(mut self) -> Result<()> {
        let status = timeout(RUN_MAX, self.child.wait())
            .await
            .with_context(|| format!("{} is not done after {} s", self.name, RUN_MAX.as_secs()))??;
        if !status.success() {
            bail!("{} failed ({status}): {}", self.name, self.last_words());
        }
        Ok(())
    }

    /// Asks it to end in good order. What it then does is awaited by [`Self::finish`].
    pub(super) fn ask_to_stop(&self) -> Result<()> {
        let pid = Pid::from_raw(i32::try_from(self.pid()?)?).context("a process has a number")?;
        Ok(kill_process(pid, Signal::TERM)?)
    }

    /// Waits until it has ended, once it was asked to.
    pub(super) async fn stopped(mut self) -> Result<()> {
        let ended = timeout(STOP_MAX, self.child.wait()).await;
        ended.with_context(|| format!("{} does not end: {}", self.name, self.last_words()))??;
        Ok(())
    }

    fn last_words(&self) -> String {
        let said = self.said();
        let lines: Vec<&str> = said.lines().collect();
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        last.join(" / ")
    }
}

fn is_ours(variable: &std::ffi::OsStr) -> bool {
    variable.to_string_lossy().starts_with("MATCHDAY_")
}
