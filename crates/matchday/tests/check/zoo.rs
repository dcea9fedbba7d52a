//! The agents of the zoo, each of which departs from the rules in one way: a table says which rules each breaks.

use crate::report::{Report as _, program};
use matchday_testkit::address::free_address;
use matchday_testkit::address::until_listening;
use matchday_testkit::cli::{Output, Process};
use matchday_testkit::tools;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Each player of the zoo, what loses matches in every league, and what does in a strict one only.
const PLAYERS: &[(&str, &[&str], &[&str])] = &[
    ("standard", &[], &[]),
    ("bare", &[], &[]),
    ("handle_message", &[], &[]),
    ("two_tongues", &[], &[]),
    ("answers_with_request", &[], &[]),
    ("answers_apart", &[], &[]),
    ("error_null", &[], &[]),
    ("refuses_string_ids", &[], &[]),
    ("refuses_fractions", &[], &[]),
    ("registers_too_early", &[], &[]),
    ("needs_id_and_token", &[], &[]),
    ("single_threaded", &[], &[]),
    ("one_connection", &[], &[]),
    ("type_as_method", &[], &[]),
    ("lower_type_as_method", &[], &[]),
    ("leaves_at_the_end", &[], &[]),
    ("fails_on_unknown", &[], &[]),
    ("capital_choice", &["choice.parity"], &[]),
    ("choice", &[], &["choice.parity"]),
    (
        "status_accepted",
        &[],
        &["join.accept", "join.arrival", "join.player-id"],
    ),
    ("no_token", &[], &["envelope.token"]),
    (
        "own_id",
        &[],
        &["choice.player-id", "envelope.sender", "join.player-id"],
    ),
    (
        "forgets_envelope",
        &[],
        &[
            "envelope.conversation",
            "envelope.protocol",
            "envelope.sender",
            "envelope.timestamp",
        ],
    ),
    (
        "no_envelope",
        &[],
        &[
            "envelope.conversation",
            "envelope.protocol",
            "envelope.sender",
            "envelope.timestamp",
            "register.accepted",
            "register.envelope",
        ],
    ),
    (
        "isoformat",
        &[],
        &[
            "envelope.timestamp",
            "join.arrival",
            "register.accepted",
            "register.envelope",
        ],
    ),
    (
        "compact_times",
        &[],
        &[
            "envelope.timestamp",
            "join.arrival",
            "register.accepted",
            "register.envelope",
        ],
    ),
    (
        "names_protocol",
        &[],
        &["register.accepted", "register.meta"],
    ),
    (
        "own_number",
        &[],
        &["choice.player-id", "envelope.sender", "join.player-id"],
    ),
    ("acknowledges", &[], &[]),
];

/// An agent of the zoo, ready to be started.
pub(crate) fn agent_of_zoo(script: &str, first: &str, name: &str) -> Command {
    let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zoo");
    let mut agent = Command::new("python3");
    agent
        .arg(zoo.join(format!("{script}.py")))
        .args([first, name]);
    agent
        .env("PYTHONPATH", zoo.join("lib"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped());
    agent
}

fn check(name: &str) -> Output {
    let listen = free_address().to_string();
    let check = program(&["check", "player", "--wait", "--listen", &listen, "--json"])
        .spawn()
        .unwrap();
    // It registers once, so that the port must be open by then.
    until_listening(&listen);
    let agent = agent_of_zoo(
        &format!("players/{name}"),
        &format!("http://{listen}/mcp"),
        name,
    );
    let _agent = Process::start(agent);
    Output::from(check.wait_with_output().unwrap())
}

fn holds(players: &[(&str, &[&str], &[&str])]) {
    if !tools::require("python3") {
        return;
    }
    for (name, broken, strict) in players {
        let done = check(name);
        let wanted = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let found = ["fail", "strict_only"].map(|verdict| done.rules(verdict));
        assert_eq!(
            found,
            [wanted(broken), wanted(strict)],
            "{name}:\n{}",
            done.troubles()
        );
    }
}

#[test]
fn every_player_of_the_zoo_is_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zoo/players");
    let scripts = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let scripts =
        scripts.filter(|path| path.extension().is_some_and(|extension| extension == "py"));
    let there: BTreeSet<String> = scripts
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        PLAYERS
            .iter()
            .map(|(name, ..)| name.to_string())
            .collect::<BTreeSet<_>>(),
        there
    );
}

#[test]
fn those_who_play_in_any_league() {
    holds(&PLAYERS[..13]);
}

#[test]
fn those_who_do_not_take_every_message() {
    holds(&PLAYERS[13..17]);
}

#[test]
fn those_who_answer_wrongly() {
    holds(&PLAYERS[17..]);
}
