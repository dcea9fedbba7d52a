//! Our own player passes its own check.

use crate::report::{Report as _, program};
use matchday_testkit::address::free_address;
use matchday_testkit::cli::{Output, Process};
use matchday_testkit::tools;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn player(folder: &tempfile::TempDir, manager: &str) -> (Command, String) {
    let listen = free_address().to_string();
    let url = format!("http://{listen}/mcp");
    let mut command = program(&[
        "player",
        "--listen",
        &listen,
        "--manager",
        manager,
        "--name",
        "Ada",
    ]);
    command.current_dir(folder.path());
    (command, url)
}

/// Starts a check that waits, then the player; ends with the check.
fn check_waiting(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let listen = free_address().to_string();
    let mut command = program(&["check", "player", "--wait", "--listen", &listen]);
    let check = command.args(args).spawn().unwrap();
    let _player = Process::start(player(&folder, &format!("http://{listen}/mcp")).0);
    Output::from(check.wait_with_output().unwrap())
}

#[test]
fn nothing_but_passes_when_it_registers_with_the_check() {
    let done = check_waiting(&["--json"]);
    let none = BTreeSet::new();
    for verdict in ["fail", "warning", "not_checked"] {
        assert_eq!(done.rules(verdict), none, "{verdict}: {}", done.troubles());
    }
    assert!(done.rules("pass").len() > 50, "{}", done.troubles());
    assert_eq!(done.code, 0);
}

#[test]
fn it_passes_in_games_of_turns_and_of_simultaneous_moves() {
    for game in ["tic_tac_toe", "rock_paper_scissors", "nim"] {
        let done = check_waiting(&["--json", "--game", game]);
        for verdict in ["fail", "warning", "not_checked"] {
            assert_eq!(
                done.rules(verdict),
                BTreeSet::new(),
                "{game}, {verdict}: {}",
                done.troubles()
            );
        }
        let passed = done.rules("pass");
        assert!(
            passed.contains("move.whole-game") && !passed.contains("choice.parity"),
            "{game}: {passed:?}"
        );
    }
}

#[test]
fn it_passes_in_a_game_whose_rules_are_a_program() {
    if !tools::require("python3") {
        return;
    }
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/twenty_one.py");
    let folder = tempfile::tempdir().unwrap();
    let listen = free_address().to_string();
    let mut command = program(&["check", "player", "--wait", "--listen", &listen, "--json"]);
    let check = command.arg("--game-command").arg(rules).spawn().unwrap();
    let (mut player, _) = player(&folder, &format!("http://{listen}/mcp"));
    let _player = Process::start({
        player.args(["--games", "twenty_one"]);
        player
    });
    let done = Output::from(check.wait_with_output().unwrap());
    assert_eq!(done.broken(), BTreeSet::new(), "{}", done.troubles());
    assert_eq!(
        done.rule("league.played")["verdict"],
        "pass",
        "{}",
        done.troubles()
    );
}

#[test]
fn a_quick_check_that_waits_passes_too() {
    let done = check_waiting(&["--json", "--quick"]);
    assert_eq!(
        (done.rules("fail").len(), done.code),
        (0, 0),
        "{}",
        done.troubles()
    );
}

#[test]
fn without_waiting_what_needs_trust_is_not_checked_and_not_failed() {
    let folder = tempfile::tempdir().unwrap();
    let listen = free_address().to_string();
    let manager = format!("http://{listen}/mcp");
    let mut command = program(&["manager", "--listen", &listen]);
    command.current_dir(folder.path());
    let _manager = Process::start(command);
    let (command, url) = player(&folder, &manager);
    let _player = Process::start(command);
    let done = loop {
        // Until it has registered it refuses for another reason, and until it listens nobody is there.
        let done = crate::report::run(&["check", "player", &url, "--json"]);
        if done.rule("join.message")["note"]
            .as_str()
            .unwrap()
            .contains("E012")
        {
            break done;
        }
    };
    assert_eq!(done.rules("fail"), BTreeSet::new(), "{}", done.troubles());
    assert_eq!(done.code, 1, "mandatory rules are not known to hold");
    let note = done.rule("choice.parity")["note"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        note.contains("answers only to its own manager") && note.contains("--wait"),
        "{note}"
    );
}
