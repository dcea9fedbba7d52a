//! Runs `matchday check`, and reads its report.

use matchday_testkit::cli::{self, Output};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

/// What a check has printed as JSON, or why it has not.
pub(crate) trait Report {
    /// The rules with this verdict.
    fn rules(&self, verdict: &str) -> BTreeSet<String>;
    /// The rules that do not hold, whether it costs matches or not.
    fn broken(&self) -> BTreeSet<String>;
    /// Those of them that lose matches, if in a strict league only.
    fn losing(&self) -> BTreeSet<String>;
    /// What was found of every rule that did not simply pass.
    fn troubles(&self) -> String;
    fn rule(&self, id: &str) -> Value;
    /// It failed with one line, and with this code.
    fn line(&self, code: i32) -> &str;
}

impl Report for Output {
    fn rules(&self, verdict: &str) -> BTreeSet<String> {
        let report = self.json();
        let rules = report["rules"].as_array().unwrap();
        let with = rules.iter().filter(|rule| rule["verdict"] == verdict);
        with.map(|rule| rule["id"].as_str().unwrap().to_owned())
            .collect()
    }

    fn broken(&self) -> BTreeSet<String> {
        ["fail", "strict_only", "warning"]
            .into_iter()
            .flat_map(|verdict| self.rules(verdict))
            .collect()
    }

    fn losing(&self) -> BTreeSet<String> {
        &self.rules("fail") | &self.rules("strict_only")
    }

    fn troubles(&self) -> String {
        let report = self.json();
        let rules = report["rules"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|rule| rule["verdict"] != "pass");
        let lines =
            rules.map(|rule| format!("{} {}: {}", rule["verdict"], rule["id"], rule["note"]));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn rule(&self, id: &str) -> Value {
        let report = self.json();
        let rules = report["rules"].as_array().unwrap();
        rules
            .iter()
            .find(|rule| rule["id"] == id)
            .unwrap_or_else(|| panic!("no {id}"))
            .clone()
    }

    fn line(&self, code: i32) -> &str {
        assert_eq!(
            (self.code, self.err.lines().count(), self.out.as_str()),
            (code, 1, ""),
            "{self:?}"
        );
        self.err
            .strip_prefix("matchday: ")
            .expect("one line from matchday")
            .trim_end()
    }
}

pub(crate) fn program(args: &[&str]) -> Command {
    let mut command = cli::command(env!("CARGO_BIN_EXE_matchday"));
    command
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(crate) fn run(args: &[&str]) -> Output {
    cli::output(program(args))
}

/// The same off the test's own thread, where the fake players live.
pub(crate) async fn run_aside(args: &[&str]) -> Output {
    let command = program(args);
    tokio::task::spawn_blocking(move || cli::output(command))
        .await
        .unwrap()
}
