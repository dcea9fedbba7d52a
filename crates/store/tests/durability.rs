//! What was acknowledged lasts, in order, and is committed in groups.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::Timestamp;
use matchday_store::{Batch, Durability, Store, StoreStats};
use matchday_testkit::event_lines::{append, line, numbers, stream, until};
use matchday_testkit::eventually::eventually;
use matchday_testkit::tamper::tamper;
use std::sync::{Arc, Barrier, Mutex, mpsc};

#[test]
fn a_store_goes_on_where_it_was_closed() {
    let dir = tempfile::tempdir().unwrap();
    // Windows allows no question mark in a name.
    let name = if cfg!(windows) { "a b%.db" } else { "a b?%.db" };
    let path = dir.path().join(name);
    for round in 0..3 {
        let store = Store::open(&path).unwrap();
        assert_eq!(
            numbers(&store, "league"),
            (0..round * 2).collect::<Vec<_>>()
        );
        append(&store, "league", vec![line(round * 2), line(round * 2 + 1)]).unwrap();
        append(&store, "player/8101", vec![line(round)]).unwrap();
        store.close().unwrap();
    }
    let reader = Store::open_read_only(&path).unwrap();
    let stored = reader.load(&stream("league")).unwrap();
    assert_eq!(
        stored.iter().map(|event| event.seq).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6]
    );
    assert_eq!(stored[5].line, line(5));
    assert_eq!(stored[5].at.as_micros(), 1_736_937_000_000_005);
    assert_eq!(
        reader.streams().unwrap(),
        [stream("league"), stream("player/8101")]
    );
    let mut left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, [name], "nothing is left beside it");
}

#[cfg(unix)]
#[test]
fn a_store_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append(&store, "league", vec![line(0)]).unwrap();
    for file in ["league.db", "league.db-wal"] {
        let mode = dir
            .path()
            .join(file)
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{file}");
    }
}

#[test]
fn an_open_store_can_be_read_by_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append(&store, "league", vec![line(0)]).unwrap();
    let early = Store::open_read_only(&path).unwrap();
    append(&store, "league", vec![line(1)]).unwrap();
    assert_eq!(
        early.load(&stream("league")).unwrap().len(),
        1,
        "as it was when it was opened"
    );
    assert_eq!(
        Store::open_read_only(&path)
            .unwrap()
            .load(&stream("league"))
            .unwrap()
            .len(),
        2
    );
    append(&store, "league", vec![line(2)]).unwrap();
    store.close().unwrap();
}

#[test]
fn everyone_is_told_in_the_order_of_asking_also_those_with_nothing_to_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("league.db")).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    for number in 0..500 {
        let told = told.clone();
        let lines = if number % 3 == 0 {
            Vec::new()
        } else {
            vec![line(number)]
        };
        let then = Box::new(move |verdict: Result<(), _>| {
            verdict.unwrap();
            told.lock().unwrap().push(number);
        });
        store.append(Batch {
            at: Timestamp::EPOCH,
            stream: stream("league"),
            lines,
            durability: Durability::Fsynced,
            awaited: true,
            then,
        });
    }
    store.close().unwrap();
    assert_eq!(*told.lock().unwrap(), (0..500).collect::<Vec<_>>());
}

#[test]
fn what_can_wait_is_acknowledged_at_once_and_brought_to_disk_when_the_store_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let (tell, told) = mpsc::channel();
    let then = Box::new(move |verdict: Result<(), _>| tell.send(verdict.is_ok()).unwrap());
    store.append(Batch {
        at: Timestamp::EPOCH,
        stream: stream("player/1"),
        lines: vec![line(0)],
        durability: Durability::Written,
        awaited: true,
        then,
    });
    assert!(told.recv().unwrap());
    let seen = store.clone();
    store.close().unwrap();
    assert_eq!(seen.stats().syncs, 1);
    assert_eq!(
        Store::open_read_only(&path)
            .unwrap()
            .load(&stream("player/1"))
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn what_can_wait_is_told_after_what_cannot_of_its_own_stream() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("league.db")).unwrap();
    let (tell, told) = mpsc::channel();
    for number in 0..200 {
        let tell = tell.clone();
        let then = Box::new(move |_| tell.send(number).unwrap());
        let lines = vec![line(number)];
        let durability = if number % 3 != 0 {
            Durability::Written
        } else {
            Durability::Fsynced
        };
        store.append(Batch {
            at: Timestamp::EPOCH,
            stream: stream("player/1"),
            lines,
            durability,
            awaited: true,
            then,
        });
    }
    assert_eq!(
        told.iter().take(200).collect::<Vec<_>>(),
        (0..200).collect::<Vec<_>>()
    );
}

#[test]
fn what_can_wait_is_brought_to_disk_soon_though_nothing_else_comes() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("league.db")).unwrap();
    let then = Box::new(|_: Result<(), _>| {});
    let lines = vec![line(0)];
    store.append(Batch {
        at: Timestamp::EPOCH,
        stream: stream("player/1"),
        lines,
        durability: Durability::Written,
        awaited: true,
        then,
    });
    until(&store, |stats| stats.syncs != 0);
    assert_eq!(store.stats().syncs, 1);
}

