//! A game of somebody's own, by a program in another language.

use crate::program::Program;
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
    let spoilt = source.replace("def position(history):\n", &format!("def position(history):\n{lines}"));
    assert_ne!(spoilt, source);
    let path = program.path("rules.py");
    fs::write(&path, spoilt).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn league(program: &Program, rules: &str) -> Value {
    program.league(&["--json", "--players", "3", "--referees", "1", "--game-command", rules]).json()
}

#[test]
fn a_league_of_it_is_played_to_its_end() {
    let program = Program::new();
    let ran = league(&program, &example().display().to_string());
    assert_eq!((&ran["matches_decided"], &ran["technical_losses"]), (&3.into(), &0.into()), "{ran}");
    let found = program.run(&["verify", "league.db", "--json"]).json();
    assert_eq!((&found["matches_untold"], &found["fault"]), (&3.into(), &Value::Null), "{found}");
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
    assert_eq!((&ran["matches_decided"], &ran["technical_losses"]), (&3.into(), &0.into()), "{ran}");
    assert!(program.path("crashed").exists(), "it has crashed once");
}

#[test]
fn a_program_that_wants_too_much_memory_is_ended() {
    let program = Program::new();
    let greed = "    import os
    if not os.path.exists('greedy'):
        open('greedy', 'w').close()
        hoard = bytearray(1 << 31)
";
    let rules = spoilt(&program, greed);
    let ran = league(&program, &rules);
    assert_eq!((&ran["matches_decided"], &ran["technical_losses"]), (&3.into(), &0.into()), "{ran}");
    assert!(program.path("greedy").exists());
}

#[test]
fn what_is_no_game_is_told_before_anything_begins() {
    let program = Program::new();
    for (command, code, says) in [
        ("./nowhere", 2, "there is no program"),
        ("/bin/true", 1, "the rules of the game"),
        ("/bin/cat", 1, "what the program says of its game cannot be used: missing field `game_type`"),
    ] {
        let ran = program.run(&["run", "--port-base", "0", "--game-command", command]);
        assert_eq!(ran.code, Some(code), "{command}: {}", ran.err);
        assert!(ran.err.contains(says), "{command}: {}", ran.err);
        assert!(program.files().is_empty());
    }
}
