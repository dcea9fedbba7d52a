//! A PostgreSQL server of the bench's own, with its defaults: made by `initdb` in a temporary folder, reached by a socket, removed
//! afterwards. Starts processes.

use anyhow::{Context, Result, anyhow, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Duration, Instant, sleep};

const START_MAX: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// PostgreSQL does not run as root; this is the user `nobody`.
const NOBODY: u32 = 65_534;

/// Killed when dropped.
#[derive(Debug)]
pub(crate) struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    server: Child,
    version: String,
    databases: AtomicU32,
}

impl Cluster {
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let programs = programs().context(
            "initdb of PostgreSQL is not found in PATH or /usr/lib/postgresql: install PostgreSQL (apt-get install postgresql)",
        )?;
        let folder = TempDir::with_prefix_in("matchday-bench-", folder)?;
        hand_over(folder.path())?;
        let data = folder.path().join("data").display().to_string();
        let initdb = [
            "--auth=trust",
            "--username=matchday",
            "--encoding=UTF8",
            "--locale=C",
            "-D",
            &data,
        ];
        run(&programs, folder.path(), "initdb", &initdb).await?;
        let version = run(&programs, folder.path(), "postgres", &["--version"]).await?;
        let socket = folder.path().display().to_string();
        let log = fs::File::create(folder.path().join("server.log"))?;
        let mut server = command(&programs, folder.path(), "postgres");
        server.args(["-D", &data, "-k", &socket, "-c", "listen_addresses="]);
        let server = server
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        let cluster = Self {
            folder,
            programs,
            server,
            version: version.trim().to_owned(),
            databases: AtomicU32::new(0),
        };
        let deadline = Instant::now() + START_MAX;
        while cluster.sql("SELECT 1").await.is_err() {
            if Instant::now() > deadline {
                let log = fs::read_to_string(cluster.folder.path().join("server.log"))
                    .unwrap_or_default();
                bail!("the PostgreSQL server does not start: {log}");
            }
            sleep(POLL_INTERVAL).await;
        }
        Ok(cluster)
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// The address of a new, empty database.
    pub(crate) async fn database(&self) -> Result<String> {
        let name = format!("bench_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql(&format!("CREATE DATABASE {name}")).await?;
        Ok(format!(
            "postgres://matchday@/{name}?host={}",
            self.folder.path().display()
        ))
    }

    async fn sql(&self, statement: &str) -> Result<String> {
        let socket = self.folder.path().display().to_string();
        let args = [
            "-X", "-q", "-At", "-h", &socket, "-U", "matchday", "-d", "postgres", "-c", statement,
        ];
        run(&self.programs, self.folder.path(), "psql", &args).await
    }

    /// In good order, so that its folder can be removed.
    pub(crate) async fn stop(mut self) -> Result<()> {
        let data = self.folder.path().join("data").display().to_string();
        run(
            &self.programs,
            self.folder.path(),
            "pg_ctl",
            &["stop", "-m", "fast", "-D", &data],
        )
        .await?;
        self.server.wait().await?;
        Ok(())
    }
}

async fn run(programs: &Path, folder: &Path, program: &str, args: &[&str]) -> Result<String> {
    let mut command = command(programs, folder, program);
    let output = command
        .args(args)
        .output()
        .await
        .with_context(|| format!("cannot start {program}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(anyhow!(
            "{program} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

fn command(programs: &Path, folder: &Path, program: &str) -> Command {
    let mut command = Command::new(programs.join(program));
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("LC_ALL", "C");
    #[cfg(unix)]
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn hand_over(folder: &Path) -> Result<()> {
    #[cfg(unix)]
    if is_root() {
        std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY))?;
    }
    let _ = folder;
    Ok(())
}

/// Where PostgreSQL's programs are. Debian keeps those of each version apart, and only some of them in the PATH.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let newest = versions
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .max();
    let path = std::env::var_os("PATH").unwrap_or_default();
    newest.or_else(|| std::env::split_paths(&path).find(|folder| folder.join("initdb").exists()))
}
