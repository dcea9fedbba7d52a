//! Reports of stored leagues, as files.

use crate::ground::{Done, Ground};
use std::fs;

/// A league in one store.
fn played(ground: &Ground) {
    let league = ["run", "--port-base", "0", "--store", "league.db", "--players", "3", "--json"];
    let done = ground.run(&league);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.json()["luck"].as_str().unwrap().starts_with("This table "), "the luck meter: {done:?}");
}

fn report(ground: &Ground, more: &[&str]) -> Done {
    ground.run(&[&["report", "league.db"], more].concat())
}

#[test]
fn a_page_is_written_and_not_over_another_file_unless_that_is_wanted() {
    let ground = Ground::new();
    played(&ground);
    let first = report(&ground, &[]);
    assert_eq!((first.code, first.out.trim()), (0, "report.html"), "{first:?}");
    let page = fs::read_to_string(ground.path().join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains(">Verified<"), "{page}");
    let refused = report(&ground, &[]);
    assert_eq!(
        refused.failed(2),
        "report.html is there already - write over it with --force, or name another file with --out"
    );
    assert_eq!(report(&ground, &["--force"]).code, 0);
    let again = fs::read_to_string(ground.path().join("report.html")).unwrap();
    assert!(page == again, "the same store gives the same page");
}

#[test]
fn every_format_tells_of_every_player() {
    let ground = Ground::new();
    played(&ground);
    for format in ["html", "csv", "json", "md"] {
        let told = report(&ground, &["--format", format, "--out", "-"]);
        assert_eq!(told.code, 0, "{told:?}");
        assert!(
            ["P01", "P02", "P03"].iter().all(|player| told.out.contains(player)),
            "{format}: {}",
            told.out
        );
    }
    let data = report(&ground, &["--format", "json", "--out", "-"]).json();
    assert_eq!(data["matches_decided"], 3);
    assert_eq!(data["verification"]["passed"], true);
    let csv = report(&ground, &["--format", "csv", "--out", "-"]).out;
    assert_eq!(csv.lines().count(), 1 + 3, "{csv}");
}

#[test]
fn a_store_that_was_changed_is_reported_as_such_and_the_command_fails() {
    let ground = Ground::new();
    played(&ground);
    let store = rusqlite::Connection::open(ground.path().join("league.db")).unwrap();
    store.execute_batch("DROP TRIGGER events_are_never_changed;").unwrap();
    let changed = "UPDATE events SET line = replace(line, 'Player 1', 'Player X') WHERE stream = 'league'";
    assert!(store.execute(changed, []).unwrap() > 0);
    drop(store);
    let told = report(&ground, &["--format", "md", "--out", "-"]);
    assert!(told.out.contains("**FAILED.** This does not fit: event "), "{told:?}");
    assert!(told.failed(1).starts_with("This does not fit: event "), "{told:?}");
}

#[test]
fn what_is_no_league_is_refused_with_what_to_do() {
    let ground = Ground::new();
    let missing = report(&ground, &[]);
    assert!(missing.failed(1).contains("league.db"), "{missing:?}");
    assert!(!ground.path().join("report.html").exists(), "nothing is left behind");
}
