//! The players of a plan of models in leagues: `run --plan`, `player --plan`; what they were told and said in `replay` and `export`.

use crate::models::{KEY, Models, plan};
use matchday_testkit::cli::{Cli, Output, output};
use std::fs;
use std::path::Path;

const LEAGUE: &str = r#"
games = ["nim"]
strategies = ["optimal", "lookahead"]
think_time = 5

[[provider]]
url = "URL"
concurrency = 1
budget = "calls=1000"

[[player]]
name = "Perfect"
url = "URL"
model = "perfect"
observation = "json"
key_env = "KEY_OF_THE_TEST"
system = "Play to win.\n{rules}"
prices = "3,15"

[[player]]
name = "Illegal"
url = "URL"
model = "illegal"
key_env = "KEY_OF_THE_TEST"
retries = 1
fallback = "random"
"#;

fn with_key(cli: &Cli, args: &[&str]) -> Output {
    let mut command = cli.command(args);
    command.env("KEY_OF_THE_TEST", KEY);
    output(command)
}

fn played() -> (Cli, Models) {
    let cli = Cli::new(crate::MATCHDAY);
    let models = Models::start();
    plan(&cli, &models, LEAGUE);
    let done = with_key(
        &cli,
        &[
            "run",
            "nim",
            "--plan",
            "plan.toml",
            "--store",
            "league.db",
            "--no-stay",
            "--port-base",
            "0",
            "--json",
        ],
    );
    assert_eq!(done.code, 0, "{done:?}");
    let summary = done.json();
    let names: Vec<&str> = summary["standings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    // The game does not know lookahead.
    for name in ["Perfect", "Illegal", "optimal"] {
        assert!(names.contains(&name), "{names:?}");
    }
    (cli, models)
}

fn all_bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            all.extend(all_bytes(&path));
        } else {
            all.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    all
}

#[test]
fn what_models_were_told_and_said_is_replayed_and_exported_without_keys() {
    let (cli, _models) = played();
    let told = cli.run(&["replay", "league.db", "--match", "R1M1"]).out
        + &cli.run(&["replay", "league.db", "--match", "R2M1"]).out
        + &cli.run(&["replay", "league.db", "--match", "R3M1"]).out;
    for shown in [
        "What the players were told, and what they said",
        "perfect-2026-11-01",
        "200 tokens read, 10 written",
        "  system    Play to win.",
        "  thinking  Let me see.",
        "  reply     I am sure. {\"move\":",
        "no move: illegal",
        "That is no move",
        "(the key): I am sure.",
    ] {
        assert!(told.contains(shown), "{shown}: {told}");
    }
    let exported = cli.run(&["export", "league.db", "--out", "all"]);
    assert_eq!(exported.code, 0, "{exported:?}");
    let calls = fs::read_to_string(cli.path().join("all/model_calls.csv")).unwrap();
    let mut lines = calls.lines();
    assert_eq!(
        lines.next(),
        Some(
            "league,match,turn,player,at,model,prompt,thinking,reply,failure,error,status,latency_ms,input_tokens,\
             output_tokens,cost"
        )
    );
    assert!(
        calls.contains(",illegal,") && calls.contains("0.00075"),
        "{calls}"
    );
    let players = fs::read_to_string(cli.path().join("all/players.csv")).unwrap();
    assert!(players.contains("llm:perfect"), "{players}");
    for (name, bytes) in all_bytes(cli.path()) {
        let has_key = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
        assert!(!has_key, "{name}");
    }
}

#[test]
fn a_player_of_a_plan_plays_in_a_league_of_others() {
    let cli = Cli::new(crate::MATCHDAY);
    let models = Models::start();
    plan(&cli, &models, LEAGUE);
    let of_manager = [
        "--game",
        "nim",
        "--lead",
        "0",
        "--start-when",
        "players=2,referees=1",
    ];
    let _manager = cli.manager(&of_manager);
    let of_player = [
        "player",
        "--plan",
        "plan.toml",
        "--name",
        "Perfect",
        "--store",
        "own.db",
    ];
    let _others = [
        cli.agent(&["referee"]),
        cli.agent(&["player", "--name", "Other"]),
    ];
    let mut player = cli.agent_in(&[("KEY_OF_THE_TEST", KEY)], &of_player);
    cli.until_status("completed");
    // Messages reach the disk a little later than events.
    player.signal("TERM");
    player.wait();
    let told = cli.run(&["replay", "own.db", "--match", "R1M1"]).out;
    assert!(told.contains("  system    Play to win."), "{told}");
    let of_league = cli.run(&["replay", "matchday.db", "--match", "R1M1"]).out;
    assert!(!of_league.contains("Play to win."), "{of_league}");
}

#[test]
fn what_a_plan_says_is_said_by_nothing_else() {
    let cli = Cli::new(crate::MATCHDAY);
    let models = Models::start();
    plan(&cli, &models, LEAGUE);
    for (args, words) in [
        (
            &["player", "--plan", "plan.toml", "--name", "Nobody"][..],
            "the plan has Perfect, Illegal, optimal, lookahead: name one of them",
        ),
        (
            &[
                "player",
                "--plan",
                "plan.toml",
                "--name",
                "Perfect",
                "--llm-model",
                "x",
            ],
            "--llm-model: the plan says it, with --plan",
        ),
        (
            &["run", "nim", "--plan", "plan.toml", "--players", "3"],
            "--players: the plan says it, with --plan",
        ),
        (&["run", "--plan", "no.toml"], "no.toml cannot be read"),
    ] {
        let done = with_key(&cli, args);
        assert!(done.failed(2).contains(words), "{args:?}: {done:?}");
    }
}
