//! Ctrl-C in the middle of a league.

use crate::program::{Program, Ran};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Sends the signal once the first round is over.
fn interrupted(program: &Program, signal: &str) -> Ran {
    let words = ["run", "--port-base", "0", "--store", "league.db", "--players", "40", "--referees", "4"];
    let mut command = program.command(&words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut out = String::new();
    while !out.contains("round 1 of 39") {
        assert_ne!(lines.read_line(&mut out).unwrap(), 0, "{out}");
    }
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    lines.read_to_string(&mut out).unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    Ran { code: child.wait().unwrap().code(), out, err }
}

#[test]
fn a_league_that_is_broken_off_says_how_far_it_got_and_leaves_a_file_that_verifies() {
    for signal in ["-INT", "-TERM"] {
        let program = Program::new();
        let ran = interrupted(&program, signal);
        assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
        assert!(ran.err.contains("of 780 matches are decided"), "{}", ran.err);
        assert!(ran.out.contains("Data      league.db"), "{}", ran.out);
        assert!(!ran.out.contains("Champion"), "{}", ran.out);
        let found = program.run(&["verify", "league.db", "--json"]);
        assert_eq!(found.code, Some(0), "{}", found.out);
        let matches = found.json()["matches"].as_u64().unwrap();
        assert!((20..780).contains(&matches), "{matches}");
        assert!(ran.err.contains(&format!("{matches} of 780")), "{matches}: {}", ran.err);
    }
}
