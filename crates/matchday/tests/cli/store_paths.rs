//! One store under several paths: symbolic links, hard links, a lock file that was removed. Whatever path is named, there is
//! one writer, and readers see all that is stored.

use crate::ground::{Ground, Running};
use matchday::store::Store;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;

/// A store in a directory of its own, and a symbolic link to it where the commands run.
fn symlinked(ground: &Ground) {
    fs::create_dir(ground.path().join("disk")).unwrap();
    Store::open(&ground.path().join("disk/real.db")).unwrap().close().unwrap();
    symlink("disk/real.db", ground.path().join("link.db")).unwrap();
}

fn play(ground: &Ground) {
    let _agents = ground.agents(1, 2);
    assert_eq!(ground.ask(&["start"]).code, 0);
    ground.until_status("completed");
}

fn kill(mut manager: Running) {
    manager.signal("KILL");
    manager.wait();
}

fn verified(ground: &Ground, file: &str) -> Value {
    let done = ground.run(&["verify", file, "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    done.json()
}

/// A second manager is refused with these words.
fn assert_refused(ground: &Ground, file: &str, words: &str) {
    let mut second = ground.start(&["manager", "--listen", "127.0.0.1:0", "--store", file]);
    second.until(words);
    assert_eq!(second.wait().code(), Some(1), "{}{}", second.out(), second.err());
}

#[test]
fn a_finished_league_on_a_symlinked_store_survives_kill_9() {
    let ground = Ground::new();
    symlinked(&ground);
    let manager = ground.manager(&["--store", "link.db", "--lead", "0"]);
    play(&ground);
    let before = ground.ask(&["standings", "--json"]).json()["standings"].clone();
    kill(manager);
    assert_eq!(verified(&ground, "link.db")["matches"], 1);
    let _again = ground.manager(&["--store", "link.db"]);
    assert_eq!(ground.ask(&["status", "--json"]).json()["status"], "completed");
    assert_eq!(ground.ask(&["standings", "--json"]).json()["standings"], before);
}

#[test]
fn a_store_that_a_dangling_symlink_names_is_made_where_the_link_points() {
    let ground = Ground::new();
    fs::create_dir(ground.path().join("disk")).unwrap();
    symlink("disk/real.db", ground.path().join("link.db")).unwrap();
    let mut manager = ground.manager(&["--store", "link.db"]);
    manager.signal("TERM");
    assert!(manager.wait().success());
    assert!(fs::symlink_metadata(ground.path().join("link.db")).unwrap().is_symlink());
    assert!(ground.path().join("disk/real.db").is_file());
}

#[test]
fn a_second_manager_by_a_symbolic_link_is_refused() {
    let ground = Ground::new();
    symlinked(&ground);
    let _first = ground.manager(&["--store", "disk/real.db"]);
    assert_refused(&ground, "link.db", "link.db is in use by another Matchday (process ");
}

#[test]
fn a_second_manager_by_a_hard_link_is_refused() {
    let ground = Ground::new();
    let _first = ground.manager(&["--store", "one.db"]);
    fs::hard_link(ground.path().join("one.db"), ground.path().join("two.db")).unwrap();
    assert_refused(&ground, "two.db", "two.db has 2 names (hard links)");
}

#[test]
fn a_second_manager_is_refused_after_the_lock_file_was_removed() {
    let ground = Ground::new();
    let _first = ground.manager(&["--store", "one.db"]);
    fs::remove_file(ground.path().join("one.db.lock")).unwrap();
    assert_refused(&ground, "one.db", "one.db is in use by another Matchday: stop that one first");
}

#[test]
fn a_manager_goes_on_with_a_store_that_was_hard_linked_while_it_ran() {
    let ground = Ground::new();
    let manager = ground.manager(&["--store", "one.db", "--lead", "0"]);
    play(&ground);
    fs::hard_link(ground.path().join("one.db"), ground.path().join("two.db")).unwrap();
    kill(manager);
    let _again = ground.manager(&["--store", "one.db"]);
    assert_eq!(ground.ask(&["status", "--json"]).json()["status"], "completed");
}

#[test]
fn a_store_in_use_is_not_read_by_a_name_beside_which_its_log_does_not_lie() {
    let ground = Ground::new();
    let _manager = ground.manager(&["--store", "one.db"]);
    fs::hard_link(ground.path().join("one.db"), ground.path().join("two.db")).unwrap();
    let read = ground.run(&["verify", "two.db"]);
    assert!(read.failed(1).contains("two.db has 2 names (hard links)"), "{read:?}");
    let copied = ground.run(&["backup", "two.db", "--to", "copy.db"]);
    assert!(copied.failed(1).contains("two.db has 2 names (hard links)"), "{copied:?}");

    fs::remove_file(ground.path().join("two.db")).unwrap();
    fs::rename(ground.path().join("one.db"), ground.path().join("moved.db")).unwrap();
    let moved = ground.run(&["verify", "moved.db"]);
    assert!(moved.failed(1).contains("moved.db is in use under another name"), "{moved:?}");
}

#[test]
fn a_copy_by_a_symbolic_link_of_a_store_in_use_holds_every_event() {
    let ground = Ground::new();
    symlinked(&ground);
    let _manager = ground.manager(&["--store", "disk/real.db", "--lead", "0"]);
    play(&ground);
    let done = ground.run(&["backup", "link.db", "--to", "copy.db"]);
    assert_eq!(done.code, 0, "{done:?}");
    let (copied, kept) = (verified(&ground, "copy.db"), verified(&ground, "disk/real.db"));
    assert_eq!((&copied["events"], &copied["head"]), (&kept["events"], &kept["head"]));
    assert_eq!(copied["matches"], 1);
}

#[test]
fn a_store_with_wrong_content_is_copied_whole_and_the_fault_is_named() {
    let ground = Ground::new();
    let done = ground.run(&["run", "--port-base", "0", "--store", "league.db", "--quiet"]);
    assert_eq!(done.code, 0, "{done:?}");
    let db = rusqlite::Connection::open(ground.path().join("league.db")).unwrap();
    db.execute_batch(
        "DROP TRIGGER events_are_never_changed;
         UPDATE events SET hash = zeroblob(32) WHERE stream = 'league' AND seq = 9;",
    )
    .unwrap();
    drop(db);
    let copied = ground.run(&["backup", "league.db", "--to", "copy.db"]);
    let said = copied.failed(1);
    assert!(said.contains("league.db is copied to copy.db, every event as it is"), "{copied:?}");
    assert!(said.contains("event 9 of league"), "{copied:?}");
    let (copy, original) = (ground.run(&["verify", "copy.db"]), ground.run(&["verify", "league.db"]));
    assert_eq!((copy.code, &copy.out), (1, &original.out));
    let json = ground.run(&["backup", "league.db", "--to", "another.db", "--json"]);
    assert!(json.json()["fault"]["seq"] == 9 && json.code == 1, "{json:?}");
}
