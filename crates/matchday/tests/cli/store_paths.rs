//! One store under several paths: symbolic links, hard links, a lock file that was removed. Whatever path is named, there is
//! one writer, and readers see all that is stored.

use matchday_store::Store;
use matchday_testkit::cli::{Cli, Process};
use matchday_testkit::tamper::tamper;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;

/// A store in a directory of its own, and a symbolic link to it where the commands run.
fn symlinked(cli: &Cli) {
    fs::create_dir(cli.path().join("disk")).unwrap();
    Store::open(cli.path().join("disk/real.db"))
        .unwrap()
        .close()
        .unwrap();
    symlink("disk/real.db", cli.path().join("link.db")).unwrap();
}

fn play(cli: &Cli) {
    let _agents = cli.agents(1, 2);
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
}

fn kill(mut manager: Process) {
    manager.signal("KILL");
    manager.wait();
}

fn verified(cli: &Cli, file: &str) -> Value {
    let done = cli.run(&["verify", file, "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    done.json()
}

/// A second manager is refused with these words.
fn assert_refused(cli: &Cli, file: &str, words: &str) {
    let mut second = cli.start(&["manager", "--listen", "127.0.0.1:0", "--store", file]);
    second.until(words);
    assert_eq!(
        second.wait().code(),
        Some(1),
        "{}{}",
        second.out(),
        second.err()
    );
}

#[test]
fn a_finished_league_on_a_symlinked_store_survives_kill_9() {
    let cli = Cli::new(crate::MATCHDAY);
    symlinked(&cli);
    let manager = cli.manager(&["--store", "link.db", "--lead", "0"]);
    play(&cli);
    let before = cli.ask(&["standings", "--json"]).json()["standings"].clone();
    kill(manager);
    assert_eq!(verified(&cli, "link.db")["matches"], 1);
    let _again = cli.manager(&["--store", "link.db"]);
    assert_eq!(cli.ask(&["status", "--json"]).json()["status"], "completed");
    assert_eq!(
        cli.ask(&["standings", "--json"]).json()["standings"],
        before
    );
}

#[test]
fn a_store_that_a_dangling_symlink_names_is_made_where_the_link_points() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::create_dir(cli.path().join("disk")).unwrap();
    symlink("disk/real.db", cli.path().join("link.db")).unwrap();
    let mut manager = cli.manager(&["--store", "link.db"]);
    manager.signal("TERM");
    assert!(manager.wait().success());
    assert!(
        fs::symlink_metadata(cli.path().join("link.db"))
            .unwrap()
            .is_symlink()
    );
    assert!(cli.path().join("disk/real.db").is_file());
}

#[test]
fn a_second_manager_by_a_symbolic_link_is_refused() {
    let cli = Cli::new(crate::MATCHDAY);
    symlinked(&cli);
    let _first = cli.manager(&["--store", "disk/real.db"]);
    assert_refused(
        &cli,
        "link.db",
        "link.db is in use by another Matchday (process ",
    );
}

#[test]
fn a_second_manager_by_a_hard_link_is_refused() {
    let cli = Cli::new(crate::MATCHDAY);
    let _first = cli.manager(&["--store", "one.db"]);
    fs::hard_link(cli.path().join("one.db"), cli.path().join("two.db")).unwrap();
    assert_refused(&cli, "two.db", "two.db has 2 names (hard links)");
}

#[test]
fn a_second_manager_is_refused_after_the_lock_file_was_removed() {
    let cli = Cli::new(crate::MATCHDAY);
    let _first = cli.manager(&["--store", "one.db"]);
    fs::remove_file(cli.path().join("one.db.lock")).unwrap();
    assert_refused(
        &cli,
        "one.db",
        "one.db is in use by another Matchday: stop that one first",
    );
}

#[test]
fn a_manager_goes_on_with_a_store_that_was_hard_linked_while_it_ran() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--store", "one.db", "--lead", "0"]);
    play(&cli);
    fs::hard_link(cli.path().join("one.db"), cli.path().join("two.db")).unwrap();
    kill(manager);
    let _again = cli.manager(&["--store", "one.db"]);
    assert_eq!(cli.ask(&["status", "--json"]).json()["status"], "completed");
}

#[test]
fn a_store_in_use_is_not_read_by_a_name_beside_which_its_log_does_not_lie() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--store", "one.db"]);
    fs::hard_link(cli.path().join("one.db"), cli.path().join("two.db")).unwrap();
    let read = cli.run(&["verify", "two.db"]);
    assert!(
        read.failed(1).contains("two.db has 2 names (hard links)"),
        "{read:?}"
    );
    let copied = cli.run(&["backup", "two.db", "--to", "copy.db"]);
    assert!(
        copied.failed(1).contains("two.db has 2 names (hard links)"),
        "{copied:?}"
    );

    fs::remove_file(cli.path().join("two.db")).unwrap();
    fs::rename(cli.path().join("one.db"), cli.path().join("moved.db")).unwrap();
    let moved = cli.run(&["verify", "moved.db"]);
    assert!(
        moved
            .failed(1)
            .contains("moved.db is in use under another name"),
        "{moved:?}"
    );
}

#[test]
fn a_copy_by_a_symbolic_link_of_a_store_in_use_holds_every_event() {
    let cli = Cli::new(crate::MATCHDAY);
    symlinked(&cli);
    let _manager = cli.manager(&["--store", "disk/real.db", "--lead", "0"]);
    play(&cli);
    let done = cli.run(&["backup", "link.db", "--to", "copy.db"]);
    assert_eq!(done.code, 0, "{done:?}");
    let copied = verified(&cli, "copy.db");
    let kept = verified(&cli, "disk/real.db");
    assert_eq!(
        (&copied["events"], &copied["head"]),
        (&kept["events"], &kept["head"])
    );
    assert_eq!(copied["matches"], 1);
}

#[test]
fn a_store_with_wrong_content_is_copied_whole_and_the_fault_is_named() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&["run", "--port-base", "0", "--store", "league.db", "--quiet"]);
    assert_eq!(done.code, 0, "{done:?}");
    let store = cli.path().join("league.db");
    tamper(
        &store,
        "UPDATE events SET hash = zeroblob(32) WHERE stream = 'league' AND seq = 9",
    );
    let copied = cli.run(&["backup", "league.db", "--to", "copy.db"]);
    let said = copied.failed(1);
    assert!(
        said.contains("league.db is copied to copy.db, every event as it is"),
        "{copied:?}"
    );
    assert!(said.contains("event 9 of league"), "{copied:?}");
    let copy = cli.run(&["verify", "copy.db"]);
    let original = cli.run(&["verify", "league.db"]);
    assert_eq!((copy.code, &copy.out), (1, &original.out));
    let json = cli.run(&["backup", "league.db", "--to", "another.db", "--json"]);
    assert!(
        json.json()["fault"]["seq"] == 9 && json.code == 1,
        "{json:?}"
    );
}
