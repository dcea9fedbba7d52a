//! The repeated prisoner's dilemma against axelrod, an implementation of others: the same moves and payoffs, round by round.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test code: a failure here is the point"
)]

use matchday_core::entropy::Entropy;
use matchday_core::game::fast::Ply;
use matchday_core::game::{self, Seat, strategy};
use matchday_core::protocol::GameType;
use matchday_testkit::tools;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

const SCRIPT: &str = "crates/core/tests/axelrod/install";
/// Of each pair in which somebody plays at random.
const RANDOM_MATCHES: usize = 40;

/// Who plays, with what is asked of axelrod, and what it must answer.
struct Match {
    names: [&'static str; 2],
    question: Value,
    expected: Value,
}

/// Every pair of strategies in both seats. What a random player chose is told to axelrod, which finds what the other one answers.
fn matches() -> Vec<Match> {
    let dilemma = game::find(&GameType::new("iterated_prisoners_dilemma")).unwrap();
    let names: Vec<&'static str> = strategy::of(dilemma).map(|entry| entry.name).collect();
    assert_eq!(names.len(), 6, "play.py knows them: {names:?}");
    let mut entropy = Entropy::numbered(1);
    let mut matches = Vec::new();
    for pair in names.iter().flat_map(|a| names.iter().map(|b| [*a, *b])) {
        let mut players = (dilemma.built_in.unwrap().players)(&pair);
        let is_random = pair.contains(&"random");
        for _ in 0..if is_random { RANDOM_MATCHES } else { 1 } {
            let (played, plies) = players.play_recorded(0, 1, &mut entropy);
            let of = |wanted: Seat| -> Vec<Value> {
                let own = plies.iter().filter_map(|ply| match ply {
                    Ply::Move(seat, made) if *seat == wanted => Some(made.clone()),
                    _ => None,
                });
                own.collect()
            };
            let made = Seat::BOTH.map(of);
            let asked = |seat: Seat| match *seat.of(&pair) {
                "random" => json!(seat.of(&made)),
                name => json!(name),
            };
            let rounds: Vec<Value> = made[0]
                .iter()
                .zip(&made[1])
                .map(|round| json!(round))
                .collect();
            matches.push(Match {
                names: pair,
                question: json!({ "a": asked(Seat::A), "b": asked(Seat::B), "rounds": rounds.len() }),
                expected: json!({ "moves": rounds, "totals": played.totals }),
            });
        }
    }
    matches
}

#[test]
fn every_match_goes_as_axelrod_plays_it() {
    let Some(folder) = tools::require_installed("axelrod", SCRIPT) else {
        return;
    };
    let matches = matches();
    let mut child = Command::new(folder.join("python/bin/python"))
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/axelrod/play.py"
        ))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut into = child.stdin.take().unwrap();
    let lines: String = matches
        .iter()
        .map(|asked| format!("{}\n", asked.question))
        .collect();
    // Answers come while questions are still being written.
    let writing = std::thread::spawn(move || into.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = answers
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), matches.len());
    for (asked, answer) in matches.iter().zip(&answers) {
        assert_eq!(answer, &asked.expected, "{:?}", asked.names);
    }
}
