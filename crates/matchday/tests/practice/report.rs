//! Runs `matchday practice`, and reads its report.

use matchday_testkit::cli::{self, Cli, Output};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a practice has printed.
pub(crate) trait Report {
    /// The report without what differs from one time to the next: times, ports, folders, who won.
    fn steady(&self) -> String;
    /// The last line of the standard error.
    fn complaint(&self) -> &str;
}

impl Report for Output {
    fn steady(&self) -> String {
        let told = self
            .out
            .lines()
            .skip_while(|line| !line.contains(" (P01) at "));
        told.map(steady).collect::<Vec<_>>().join("\n")
    }

    fn complaint(&self) -> &str {
        let line = self.err.lines().last().unwrap_or_default();
        line.strip_prefix("matchday: ")
            .unwrap_or_else(|| panic!("{self:?}"))
    }
}

fn steady(line: &str) -> String {
    // How often anything is asked depends on how fast the machine is.
    let counts = ["invitation ", "choice ", "GAME_OVER ", "E0"]
        .iter()
        .any(|head| line.starts_with(head));
    let words = line.split(' ').filter(|word| !word.is_empty()).map(|word| {
        let is_number = word.parse::<f64>().is_ok();
        if let Some((before, _)) = word.split_once("http://127.0.0.1:") {
            format!("{before}http://HERE")
        } else if word.ends_with("practice.db") && word.contains(std::path::is_separator) {
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
pub(crate) struct Practice {
    cli: Cli,
}

impl Practice {
    pub(crate) fn new() -> Self {
        Self {
            cli: Cli::new(env!("CARGO_BIN_EXE_matchday")),
        }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.cli.path().join("practice.db")
    }

    pub(crate) fn program(&self, args: &[&str]) -> Command {
        let mut command = self.cli.command(args);
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

/// Runs it off the test's own thread, where the fake players live.
pub(crate) async fn run(command: Command) -> Output {
    tokio::task::spawn_blocking(move || cli::output(command))
        .await
        .unwrap()
}
