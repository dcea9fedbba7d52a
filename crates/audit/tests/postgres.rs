//! Leagues that move between files and databases, and what a dump of a database holds.
// The clusters are reached by sockets of Unix.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_audit::backup::{backup, move_to};
use matchday_audit::transfer::{archive, copy_league};
use matchday_audit::verify::verify_file;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::Timestamp;
use matchday_store::checkpoint_keys::CheckpointKeys;
use matchday_store::{Location, NO_LEAGUE, Store};
use matchday_testkit::event_lines::{append, flush, line, numbers, silence, stream};
use matchday_testkit::postgres::Cluster;

#[test]
fn a_league_moves_between_file_and_database_byte_for_byte() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let back = folder.path().join("b.db");
    let store = Store::open(&file).unwrap();
    append(&store, "league", (0..50).map(line).collect()).unwrap();
    append(&store, "referee/8001", (0..30).map(line).collect()).unwrap();
    store.record(silence());
    flush(&store).unwrap();
    let address = cluster.database();
    let database = Store::open(address.as_str()).unwrap().in_league(7);
    copy_league(&store.reader().unwrap(), &database).unwrap();
    // While it is open, and so may be played.
    archive(&Location::latest(address.as_str()), &back, |_| true).unwrap();
    let copy = Store::open(&back).unwrap();
    for name in ["league", "referee/8001"] {
        assert_eq!(
            database.load(&stream(name)).unwrap(),
            store.load(&stream(name)).unwrap()
        );
        assert_eq!(
            copy.load(&stream(name)).unwrap(),
            store.load(&stream(name)).unwrap()
        );
    }
    assert_eq!(
        copy.reader().unwrap().exchanges().unwrap(),
        store.reader().unwrap().exchanges().unwrap()
    );
    let whole = folder.path().join("whole.db");
    backup(&address.as_str().into(), &whole).unwrap();
    assert_eq!(
        Store::open(&whole)
            .unwrap()
            .load(&stream("league"))
            .unwrap()
            .len(),
        50
    );
}

#[test]
fn a_whole_service_moves_into_a_database_and_back_with_its_keys_and_seats() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let due = Some(Timestamp::from_micros(7));
    let store = Store::open(file("service.db")).unwrap();
    append(&store.in_league(NO_LEAGUE), "service", vec![line(0)]).unwrap();
    append(&store.in_league(3), "league", (0..50).map(line).collect()).unwrap();
    store.in_league(3).set_wake_at(due);
    let mut entropy = Entropy::numbered(1);
    let mut key_of = |store: &Store| {
        let keys = CheckpointKeys::of(store, &mut entropy).unwrap();
        keys.newest().unwrap().public_key()
    };
    let key = key_of(&store);
    store.close().unwrap();
    let seats = Store::open(file("service-seats.db")).unwrap();
    append(&seats.in_league(3), "player/seat-1", vec![line(5)]).unwrap();
    seats.close().unwrap();

    let address = cluster.database();
    move_to(&file("service.db").into(), &address.as_str().into()).unwrap();
    let database = Store::open(address.as_str()).unwrap();
    let league = database.in_league(3);
    let private = league.private();
    assert_eq!(numbers(&league, "league"), (0..50).collect::<Vec<_>>());
    assert_eq!(database.league_states().unwrap()[0].wake_at, due);
    assert_eq!(
        (numbers(&private, "player/seat-1"), key_of(&private)),
        (vec![5], key)
    );
    let in_use = move_to(&address.as_str().into(), &file("back.db").into()).unwrap_err();
    assert!(in_use.to_string().contains("in use by another"), "{in_use}");
    drop((database, league, private));

    move_to(&address.as_str().into(), &file("back.db").into()).unwrap();
    let back = Store::open(file("back.db")).unwrap();
    assert_eq!(numbers(&back.in_league(3), "league").len(), 50);
    assert_eq!(back.league_states().unwrap()[0].wake_at, due);
    assert_eq!(key_of(&back), key);
    let seats = Store::open(file("back-seats.db")).unwrap();
    assert_eq!(numbers(&seats.in_league(3), "player/seat-1"), [5]);
    let full = move_to(&file("service.db").into(), &address.as_str().into()).unwrap_err();
    assert!(full.to_string().contains("holds events already"), "{full}");
}

#[test]
fn a_dump_that_was_restored_holds_every_event() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = cluster.database();
    let store = Store::open(address.as_str()).unwrap();
    append(&store, "player/8101", (0..20).map(line).collect()).unwrap();
    store.close().unwrap();
    let socket = cluster.socket().display().to_string();
    let dump = cluster.socket().join("dump.sql").display().to_string();
    cluster.run(
        "pg_dump",
        &["-h", &socket, "-U", "matchday", "-f", &dump, "t0"],
    );
    let restored = cluster.database();
    cluster.run(
        "psql",
        &[
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            &socket,
            "-U",
            "matchday",
            "-d",
            "t1",
            "-f",
            &dump,
        ],
    );
    let again = Store::open(restored.as_str()).unwrap();
    assert_eq!(numbers(&again, "player/8101"), (0..20).collect::<Vec<_>>());
    assert_eq!(
        verify_file(restored.as_str()).unwrap().streams,
        verify_file(address.as_str()).unwrap().streams
    );
}
