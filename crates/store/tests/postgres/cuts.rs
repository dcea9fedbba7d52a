//! A network that is cut between the store and its database: in the middle of a COMMIT on either side of the server's work, in
//! one direction, and in both.

use matchday_core::driver::Durability;
use matchday_core::protocol::Timestamp;
use matchday_store::{Batch, Store};
use matchday_testkit::cut_proxy::{AtCommit, Direction};
use matchday_testkit::event_lines::{flush, line, numbers, silence, stream, until};
use matchday_testkit::postgres::Cluster;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Appends an event that must be on disk before it is acknowledged.
fn begin(store: &Store, number: usize) -> Receiver<bool> {
    let (tell, told) = mpsc::channel();
    store.append(Batch {
        at: Timestamp::EPOCH,
        stream: stream("league"),
        lines: vec![line(number)],
        durability: Durability::Fsynced,
        awaited: true,
        then: Box::new(move |outcome| tell.send(outcome.is_ok()).unwrap()),
    });
    told
}

fn stored(told: &Receiver<bool>) {
    assert!(
        told.recv_timeout(Duration::from_secs(60))
            .expect("every append is answered")
    );
}

fn events(cluster: &Cluster) -> usize {
    cluster
        .sql("t0", "SELECT count(*) FROM matchday_events")
        .trim()
        .parse()
        .unwrap()
}

/// Cuts the COMMIT of each of several appends, looks what the database holds, and restores the network.
fn survives_cuts(side: AtCommit) {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let proxy = cluster.proxy();
    let store = Store::open(cluster.database_behind(&proxy).as_str()).unwrap();
    stored(&begin(&store, 0));
    for number in 1..=5 {
        // Nothing else of the store's own is left to be committed.
        flush(&store).unwrap();
        proxy.cut_at_commit(side);
        // Both belong to one commit: an exchange that waits longer for an event is stored without it.
        store.record(silence());
        let told = begin(&store, number);
        proxy.until_commit_cuts(number);
        assert!(
            told.try_recv().is_err(),
            "nothing is acknowledged whose outcome is unknown"
        );
        let committed = usize::from(side == AtCommit::After);
        assert_eq!(
            events(&cluster),
            number + committed,
            "the cut was on the side that was asked for"
        );
        proxy.restore();
        stored(&told);
        assert_eq!(events(&cluster), number + 1);
    }
    flush(&store).unwrap();
    assert_eq!(numbers(&store, "league"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(store.reader().unwrap().exchanges().unwrap().len(), 5);
    assert!(store.stats().outages >= 5 && store.unavailable().is_none());
}

#[test]
fn a_commit_that_was_done_and_not_heard_of_is_not_done_twice() {
    survives_cuts(AtCommit::After);
}

#[test]
fn a_commit_that_never_reached_the_database_is_done_again() {
    survives_cuts(AtCommit::Before);
}

/// A connection that goes silent in one direction, and then ends.
fn survives_silence(direction: Direction) {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let proxy = cluster.proxy();
    let store = Store::open(cluster.database_behind(&proxy).as_str()).unwrap();
    stored(&begin(&store, 0));
    proxy.hold(direction);
    let told = begin(&store, 1);
    proxy.until_held(direction);
    assert!(told.try_recv().is_err());
    proxy.cut();
    until(&store, |stats| stats.outages > 0);
    proxy.restore();
    stored(&told);
    assert_eq!(numbers(&store, "league"), [0, 1]);
}

#[test]
fn what_the_database_never_heard_is_stored_once() {
    survives_silence(Direction::ToServer);
}

#[test]
fn what_the_database_answered_to_nobody_is_stored_once() {
    survives_silence(Direction::ToClient);
}

/// The COMMIT of a lost connection is still on its way: what is stored is certain only once it can no longer arrive.
#[test]
fn a_commit_that_arrives_after_its_client_has_come_back_is_not_done_twice() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let proxy = cluster.proxy();
    let store = Store::open(cluster.database_behind(&proxy).as_str()).unwrap();
    stored(&begin(&store, 0));
    proxy.cut_at_commit(AtCommit::Late);
    let told = begin(&store, 1);
    proxy.until_commit_cuts(1);
    let began = Instant::now();
    // The writer has connected again, and waits for the lost transaction.
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = 't0' AND wait_event_type = 'Lock'";
    while cluster.sql("postgres", waiting).trim() == "0" {
        assert!(
            began.elapsed() < Duration::from_secs(8),
            "nobody waits for the lost transaction"
        );
        assert!(
            told.try_recv().is_err(),
            "it was stored beside a transaction that may still commit"
        );
    }
    proxy.restore();
    stored(&told);
    assert_eq!(numbers(&store, "league"), [0, 1]);
}

/// Nothing can be stored, and so nothing sent, while a network is silent: nobody's deadline may pass meanwhile.
#[test]
fn time_stands_still_while_the_database_does_not_answer() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let proxy = cluster.proxy();
    let store = Store::open(cluster.database_behind(&proxy).as_str()).unwrap();
    stored(&begin(&store, 0));
    proxy.hold(Direction::ToClient);
    let told = begin(&store, 1);
    let began = Instant::now();
    until(&store, |_| store.unavailable().is_some());
    assert!(
        told.try_recv().is_err() && store.unavailable().is_some(),
        "{:?}",
        store.unavailable()
    );
    let silent = began.elapsed();
    let stood_still = store.downtime();
    assert!(
        stood_still + Duration::from_millis(1_500) > silent,
        "{stood_still:?} of {silent:?}"
    );
    proxy.restore();
    stored(&told);
    until(&store, |_| store.unavailable().is_none());
    assert!(store.unavailable().is_none() && store.downtime() >= stood_still);
    assert_eq!(numbers(&store, "league"), [0, 1]);
}
