//! What can be made of the file that a league leaves.

use crate::program::Program;
use matchday_testkit::tamper::tamper;
use rusqlite::Connection;

#[test]
fn a_file_that_was_tampered_with_fails_and_the_event_is_named() {
    let program = Program::new();
    program.league(&["--quiet"]);
    let db = Connection::open(program.path("league.db")).unwrap();
    let decided = "stream = 'league' AND line LIKE '%\"match_decided\"%'";
    let seq: i64 = db
        .query_row(
            &format!("SELECT max(seq) FROM events WHERE {decided}"),
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(db);
    let swapped = "replace(line, '\"winner\":', '\"Winner\":')";
    let swap =
        format!("UPDATE events SET line = {swapped} WHERE stream = 'league' AND seq = {seq}");
    assert_eq!(tamper(&program.path("league.db"), &swap), 1);
    let ran = program.run(&["verify", "league.db"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(
        ran.out.contains("CONTRADICTION") && ran.out.contains(&format!("event {seq}")),
        "{}",
        ran.out
    );
    let found = program.run(&["verify", "league.db", "--json"]);
    assert_eq!(
        (found.code, &found.json()["fault"]["seq"]),
        (1, &seq.into())
    );
}

#[test]
fn a_match_is_replayed_message_by_message() {
    let program = Program::new();
    program.league(&["--quiet"]);
    let ran = program.run(&["replay", "league.db", "--match", "r1m1"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for kind in [
        "GAME_INVITATION",
        "CHOOSE_PARITY_CALL",
        "GAME_OVER",
        "MATCH_RESULT_REPORT",
    ] {
        assert!(ran.out.contains(kind), "{kind}: {}", ran.out);
    }
    assert_eq!(program.run(&["replay", "league.db"]).code, 0);
}

#[test]
fn an_exchange_is_told_once_and_beside_it_what_the_player_made_of_it() {
    let program = Program::new();
    program.league(&["--quiet"]);
    let told = program.run(&["replay", "league.db", "--match", "R1M1"]).out;
    assert_eq!(told.matches("CHOOSE_PARITY_CALL").count(), 2, "{told}");
    assert!(
        told.contains("P01 joins R1M1") && told.contains("P01 chooses"),
        "{told}"
    );
}

#[test]
fn verify_compares_what_every_agent_wrote_down() {
    let program = Program::new();
    program.league(&["--quiet"]);
    let found = program.run(&["verify", "league.db", "--json"]).json();
    assert_eq!(
        (
            &found["referees"]["results"],
            &found["referees"]["agreeing"]
        ),
        (&6.into(), &6.into())
    );
    assert_eq!(
        (&found["players"]["results"], &found["players"]["agreeing"]),
        (&12.into(), &12.into())
    );
    assert_eq!(found["not_checked"], serde_json::json!([]));
}

#[test]
fn without_exchanges_a_league_verifies_all_the_same() {
    let program = Program::new();
    program.league(&["--quiet", "--exchanges", "off"]);
    assert_eq!(program.run(&["verify", "league.db"]).code, 0);
    let replayed = program.run(&["replay", "league.db", "--match", "R1M1"]);
    assert_eq!(replayed.code, 0);
    assert!(
        !replayed.out.contains("GAME_INVITATION"),
        "{}",
        replayed.out
    );
    assert!(
        replayed.out.contains("No messages of this match were kept"),
        "{}",
        replayed.out
    );
}

#[test]
fn a_league_is_exported_as_files() {
    let program = Program::new();
    program.league(&["--quiet"]);
    let ran = program.run(&["export", "league.db", "--out", "files"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("6 matches written to files"),
        "{}",
        ran.out
    );
    let players = std::fs::read_to_string(program.path("files/players.csv")).unwrap();
    assert_eq!(players.lines().count(), 5, "{players}");
    for file in [
        "files/events.jsonl",
        "files/matches.csv",
        "files/matches/R3M2.json",
    ] {
        assert!(program.path(file).is_file(), "{file}");
    }
    let again = program.run(&["export", "league.db", "--out", "files"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("files is not empty"), "{}", again.err);
}

#[test]
fn a_file_that_is_not_there_or_a_match_that_is_not_in_it_is_one_clear_line() {
    let program = Program::new();
    program.league(&["--quiet"]);
    let cases: &[(&[&str], &str)] = &[
        (&["verify", "none.db"], "none.db does not exist"),
        (&["replay", "none.db"], "none.db does not exist"),
        (
            &["replay", "league.db", "--match", "R9M9"],
            "there is no match R9M9",
        ),
        (
            &["export", "none.db", "--out", "x"],
            "none.db does not exist",
        ),
    ];
    for (words, says) in cases {
        let ran = program.run(words);
        assert_eq!(ran.code, 1, "{words:?}");
        assert!(ran.err.contains(says), "{words:?}: {}", ran.err);
        assert_eq!(ran.err.trim_end().lines().count(), 1, "{}", ran.err);
    }
}
