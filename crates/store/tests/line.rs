//! What nobody waits for: it is in line at once, in order, and stored soon and in groups.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::Timestamp;
use matchday_store::{Batch, Durability, Queued, Store};
use matchday_testkit::event_lines::{append, flush, line, numbers, silence, stream, until};
use std::path::Path;
use std::sync::mpsc;

fn leave(store: &Store, name: &str, number: usize, durability: Durability) -> Queued {
    let lines = vec![line(number)];
    let then = Box::new(|_: Result<(), _>| {});
    store.append(Batch {
        at: Timestamp::EPOCH,
        stream: stream(name),
        lines,
        durability,
        awaited: false,
        then,
    })
}

/// Waits as someone does who has nothing to store.
fn wait(store: &Store) {
    let (tell, told) = mpsc::channel();
    let then = Box::new(move |verdict: Result<(), _>| tell.send(verdict.is_ok()).unwrap());
    store.append(Batch {
        at: Timestamp::EPOCH,
        stream: stream("player/2"),
        lines: Vec::new(),
        durability: Durability::Written,
        awaited: true,
        then,
    });
    assert!(told.recv().unwrap());
}

/// Nothing can be written to the store until this is dropped.
fn locked(path: &Path) -> rusqlite::Connection {
    let db = rusqlite::Connection::open(path).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    db
}

#[test]
fn whoever_else_has_the_file_for_a_moment_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let lock = locked(&path);
    let writer = store.clone();
    let writing = std::thread::spawn(move || append(&writer, "league", vec![line(0)]));
    until(&store, |stats| stats.queue_depth == 1);
    assert_eq!((store.stats().queue_depth, store.stats().commits), (1, 0));
    drop(lock);
    writing.join().unwrap().unwrap();
}

#[test]
fn what_nobody_waits_for_shares_a_commit_with_what_comes_in_the_next_moments() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("league.db")).unwrap();
    for number in 0..100 {
        leave(&store, "player/1", number, Durability::Written);
    }
    wait(&store);
    assert_eq!(numbers(&store, "player/1"), (0..100).collect::<Vec<_>>());
    assert!(store.stats().commits < 50, "{}", store.stats().commits);
}

#[test]
fn what_nobody_waits_for_is_stored_soon_though_nothing_else_comes() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("league.db")).unwrap();
    leave(&store, "player/1", 0, Durability::Written);
    until(&store, |stats| stats.events != 0);
    assert_eq!(numbers(&store, "player/1"), [0]);
}

#[test]
fn what_nobody_waits_for_is_not_forgotten_if_it_came_while_someone_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let lock = locked(&path);
    let writer = store.clone();
    let writing = std::thread::spawn(move || append(&writer, "league", vec![line(0)]));
    until(&store, |stats| stats.queue_depth == 1);
    leave(&store, "player/1", 0, Durability::Written);
    drop(lock);
    writing.join().unwrap().unwrap();
    until(&store, |stats| stats.events >= 2);
    assert_eq!(store.stats().events, 2);
}

#[test]
fn whoever_waits_is_told_when_all_before_it_is_written_and_on_disk_where_it_must_be() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("league.db")).unwrap();
    leave(&store, "player/1", 0, Durability::Written);
    wait(&store);
    assert_eq!(
        (store.stats().events, store.stats().syncs),
        (1, 0),
        "this need not be on disk"
    );
    leave(&store, "league", 0, Durability::Fsynced);
    wait(&store);
    assert_eq!((store.stats().events, store.stats().syncs), (2, 1));
    leave(&store, "league", 1, Durability::Fsynced);
    until(&store, |stats| stats.events >= 3);
    wait(&store);
    assert_eq!(
        store.stats().syncs,
        2,
        "also if it was written before anyone came"
    );
}

#[test]
fn once_too_much_is_in_line_nothing_must_follow_from_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let lock = locked(&path);
    let in_order = (0..5000).take_while(|number| {
        leave(&store, "player/1", *number, Durability::Written) == Queued::InOrder
    });
    let many = in_order.count();
    assert!((500..1500).contains(&many), "{many}");
    drop(lock);
    wait(&store);
    assert_eq!(
        leave(&store, "player/1", many + 1, Durability::Written),
        Queued::InOrder
    );
    store.close().unwrap();
    let stored = Store::open_read_only(&path)
        .unwrap()
        .load(&stream("player/1"))
        .unwrap();
    assert_eq!(stored.len(), many + 2, "nothing is lost by it");
}

#[test]
fn what_was_said_is_stored_soon_though_nobody_asks() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("league.db")).unwrap();
    store.record(silence());
    until(&store, |stats| stats.exchanges != 0);
    assert_eq!(store.stats().exchanges, 1);
}

#[test]
fn what_was_said_is_on_disk_when_all_that_was_stored_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    (0..500).for_each(|_| store.record(silence()));
    flush(&store).unwrap();
    assert_eq!(
        Store::open_read_only(&path)
            .unwrap()
            .exchanges()
            .unwrap()
            .len(),
        500
    );
    assert!(store.stats().syncs >= 1);
}

#[test]
fn what_was_said_is_stored_when_the_store_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    (0..300).for_each(|_| store.record(silence()));
    store.close().unwrap();
    assert_eq!(
        Store::open_read_only(&path)
            .unwrap()
            .exchanges()
            .unwrap()
            .len(),
        300
    );
}
