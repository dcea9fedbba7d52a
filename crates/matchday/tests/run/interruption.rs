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

/// Wherever the limit strikes, at registration or in a round, it is the store that is named, not whoever waited for it.
#[test]
fn a_store_that_can_grow_no_more_ends_the_league_and_is_named_as_the_cause() {
    for blocks in ["200", "2000"] {
        let program = Program::new();
        let mut shell = Command::new("sh");
        // A write beyond the limit then fails instead of killing the process.
        shell.args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"", blocks]);
        let run = program.command(&["run", "--port-base", "0", "--store", "league.db", "--players", "40"]);
        shell.arg(run.get_program()).args(run.get_args()).current_dir(run.get_current_dir().unwrap());
        let ran = Ran::from(shell.output().unwrap());
        assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
        assert!(ran.err.contains("nothing that was acknowledged is lost"), "{blocks}: {}", ran.err);
        let found = program.run(&["verify", "league.db"]);
        assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    }
}
