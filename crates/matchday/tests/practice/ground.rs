//! Runs the built program, and reads its report.

use serde_json::Value;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// How a practice ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Self { code, out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Done {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The report without what differs from one time to the next: times, ports, folders, who won.
    pub(crate) fn steady(&self) -> String {
        let told = self.out.lines().skip_while(|line| !line.contains(" (P01) at "));
        told.map(steady).collect::<Vec<_>>().join("\n")
    }

    /// The last thing that was said to whoever runs it.
    pub(crate) fn complaint(&self) -> &str {
        let line = self.err.lines().last().unwrap_or_default();
        line.strip_prefix("matchday: ").unwrap_or_else(|| panic!("{self:?}"))
    }
}

fn steady(line: &str) -> String {
    // How often anything is asked depends on how fast the machine is.
    let counts = ["invitation ", "choice ", "GAME_OVER ", "E0"].iter().any(|head| line.starts_with(head));
    let words = line.split(' ').filter(|word| !word.is_empty()).map(|word| {
        let is_number = word.parse::<f64>().is_ok();
        if let Some((before, _)) = word.split_once("http://127.0.0.1:") {
            format!("{before}http://HERE")
        } else if word.ends_with("/practice.db") {
            "practice.db".to_owned()
        } else if is_number && (counts || word.contains('.')) {
            "N".to_owned()
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A folder with the practice's file in it.
pub(crate) struct Ground {
    pub(crate) folder: tempfile::TempDir,
}

impl Ground {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("practice.db")
    }

    pub(crate) fn program(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_matchday"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MATCHDAY_")) {
            command.env_remove(name);
        }
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A practice that keeps its file here.
    pub(crate) fn practice(&self, args: &[&str]) -> Command {
        let mut command = self.program(&["practice", "--store"]);
        command.arg(self.store()).args(args);
        command
    }
}

/// Runs it off the test's own thread, where the stubs live.
pub(crate) async fn run(mut command: Command) -> Done {
    tokio::task::spawn_blocking(move || Done::from(command.output().unwrap())).await.unwrap()
}

pub(crate) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A process that is ended with the test.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
