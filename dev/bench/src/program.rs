//! `matchday` as a child process: an agent or a whole league. It is this executable, so that what is measured is what was
//! built with it. Its output goes to a file.

use anyhow::{Context, Result, anyhow, bail};
use matchday_os::process;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A league that takes longer is taken to hang.
const RUN_MAX: Duration = Duration::from_secs(600);
const STOP_MAX: Duration = Duration::from_secs(20);
/// How many lines of output an error shows.
const LAST_LINES: usize = 5;

/// With this variable in its environment, this executable is `matchday`.
const AS_PROGRAM: &str = "BENCH_AS_MATCHDAY";

/// Whether this process is to be `matchday`.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(AS_PROGRAM).is_some()
}

/// Killed when dropped.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    name: String,
    output_file: PathBuf,
}

impl Program {
    /// Starts it in `folder`, with its output in a file named after it there.
    pub(crate) fn start(folder: &Path, name: &str, args: &[&str]) -> Result<Self> {
        let output_file = folder.join(format!("{name}.txt"));
        let file = File::create(&output_file)
            .with_context(|| format!("cannot write to {}", output_file.display()))?;
        let program = std::env::current_exe().context("where this program lies is not known")?;
        let mut command = Command::new(&program);
        // Settings in the environment must not influence the measurement.
        for (variable, _) in std::env::vars_os().filter(|(name, _)| is_ours(name)) {
            command.env_remove(variable);
        }
        command
            .env(AS_PROGRAM, "1")
            .args(args)
            .current_dir(folder)
            .kill_on_drop(true);
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self {
            child,
            name: name.to_owned(),
            output_file,
        })
    }

    pub(crate) fn pid(&self) -> Result<u32> {
        self.child
            .id()
            .ok_or_else(|| anyhow!("{} has ended: {}", self.name, self.last_lines()))
    }

    pub(crate) fn output(&self) -> String {
        fs::read_to_string(&self.output_file).unwrap_or_default()
    }

    /// Fails if it has exited.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("{} has ended ({status}): {}", self.name, self.last_lines()),
        }
    }

    /// Waits for it to exit with success.
    pub(crate) async fn finish(mut self) -> Result<()> {
        let status = timeout(RUN_MAX, self.child.wait())
            .await
            .with_context(|| {
                format!("{} is not done after {} s", self.name, RUN_MAX.as_secs())
            })??;
        if !status.success() {
            bail!("{} failed ({status}): {}", self.name, self.last_lines());
        }
        Ok(())
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) -> Result<()> {
        Ok(process::terminate(self.pid()?)?)
    }

    /// Waits for it to exit after SIGTERM.
    pub(crate) async fn stopped(mut self) -> Result<()> {
        let ended = timeout(STOP_MAX, self.child.wait()).await;
        ended.with_context(|| format!("{} does not end: {}", self.name, self.last_lines()))??;
        Ok(())
    }

    fn last_lines(&self) -> String {
        let output = self.output();
        let lines: Vec<&str> = output.lines().collect();
        let last = lines
            .get(lines.len().saturating_sub(LAST_LINES)..)
            .unwrap_or_default();
        last.join(" / ")
    }
}

fn is_ours(variable: &std::ffi::OsStr) -> bool {
    variable.to_string_lossy().starts_with("MATCHDAY_")
}
