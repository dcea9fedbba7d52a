//! Reports of stored leagues, as files.

use matchday_testkit::cli::{Cli, Output};
use matchday_testkit::tamper::tamper;
use std::fs;

/// A league in one store.
fn played(cli: &Cli) {
    let league = [
        "run",
        "--port-base",
        "0",
        "--store",
        "league.db",
        "--players",
        "3",
        "--json",
    ];
    let done = cli.run(&league);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        done.json()["luck"]
            .as_str()
            .unwrap()
            .contains(": random players produce a table like this "),
        "the luck meter: {done:?}"
    );
}

fn report(cli: &Cli, more: &[&str]) -> Output {
    cli.run(&[&["report", "league.db"], more].concat())
}

#[test]
fn a_page_is_written_and_not_over_another_file_unless_that_is_wanted() {
    let cli = Cli::new(crate::MATCHDAY);
    played(&cli);
    let first = report(&cli, &[]);
    assert_eq!(
        (first.code, first.out.trim()),
        (0, "report.html"),
        "{first:?}"
    );
    let page = fs::read_to_string(cli.path().join("report.html")).unwrap();
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains(">Verified<"),
        "{page}"
    );
    let refused = report(&cli, &[]);
    assert_eq!(
        refused.failed(2),
        "report.html exists already - overwrite it with --force, or name another file with --out"
    );
    assert_eq!(report(&cli, &["--force"]).code, 0);
    let again = fs::read_to_string(cli.path().join("report.html")).unwrap();
    assert!(page == again, "the same store gives the same page");
}

#[test]
fn every_format_tells_of_every_player() {
    let cli = Cli::new(crate::MATCHDAY);
    played(&cli);
    for format in ["html", "csv", "json", "md"] {
        let told = report(&cli, &["--format", format, "--out", "-"]);
        assert_eq!(told.code, 0, "{told:?}");
        assert!(
            ["P01", "P02", "P03"]
                .iter()
                .all(|player| told.out.contains(player)),
            "{format}: {}",
            told.out
        );
    }
    let data = report(&cli, &["--format", "json", "--out", "-"]).json();
    assert_eq!(data["matches_decided"], 3);
    assert_eq!(data["verification"]["passed"], true);
    let csv = report(&cli, &["--format", "csv", "--out", "-"]).out;
    assert_eq!(csv.lines().count(), 1 + 3, "{csv}");
}

#[test]
fn a_store_that_was_changed_is_reported_as_such_and_the_command_fails() {
    let cli = Cli::new(crate::MATCHDAY);
    played(&cli);
    let changed =
        "UPDATE events SET line = replace(line, '\"Ada\"', '\"Eda\"') WHERE stream = 'league'";
    assert!(tamper(&cli.path().join("league.db"), changed) > 0);
    let told = report(&cli, &["--format", "md", "--out", "-"]);
    assert!(
        told.out.contains("**FAILED.** Verification failed: event "),
        "{told:?}"
    );
    assert!(
        told.failed(1).starts_with("Verification failed: event "),
        "{told:?}"
    );
}

#[test]
fn what_is_no_league_is_refused_with_what_to_do() {
    let cli = Cli::new(crate::MATCHDAY);
    let missing = report(&cli, &[]);
    assert!(missing.failed(1).contains("league.db"), "{missing:?}");
    assert!(
        !cli.path().join("report.html").exists(),
        "nothing is left behind"
    );
}
