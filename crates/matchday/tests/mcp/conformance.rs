//! The official conformance suite for servers, scenario by scenario, in both revisions. Of each scenario the checks that
//! must have been made are named here: one that makes none has shown nothing.

use crate::clients::{installed, node};
use crate::ground::{Ground, endpoint, quick, short, until_registered};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A scenario, and the checks in it that must succeed.
type Scenario = (&'static str, &'static [&'static str]);

const OLDER: &[Scenario] = &[
    ("server-initialize", &["server-initialize"]),
    ("server-session-lifecycle", &[]),
    ("ping", &["ping"]),
    ("tools-list", &["tools-list", "tools-name-format"]),
    ("resources-list", &["resources-list"]),
    ("prompts-list", &["prompts-list"]),
    ("dns-rebinding-protection", &["localhost-host-rebinding-rejected", "localhost-host-valid-accepted"]),
    (
        "server-sse-multiple-streams",
        &["server-accepts-multiple-post-streams", "server-sse-streams-functional"],
    ),
];

const NEWER: &[Scenario] = &[
    ("server-stateless", &[]),
    ("tools-list", &["tools-list", "tools-name-format", "tools-list-deterministic-order"]),
    ("resources-list", &["resources-list"]),
    ("prompts-list", &["prompts-list"]),
    ("sep-2164-resource-not-found", &["sep-2164-error-code"]),
    ("dns-rebinding-protection", &["localhost-host-rebinding-rejected", "localhost-host-valid-accepted"]),
    ("caching", &[]),
    ("http-header-validation", &[]),
    ("server-sse-multiple-streams", &["server-accepts-multiple-post-streams"]),
];

async fn conforms(revision: &'static str, scenarios: &'static [Scenario]) {
    let Some(folder) = installed() else { return };
    let ground = Ground::new();
    let manager = ground.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let _agents = (ground.referee(1, &to, short()).await, ground.player(1, &to, "random").await);
    until_registered(&manager, 1, 1).await;
    let url = to.as_str().replace("127.0.0.1", "localhost");
    for (name, expected) in scenarios {
        let results = tempfile::tempdir().unwrap();
        let mut command = node(&folder);
        command
            .arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
            .args(["server", "--url", &url, "--scenario", name, "--spec-version", revision, "--output-dir"])
            .arg(results.path());
        let said = tokio::task::spawn_blocking(move || said(&mut command)).await.unwrap();
        let mut checks = Vec::new();
        collect(results.path(), &mut checks);
        judge(&format!("{name} of {revision}"), &checks, expected, &said);
    }
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn collect(folder: &Path, checks: &mut Vec<Value>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            collect(&entry.path(), checks);
        } else if entry.file_name() == "checks.json" {
            let written = fs::read_to_string(entry.path()).unwrap();
            checks.extend(serde_json::from_str::<Vec<Value>>(&written).unwrap());
        }
    }
}

fn judge(scenario: &str, checks: &[Value], expected: &[&str], said: &str) {
    let with = |status: &str| checks.iter().filter(|check| check["status"] == status).collect::<Vec<_>>();
    for status in ["FAILURE", "WARNING", "SKIPPED"] {
        assert_eq!(with(status), Vec::<&Value>::new(), "{scenario}: {said}");
    }
    for id in expected {
        let is_there = with("SUCCESS").iter().any(|check| check["id"] == *id);
        assert!(is_there, "{scenario}: {id} was not checked: {checks:#?} {said}");
    }
    assert!(!with("SUCCESS").is_empty(), "{scenario}: nothing was checked: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manager_conforms_to_the_older_revision() {
    conforms("2025-11-25", OLDER).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manager_conforms_to_the_newer_revision() {
    conforms("2026-07-28", NEWER).await;
}
