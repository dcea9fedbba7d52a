//! A game of somebody's own, by a program in another language.

use crate::program::Program;
use matchday_testkit::tools;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

fn example() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/twenty_one.py")
}

/// The example with a few lines put in before it answers a position.
fn spoilt(program: &Program, lines: &str) -> String {
    let source = fs::read_to_string(example()).unwrap();
    let spoilt = source.replace(
        "def position(history):\n",
        &format!("def position(history):\n{lines}"),
    );
    assert_ne!(spoilt, source);
    script(program, "rules.py", &spoilt)
}

fn script(program: &Program, name: &str, source: &str) -> String {
    let path = program.path(name);
    fs::write(&path, source).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn league(program: &Program, rules: &str) -> Value {
    program
        .league(&[
            "--json",
            "--players",
            "3",
            "--referees",
            "1",
            "--game-command",
            rules,
        ])
        .json()
}

#[test]
fn a_league_of_it_is_played_to_its_end() {
    let program = Program::new();
    let ran = league(&program, &example().display().to_string());
    assert_eq!(
        (&ran["matches_decided"], &ran["technical_losses"]),
        (&3.into(), &0.into()),
        "{ran}"
    );
    let found = program.run(&["verify", "league.db", "--json"]).json();
    assert_eq!(
        (&found["matches_untold"], &found["fault"]),
        (&3.into(), &Value::Null),
        "{found}"
    );
    assert_eq!(found["league_id"], "league_twenty_one");
}

#[test]
fn a_program_that_crashes_is_started_again_and_nobody_loses_by_it() {
    let program = Program::new();
    let crash = "    import os
    if len(history) == 5 and not os.path.exists('crashed'):
        open('crashed', 'w').close()
        os._exit(3)
";
    let rules = spoilt(&program, crash);
    let ran = league(&program, &rules);
    assert_eq!(
        (&ran["matches_decided"], &ran["technical_losses"]),
        (&3.into(), &0.into()),
        "{ran}"
    );
    assert!(program.path("crashed").exists(), "it has crashed once");
}

#[test]
fn a_program_that_uses_too_much_memory_is_killed_and_replaced() {
    let program = Program::new();
    let greed = "    import os, time
    if not os.path.exists('greedy'):
        open('greedy', 'w').close()
        hoard = b'x' * (768 << 20)
        time.sleep(600)
";
    let rules = spoilt(&program, greed);
    let ran = league(&program, &rules);
    assert_eq!(
        (&ran["matches_decided"], &ran["technical_losses"]),
        (&3.into(), &0.into()),
        "{ran}"
    );
    assert!(program.path("greedy").exists());
}

/// Node reserves gigabytes of address space for its heap, and uses few of them.
#[test]
fn a_program_in_node_works_within_the_default_limits() {
    if !tools::require("node") {
        return;
    }
    let program = Program::new();
    let source = r#"#!/usr/bin/env node
const describe = { game_type: "one_move", turns_max: 1 };
const position = (history) => history.length
  ? { turn: "over", winner: history[0].A === "win" ? "A" : "draw" }
  : { turn: "A", moves: { A: ["win", "draw"] } };
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const question = JSON.parse(line);
  console.log(JSON.stringify(question.do === "describe" ? describe : position(question.history)));
});
"#;
    let ran = league(&program, &script(&program, "rules.js", source));
    assert_eq!(
        (&ran["matches_decided"], &ran["technical_losses"]),
        (&3.into(), &0.into()),
        "{ran}"
    );
}

#[test]
fn a_program_that_keeps_failing_ends_every_match_with_the_reason() {
    let program = Program::new();
    let rules = spoilt(&program, "    raise SystemExit(3)\n");
    let ran = program
        .league(&[
            "--json",
            "--players",
            "2",
            "--referees",
            "1",
            "--game-command",
            &rules,
        ])
        .json();
    assert_eq!(
        (&ran["matches_decided"], &ran["technical_losses"]),
        (&1.into(), &0.into()),
        "{ran}"
    );
    let told = &ran["unplayed"][0];
    let reason = "the game program failed 2 times: the rules of the game: it ended without an answer (exit status: 3)";
    assert_eq!(told["match_id"], "R1M1", "{ran}");
    assert!(told["reason"].as_str().unwrap().contains(reason), "{ran}");
}

#[test]
fn what_is_no_game_is_told_before_anything_begins() {
    let program = Program::new();
    for (command, code, says) in [
        ("./nowhere", 2, "there is no program"),
        ("/bin/true", 1, "the rules of the game"),
        (
            "/bin/cat",
            1,
            "what the program says of its game cannot be used: missing field `game_type`",
        ),
    ] {
        let ran = program.run(&["run", "--port-base", "0", "--game-command", command]);
        assert_eq!(ran.code, code, "{command}: {}", ran.err);
        assert!(ran.err.contains(says), "{command}: {}", ran.err);
        assert!(program.files().is_empty());
    }
}
