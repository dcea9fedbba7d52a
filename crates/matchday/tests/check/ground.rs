//! Runs the built program, and reads its report.

use serde_json::Value;
use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How a check ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) took: Duration,
}

impl From<(Output, Duration)> for Done {
    fn from((output, took): (Output, Duration)) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Self { code, out: text(output.stdout), err: text(output.stderr), took }
    }
}

impl Done {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The rules with this verdict.
    pub(crate) fn rules(&self, verdict: &str) -> BTreeSet<String> {
        let report = self.json();
        let rules = report["rules"].as_array().unwrap();
        let with = rules.iter().filter(|rule| rule["verdict"] == verdict);
        with.map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
    }

    /// What was found of every rule that did not simply pass.
    pub(crate) fn troubles(&self) -> String {
        let report = self.json();
        let rules = report["rules"].as_array().unwrap().iter().filter(|rule| rule["verdict"] != "pass");
        let lines = rules.map(|rule| format!("{} {}: {}", rule["verdict"], rule["id"], rule["note"]));
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn rule(&self, id: &str) -> Value {
        let report = self.json();
        let rules = report["rules"].as_array().unwrap();
        rules.iter().find(|rule| rule["id"] == id).unwrap_or_else(|| panic!("no {id}")).clone()
    }

    /// It failed with one line, and with this code.
    pub(crate) fn line(&self, code: i32) -> &str {
        assert_eq!((self.code, self.err.lines().count(), self.out.as_str()), (code, 1, ""), "{self:?}");
        self.err.strip_prefix("matchday: ").expect("one line from matchday").trim_end()
    }
}

pub(crate) fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_matchday"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MATCHDAY_")) {
        command.env_remove(name);
    }
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn run(args: &[&str]) -> Done {
    let began = Instant::now();
    let output = program(args).output().unwrap();
    Done::from((output, began.elapsed()))
}

/// The same off the test's own thread, where the stubs live.
pub(crate) async fn run_aside(args: &[&str]) -> Done {
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    tokio::task::spawn_blocking(move || run(&args.iter().map(String::as_str).collect::<Vec<_>>()))
        .await
        .unwrap()
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
