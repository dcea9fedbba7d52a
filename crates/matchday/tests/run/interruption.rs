//! A league that is broken off in the middle: by Ctrl-C, by a full disk, by being killed.

use crate::program::Program;
use matchday_store::Store;
use matchday_testkit::cli::Output;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Sends the signal once the first round is over.
fn interrupted(program: &Program, signal: &str) -> Output {
    let words = [
        "run",
        "--port-base",
        "0",
        "--store",
        "league.db",
        "--players",
        "40",
        "--referees",
        "4",
    ];
    let mut command = program.command(&words);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut out = String::new();
    while !out.contains("round 1 of 39") {
        assert_ne!(lines.read_line(&mut out).unwrap(), 0, "{out}");
    }
    let killed = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    lines.read_to_string(&mut out).unwrap();
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    Output {
        code: child.wait().unwrap().code().unwrap_or(-1),
        out,
        err,
    }
}

#[test]
fn a_league_that_is_interrupted_says_how_far_it_got_and_leaves_a_file_that_verifies() {
    is_ended_in_good_order_by("-INT");
}

/// The portable build knows Ctrl-C alone.
#[cfg(feature = "native")]
#[test]
fn a_league_that_is_terminated_says_how_far_it_got_and_leaves_a_file_that_verifies() {
    is_ended_in_good_order_by("-TERM");
}

fn is_ended_in_good_order_by(signal: &str) {
    let program = Program::new();
    let ran = interrupted(&program, signal);
    assert_eq!(ran.code, 1, "{}\n{}", ran.out, ran.err);
    assert!(
        ran.err.contains("of 780 matches are decided"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("Data      league.db"), "{}", ran.out);
    assert!(!ran.out.contains("Champion"), "{}", ran.out);
    let found = program.run(&["verify", "league.db", "--json"]);
    assert_eq!(found.code, 0, "{}", found.out);
    let matches = found.json()["matches"].as_u64().unwrap();
    assert!((20..780).contains(&matches), "{matches}");
    assert!(
        ran.err.contains(&format!("{matches} of 780")),
        "{matches}: {}",
        ran.err
    );
}

/// Wherever the limit strikes, at registration or in a round, it is the store that is named, not the agent that waited.
#[test]
fn a_store_that_can_grow_no_more_ends_the_league_and_is_named_as_the_cause() {
    for blocks in ["200", "2000"] {
        let program = Program::new();
        let mut shell = Command::new("sh");
        // A write beyond the limit then fails instead of killing the process.
        shell.args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"", blocks]);
        let run = program.command(&[
            "run",
            "--port-base",
            "0",
            "--store",
            "league.db",
            "--players",
            "40",
        ]);
        shell
            .arg(run.get_program())
            .args(run.get_args())
            .current_dir(run.get_current_dir().unwrap());
        let ran = Output::from(shell.output().unwrap());
        assert_eq!(ran.code, 1, "{}\n{}", ran.out, ran.err);
        assert!(
            ran.err.contains("nothing that was acknowledged is lost"),
            "{blocks}: {}",
            ran.err
        );
        let found = program.run(&["verify", "league.db"]);
        assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    }
}

/// The match that an event is about, wherever in it that stands.
fn match_of(event: &Value) -> Option<String> {
    let fields = event.as_object()?;
    let named = fields
        .get("match_id")
        .and_then(Value::as_str)
        .map(str::to_owned);
    named.or_else(|| fields.values().find_map(match_of))
}

/// What each agent did in each match or round, by the name of its event.
fn deeds(program: &Program) -> BTreeSet<(String, String, String)> {
    let reader = Store::open_read_only(program.path("league.db")).unwrap();
    let mut deeds = BTreeSet::new();
    for stream in reader.streams().unwrap() {
        let role = stream.0.split('/').next().unwrap().to_owned();
        for stored in reader.load(&stream).unwrap() {
            let event = serde_json::from_str::<Value>(&stored.line).unwrap()["event"].take();
            let about = match_of(&event).or_else(|| event.get("round_id").map(ToString::to_string));
            let deed = format!("{role} {}", event["type"].as_str().unwrap());
            deeds.insert((deed, about.unwrap_or_default(), stream.0.to_string()));
        }
    }
    deeds
}

/// `MATCHDAY_CRASHES=1000` makes a soak of it.
#[test]
fn of_a_league_that_is_killed_nothing_is_left_without_that_which_it_follows_from() {
    let many = std::env::var("MATCHDAY_CRASHES").map_or(12_u64, |many| many.parse().unwrap());
    for number in 0..many {
        let program = Program::new();
        let words = [
            "run",
            "--port-base",
            "0",
            "--store",
            "league.db",
            "--players",
            "24",
            "--referees",
            "4",
        ];
        let mut child = program
            .command(&words)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut out = String::new();
        while !out.contains(&format!("round {} of 23", 1 + number % 20)) {
            assert_ne!(lines.read_line(&mut out).unwrap(), 0, "{out}");
        }
        std::thread::sleep(Duration::from_micros(number * 777 % 10_000));
        child.kill().unwrap();
        child.wait().unwrap();
        lines.read_to_string(&mut out).unwrap();

        let found = program.run(&["verify", "league.db", "--json"]);
        assert_eq!(found.code, 0, "{}{}", found.out, found.err);
        let deeds = deeds(&program);
        let about = |name: &str| -> BTreeMap<&str, usize> {
            let mut many = BTreeMap::new();
            for (_, about, _) in deeds.iter().filter(|(deed, ..)| deed == name) {
                *many.entry(about.as_str()).or_default() += 1;
            }
            many
        };
        for (deed, follows_from, how_many) in [
            ("referee assigned", "league match_assigned", 1),
            ("player invited", "referee assigned", 1),
            ("player chosen", "player invited", 2),
            ("referee decided", "player chosen", 2),
            ("player finished", "referee decided", 1),
            ("league match_decided", "referee decided", 1),
            ("referee reported", "league match_decided", 1),
        ] {
            let before = about(follows_from);
            for match_id in about(deed).into_keys() {
                let there = before.get(match_id).copied().unwrap_or_default();
                assert!(
                    there >= how_many,
                    "{number}: {deed} {match_id}, but {there} times {follows_from}"
                );
            }
        }
        let told = out
            .lines()
            .filter(|line| line.starts_with("round "))
            .count();
        let completed = about("league round_completed").len();
        assert!(
            told >= 1 && completed >= told,
            "{number}: {told} rounds were shown, {completed} are kept"
        );
    }
}
