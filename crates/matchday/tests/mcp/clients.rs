//! The official clients of the Model Context Protocol, each in both revisions, against a league that is running.

use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, quick, short, until_registered,
};
use matchday_testkit::tools;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn installed() -> Option<PathBuf> {
    tools::require_installed("mcp", "crates/matchday/tests/mcp/tools/install")
}

pub(crate) fn node(folder: &Path) -> Command {
    let packaged = ["x64", "arm64"]
        .map(|kind| folder.join(format!("node_modules/node-linux-{kind}/bin/node")));
    let found = packaged.into_iter().find(|path| path.exists());
    let mut command = Command::new(found.unwrap_or_else(|| "node".into()));
    command.env("MATCHDAY_TEST_TOOLS", folder);
    command
}

fn python(folder: &Path) -> Command {
    Command::new(folder.join("python/bin/python"))
}

/// Runs a command that prints one JSON object.
pub(crate) async fn printed(mut command: Command) -> Value {
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
}

/// A league with players of its own, which the client joins.
async fn drives_a_league(mode: &str, program: &str, command: fn(&Path) -> Command) {
    let Some(folder) = installed() else { return };
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let _agents = (
        test_league.referee(1, &to, short()).await,
        test_league.player(1, &to, "random").await,
    );
    until_registered(&manager, 1, 1).await;
    let own = free_port().await;
    let mut command = command(&folder);
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/mcp/drive")
        .join(program);
    command
        .arg(script)
        .args([to.raw(), mode, endpoint(own.local_addr().unwrap()).raw()]);
    let seen = printed(command).await;
    assert_eq!(
        (&seen["player_id"], &seen["refused"]),
        (&"P02".into(), &true.into()),
        "{seen}"
    );
    assert_eq!(seen["refusal"], "LEAGUE_ERROR");
    assert_eq!(seen["names"].as_array().unwrap().len(), 2);
    assert!(
        seen["tools"]
            .as_array()
            .unwrap()
            .contains(&"register_player".into()),
        "{seen}"
    );
    assert!(
        seen["prompt"].as_str().unwrap().contains("register_player"),
        "{seen}"
    );
    until_registered(&manager, 2, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_drives_a_league_in_the_older_revision() {
    drives_a_league("legacy", "league.py", python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_drives_a_league_in_the_newer_revision() {
    drives_a_league("2026-07-28", "league.py", python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_typescript_client_drives_a_league_in_the_older_revision() {
    drives_a_league("legacy", "league.mjs", node).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_typescript_client_drives_a_league_in_the_newer_revision() {
    drives_a_league("2026-07-28", "league.mjs", node).await;
}
