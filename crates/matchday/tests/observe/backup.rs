//! A copy of a league that is being played, and going on from it.

use crate::page::{Played, address, get};
use matchday_testkit::cli::Cli;
use std::fs;

#[test]
fn a_league_goes_on_from_a_copy_that_was_made_while_it_ran() {
    let mut played = Played::new();
    let done = played
        .cli
        .run(&["backup", "matchday.db", "--to", "copy.db"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        done.out
            .contains("matchday.db is copied to copy.db and checked: "),
        "{done:?}"
    );
    let before = played.cli.ask(&["standings", "--json"]).json();
    played.manager.signal("TERM");
    assert!(played.manager.wait().success());
    // As `deploy/backup` does: with another key nobody could tell whether the manager is the same.
    let folder = played.cli.path();
    fs::copy(
        folder.join("matchday.db.checkpoint-keys"),
        folder.join("copy.db.checkpoint-keys"),
    )
    .unwrap();
    let again = played.cli.manager(&["--store", "copy.db"]);
    assert_eq!(get(&address(&again), "/health/ready").status, 200);
    assert_eq!(
        played.cli.ask(&["standings", "--json"]).json()["standings"],
        before["standings"]
    );
    assert_eq!(played.cli.run(&["verify", "copy.db"]).code, 0);
}

#[test]
fn a_copy_is_refused_where_it_would_harm_or_there_is_nothing_to_copy() {
    let cli = Cli::new(crate::MATCHDAY);
    let missing = cli.run(&["backup", "none.db", "--to", "copy.db"]);
    assert!(
        missing.failed(1).contains("none.db does not exist"),
        "{missing:?}"
    );
    let _manager = cli.manager(&[]);
    let over = cli.run(&["backup", "matchday.db", "--to", "matchday.db"]);
    assert!(
        over.failed(1).contains("matchday.db exists already"),
        "{over:?}"
    );
    let nowhere = cli.run(&["backup", "matchday.db", "--to", "nowhere/copy.db"]);
    assert!(nowhere.failed(1).contains("does not exist"), "{nowhere:?}");
    assert_eq!(cli.run(&["backup", "matchday.db"]).code, 2);
}
