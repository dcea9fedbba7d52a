//! Agents that bear everything.

use crate::fake_player::fake_player;
use crate::report::{Practice, run};
use matchday_testkit::address::free_address;
use matchday_testkit::cli::{Output, Process};
use matchday_testkit::tools;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Matches with the chaos partner that the agent wins because the partner forfeits.
const WON_BY_DEFAULT: [&str; 4] = [
    "silent when invited",
    "silent when asked",
    "garbage",
    "another match",
];

/// A machine that is busy with other tests has time enough.
const UNHURRIED: [&str; 4] = ["--join-timeout", "1.5", "--choice-timeout", "2"];

fn assert_bore_it_all(report: &Value) {
    assert_eq!(
        report["technical_losses"],
        serde_json::json!([]),
        "{report:#}"
    );
    assert_eq!(report["matches_played"], report["matches"]);
    let rows = report["partners"].as_array().unwrap();
    for name in WON_BY_DEFAULT {
        let row = rows.iter().find(|row| row["partner"] == name).unwrap();
        assert_eq!(row["won"], 1, "{row:#}");
    }
    assert_eq!(report["passed"], true);
}

/// Starts a practice, then the agent with its address; ends with the practice.
fn practise_with(
    practice: &Practice,
    args: &[&str],
    agent: impl FnOnce(&str) -> Command,
) -> Output {
    let listen = free_address().to_string();
    let mut command = practice.practice(&["--listen", &listen]);
    let running = command.args(UNHURRIED).args(args).spawn().unwrap();
    let _agent = Process::start(agent(&format!("http://{listen}/mcp")));
    Output::from(running.wait_with_output().unwrap())
}

fn our_own(practice: &Practice) -> impl FnOnce(&str) -> Command + use<'_> {
    |manager| {
        let listen = free_address().to_string();
        practice.program(&[
            "player",
            "--listen",
            &listen,
            "--manager",
            manager,
            "--name",
            "Ada",
        ])
    }
}

#[test]
fn our_own_player_bears_it_all_and_its_matches_can_be_verified_and_replayed() {
    let practice = Practice::new();
    let args = ["--json", "--conformance", "strict", "--rounds", "2"];
    let done = practise_with(&practice, &args, our_own(&practice));
    let report = done.json();
    assert_bore_it_all(&report);
    let rows = report["partners"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["kind"] == "sparring");
    assert!(
        rows.map(|row| row["matches"].as_array().unwrap().len())
            .all(|count| count == 2),
        "{report:#}"
    );
    assert_eq!(
        (done.code, &report["guest"]["name"]),
        (0, &"Ada".into()),
        "{done:?}"
    );
    assert_eq!(
        (&report["oddities"], &report["deviations"]),
        (&"[]".parse().unwrap(), &"[]".parse().unwrap())
    );
    let told: Vec<&Value> = report["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| &told["code"])
        .collect();
    assert!(
        told.contains(&&"E001".into()),
        "its lost answers are told of: {report:#}"
    );
    let store = practice.store();
    for args in [&["verify"][..], &["replay", "--match", "R1M1"]] {
        let done = Output::from(practice.program(args).arg(&store).output().unwrap());
        assert_eq!(done.code, 0, "{done:?}");
    }
}

/// A game of turns, and one of many rounds at once: each turn is a question of its own.
#[test]
fn in_games_of_several_turns_nothing_is_remarked_of_our_own_player() {
    std::thread::scope(|scope| {
        for (game, strategy) in [
            ("tic_tac_toe", "perfect"),
            ("rock_paper_scissors", "pattern"),
        ] {
            scope.spawn(move || {
                let practice = Practice::new();
                let done = practise_with(&practice, &["--json", "--game", game], |manager| {
                    let listen = free_address().to_string();
                    practice.program(&[
                        "player",
                        "--listen",
                        &listen,
                        "--manager",
                        manager,
                        "--strategy",
                        strategy,
                    ])
                });
                let report = done.json();
                assert_eq!(
                    (done.code, &report["oddities"]),
                    (0, &serde_json::json!([])),
                    "{game}: {report:#}"
                );
            });
        }
    });
}

#[test]
fn a_game_of_the_authors_own_is_practised_by_the_program_that_knows_its_rules() {
    if !tools::require("python3") {
        return;
    }
    let practice = Practice::new();
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/twenty_one.py");
    let rules = rules.to_str().unwrap();
    let done = practise_with(&practice, &["--json", "--game-command", rules], |manager| {
        let listen = free_address().to_string();
        practice.program(&[
            "player",
            "--listen",
            &listen,
            "--manager",
            manager,
            "--games",
            "twenty_one",
        ])
    });
    let report = done.json();
    assert_eq!(
        (done.code, &report["oddities"]),
        (0, &serde_json::json!([])),
        "{report:#}"
    );
}

#[test]
fn an_agent_in_python_that_registers_by_itself_bears_it_all() {
    if !tools::require("python3") {
        return;
    }
    let practice = Practice::new();
    let done = practise_with(&practice, &["--json"], |manager| {
        let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zoo");
        let mut command = Command::new("python3");
        command
            .arg(zoo.join("players/standard.py"))
            .args([manager, "standard"]);
        command
            .env("PYTHONPATH", zoo.join("lib"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        // The script lives as long as its input is open.
        command.stdin(std::process::Stdio::piped());
        command
    });
    assert_bore_it_all(&done.json());
    assert_eq!(done.code, 0, "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_register_is_fetched_and_each_match_has_a_line() {
    let practice = Practice::new();
    let stub = fake_player(|_, right| right).await;
    let mut command = practice.practice(&["--against", &stub.url(), "--name", "Bob"]);
    command.args(UNHURRIED);
    let done = run(command).await;
    assert_eq!(done.code, 0, "{done:?}");
    for said in [
        "R9M1 silent when invited: won by default",
        &format!("Bob (P01) at {}", stub.url()),
        "Bob played 18 matches and lost none by its own fault.",
        &format!("kept in {}", practice.store().display()),
    ] {
        assert!(done.out.contains(said), "{said}: {}", done.out);
    }
}
