//! A league of each format, over HTTP, with players that know nothing of formats.

use crate::program::Program;
use serde_json::Value;

fn league_of(more: &[&str]) -> (Program, Value) {
    let program = Program::new();
    let ran = program
        .league(&[&["--json", "--seed", "7"], more].concat())
        .json();
    assert_eq!(
        (&ran["completed"], &ran["technical_losses"]),
        (&true.into(), &0.into()),
        "{ran}"
    );
    let found = program.run(&["verify", "league.db", "--json"]).json();
    assert_eq!(found["fault"], Value::Null, "{found}");
    assert_eq!(ran["champion"], found["champion"]);
    (program, ran)
}

#[test]
fn a_double_round_robin_is_played() {
    let (_, ran) = league_of(&["--format", "double_round_robin", "--players", "3"]);
    assert_eq!((&ran["rounds"], &ran["matches"]), (&6.into(), &6.into()));
}

#[test]
fn a_swiss_league_is_played_with_its_own_tie_breaks() {
    let tie_breaks = "buchholz,sonneborn_berger,lots";
    let (_, ran) = league_of(&[
        "--format",
        "swiss",
        "--players",
        "7",
        "--tie-breaks",
        tie_breaks,
    ]);
    // Three rounds of three matches, and a bye in each, which counts as a win.
    assert_eq!((&ran["rounds"], &ran["matches"]), (&3.into(), &9.into()));
    let played = ran["standings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["played"].as_u64().unwrap());
    assert!(played.into_iter().all(|played| played == 3), "{ran}");
}

#[test]
fn a_knockout_is_played_and_its_rounds_are_named() {
    let program = Program::new();
    let ran = program.league(&[
        "--seed",
        "7",
        "--format",
        "knockout",
        "--players",
        "6",
        "--third-place",
    ]);
    assert!(
        ran.out.contains(", format knockout, the manager at"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("(Quarterfinals)"), "{}", ran.out);
    assert!(ran.out.contains("(Final and third place"), "{}", ran.out);
    let verified = program.run(&["verify", "league.db"]);
    assert!(
        verified.out.contains("Verified: no contradictions."),
        "{}",
        verified.out
    );
    let events = program.run(&["replay", "league.db"]).out;
    assert!(
        events.contains("drawn: Quarterfinals, 2 matches, bye: P01, P02"),
        "{events}"
    );
}

#[test]
fn groups_and_a_knockout_are_played_as_the_best_of_three() {
    let format = [
        "--format",
        "groups_knockout",
        "--players",
        "6",
        "--groups",
        "2",
    ];
    let (_, ran) = league_of(
        &[
            &format[..],
            &["--qualifiers", "1", "--matches-per-pairing", "3"],
        ]
        .concat(),
    );
    // Three rounds in each group of three, three games each; then the final, of two games at least.
    assert!(ran["rounds"].as_u64().unwrap() >= 11, "{ran}");
    let first = &ran["standings"][0];
    assert!(
        first["reason"]
            .as_str()
            .unwrap()
            .ends_with("on stage reached"),
        "{first}"
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_begins() {
    let refused = |words: &[&str]| {
        let program = Program::new();
        let ran = program.run(&[&["run", "--port-base", "0"], words].concat());
        assert_eq!((ran.code, program.files()), (2, Vec::new()), "{}", ran.err);
        ran.err
    };
    let said = refused(&["--format", "swiss", "--rounds", "9", "--players", "8"]);
    assert!(
        said.contains("--rounds: 8 players can play 1 to 7 rounds"),
        "{said}"
    );
    let said = refused(&["--groups", "2"]);
    assert!(
        said.contains("--groups: round_robin has no such setting; it goes with groups_knockout"),
        "{said}"
    );
    let said = refused(&["--format", "pyramid"]);
    assert!(
        said.contains("expected round_robin or double_round_robin or swiss"),
        "{said}"
    );
}