#[test]
fn a_long_log_is_copied_into_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let large = |number: usize| {
        let event = serde_json::json!({"number": number, "words": "x".repeat(1 << 20)});
        matchday_core::event_codec::encode(matchday_testkit::event_lines::BEGIN, &event).unwrap()
    };
    for number in 0..70 {
        append(&store, "league", vec![large(number)]).unwrap();
    }
    let size = |name: &str| dir.path().join(name).metadata().unwrap().len();
    eventually("the log is folded into the store", || {
        let bytes = size("league.db");
        if bytes >= 60 << 20 {
            Ok(())
        } else {
            Err(bytes)
        }
    });
    for number in 70..90 {
        append(&store, "league", vec![large(number)]).unwrap();
    }
    assert!(
        size("league.db-wal") < 85 << 20,
        "what was copied is written over: {}",
        size("league.db-wal")
    );
    assert_eq!(numbers(&store, "league"), (0..90).collect::<Vec<_>>());
}

#[test]
fn what_is_acknowledged_is_durable_by_then() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let (tell, told) = mpsc::channel();
    let look = path.clone();
    let then = Box::new(move |_| {
        let seen = Store::open_read_only(&look)
            .unwrap()
            .load(&stream("league"))
            .unwrap();
        tell.send(seen.len()).unwrap();
    });
    store.append(Batch {
        at: Timestamp::EPOCH,
        stream: stream("league"),
        lines: vec![line(0)],
        durability: Durability::Fsynced,
        awaited: true,
        then,
    });
    assert_eq!(told.recv().unwrap(), 1);
}

#[test]
fn many_who_ask_at_once_share_a_sync() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("league.db")).unwrap();
    let threads = 16;
    let each = 50;
    let start = Barrier::new(threads);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let store = store.clone();
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for number in 0..each {
                    append(&store, &format!("player/{thread}"), vec![line(number)]).unwrap();
                }
            });
        }
    });
    while store.stats().queue_depth > 0 {
        std::thread::yield_now();
    }
    let StoreStats {
        syncs,
        events,
        batches,
        ..
    } = store.stats();
    assert_eq!((events, batches), (800, 800));
    assert!(syncs <= 400, "{syncs} syncs for 800 batches");
    for thread in 0..threads {
        assert_eq!(
            numbers(&store, &format!("player/{thread}")),
            (0..each).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_panic_in_a_then_harms_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("league.db")).unwrap();
    let then = Box::new(|_| panic!("on purpose"));
    store.append(Batch {
        at: Timestamp::EPOCH,
        stream: stream("league"),
        lines: vec![line(0)],
        durability: Durability::Fsynced,
        awaited: true,
        then,
    });
    append(&store, "league", vec![line(1)]).unwrap();
    store.close().unwrap();
}

#[test]
fn after_closing_everything_fails_and_the_file_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let other = store.clone();
    store.close().unwrap();
    assert_eq!(
        append(&other, "league", vec![line(0)])
            .unwrap_err()
            .to_string(),
        "the store is closed"
    );
    Store::open(&path).unwrap().close().unwrap();
}

#[test]
fn a_handle_that_is_dropped_in_a_then_closes_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let (tell, told) = mpsc::channel();
    let held = store.clone();
    let then = Box::new(move |verdict| {
        drop(held);
        tell.send(verdict).unwrap();
    });
    store.append(Batch {
        at: Timestamp::EPOCH,
        stream: stream("league"),
        lines: vec![line(0)],
        durability: Durability::Fsynced,
        awaited: true,
        then,
    });
    drop(store);
    told.recv().unwrap().unwrap();
}

#[test]
fn a_store_in_memory_agrees_at_once_and_keeps_what_a_file_would() {
    let dir = tempfile::tempdir().unwrap();
    let file = Store::open(dir.path().join("league.db")).unwrap();
    let memory = Store::in_memory().unwrap();
    for store in [&file, &memory] {
        append(store, "player/8101", vec![line(0)]).unwrap();
        append(store, "player/8101", vec![line(1), line(2)]).unwrap();
    }
    assert_eq!(memory.stats().events, 3);
    let player = stream("player/8101");
    assert_eq!(memory.load(&player).unwrap(), file.load(&player).unwrap());
    assert!(memory.load(&stream("league")).unwrap().is_empty());
    let other_handle = memory.clone();
    memory.close().unwrap();
    assert!(
        append(&other_handle, "player/8101", vec![line(3)]).is_err(),
        "it is closed"
    );
    assert_eq!(other_handle.load(&player).unwrap().len(), 3);
}

#[test]
fn events_cannot_be_changed_removed_or_put_in_between() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append(&store, "league", vec![line(0), line(1)]).unwrap();
    store.close().unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    for (statement, why) in [
        (
            "UPDATE events SET line = 'x' WHERE seq = 1",
            "never changed",
        ),
        ("DELETE FROM events WHERE seq = 2", "never removed"),
        (
            "INSERT INTO events VALUES (1, 'league', 2, 0, 'x', x'00')",
            "UNIQUE constraint failed",
        ),
        (
            "INSERT INTO events VALUES (1, 'league', 4, 0, 'x', x'00')",
            "an event before this one is missing",
        ),
    ] {
        let error = db.execute(statement, []).unwrap_err().to_string();
        assert!(error.contains(why), "{statement}: {error}");
    }
}

#[test]
fn a_broken_chain_is_not_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append(&store, "league", vec![line(0), line(1)]).unwrap();
    store.close().unwrap();
    tamper(
        &path,
        "UPDATE events SET line = replace(line, '1', '2') WHERE seq = 2",
    );
    let store = Store::open(&path).unwrap();
    let error = store.load(&stream("league")).unwrap_err().to_string();
    assert!(
        error.contains("damaged (event 2 of league is not what was stored)"),
        "{error}"
    );
}
