//! Leagues that move between files and databases, and what a dump of a database holds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use matchday_audit::backup::backup;
use matchday_audit::transfer::{archive, copy_league};
use matchday_audit::verify::verify_file;
use matchday_store::{Location, Store};
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
