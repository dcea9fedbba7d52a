//! One scenario in a browser, and how it ended. It says a word when the test is to go on.

use crate::league::League;
use matchday_testkit::tools;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

pub(crate) struct Script {
    child: Child,
    said: BufReader<ChildStdout>,
}

fn installed() -> Option<PathBuf> {
    tools::require_installed("browser", "crates/matchday/tests/browser/tools/install")
}

/// Whether this suite can be run here: asked before a league is started for it.
pub(crate) fn can_be_run() -> bool {
    installed().is_some()
}

impl Script {
    /// Starts `drive/NAME.mjs` on the dashboard of the manager at this address.
    pub(crate) fn start(name: &str, manager: &str, args: &[&str]) -> Self {
        let tools = installed().expect("asked before");
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/browser/drive/{name}.mjs"));
        let chromium = std::fs::read_to_string(tools.join("chromium")).unwrap();
        let mut child = Command::new("node")
            .arg(script)
            .arg(manager.trim_end_matches("mcp"))
            .args(args)
            .env("MATCHDAY_TEST_TOOLS", &tools)
            .env("MATCHDAY_CHROMIUM", chromium.trim())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    /// Waits until it says this. A script that hangs ends itself.
    pub(crate) fn until(&mut self, word: &str) {
        let mut line = String::new();
        while line.trim() != word {
            line.clear();
            assert!(
                self.said.read_line(&mut line).unwrap() > 0,
                "the script ended before it was {word}"
            );
        }
    }

    pub(crate) fn succeeds(mut self) {
        let status = self.child.wait().unwrap();
        assert!(status.success(), "the scenario failed: {status}");
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Plays a scenario on the pages of a league, which is only made where there is a browser.
pub(crate) fn shows(name: &str, league: impl FnOnce() -> League, args: &[&str]) {
    if can_be_run() {
        plays(name, &league().cli.manager, args);
    }
}

/// Plays a scenario that needs nothing more from the test.
pub(crate) fn plays(name: &str, manager: &str, args: &[&str]) {
    Script::start(name, manager, args).succeeds();
}
