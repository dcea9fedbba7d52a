//! A store in PostgreSQL: one writer, one form, and servers that go away.
// The clusters are reached by sockets of Unix.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod cuts;
mod ownership;
mod tls;

use matchday_core::driver::Durability;
use matchday_core::protocol::Timestamp;
use matchday_store::{Batch, Store, StoreError, StoreUrl};
use matchday_testkit::event_lines::{append, flush, line, numbers, silence, stream, until};
use matchday_testkit::postgres::Cluster;
use std::sync::mpsc;
use std::thread;

#[test]
fn a_second_program_is_refused_and_a_closed_store_is_free_at_once() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = StoreUrl::from(cluster.database().as_str());
    let store = Store::open(&address).unwrap();
    append(&store, "league", vec![line(0)]).unwrap();
    let refused = Store::open(&address).unwrap_err();
    assert!(matches!(refused, StoreError::Owned { .. }), "{refused}");
    assert!(
        refused
            .to_string()
            .contains(&format!("process {}", std::process::id())),
        "{refused}"
    );
    store.close().unwrap();
    let again = Store::open(&address).unwrap();
    assert_eq!(numbers(&again, "league"), [0]);
}

#[test]
fn several_that_start_at_once_make_it_once_and_one_of_another_form_is_refused() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = StoreUrl::from(cluster.database().as_str());
    let starts: Vec<_> = (0..4)
        .map(|_| {
            let address = address.clone();
            thread::spawn(move || {
                Store::open(&address)
                    .map(drop)
                    .map_err(|error| error.to_string())
            })
        })
        .collect();
    for start in starts {
        // Each has it for itself for a moment, or is told that another has.
        let outcome = start.join().unwrap();
        assert!(
            outcome
                .as_ref()
                .err()
                .is_none_or(|why| why.contains("in use")),
            "{outcome:?}"
        );
    }
    assert_eq!(
        cluster.sql(
            "t0",
            "SELECT count(*) FROM matchday_meta WHERE key = 'version'"
        ),
        "1\n"
    );
    for form in ["1", "99"] {
        cluster.sql(
            "t0",
            &format!("UPDATE matchday_meta SET value = '{form}' WHERE key = 'version'"),
        );
        for refused in [
            Store::open(&address).map(drop),
            Store::open_read_only(&address).map(drop),
        ] {
            let refused = refused.unwrap_err().to_string();
            assert!(
                refused.contains(&format!(
                    "its form is {form}, and this program knows 2 alone"
                )),
                "{refused}"
            );
        }
    }
}

#[test]
fn a_holder_that_was_taken_over_writes_nothing_more() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = StoreUrl::from(cluster.database().as_str());
    let store = Store::open(&address).unwrap();
    append(&store, "league", vec![line(0)]).unwrap();
    cluster.sql("t0", "UPDATE matchday_leagues SET epoch = epoch + 1");
    let refused = append(&store, "league", vec![line(1)])
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("taken over by another Matchday"),
        "{refused}"
    );
    drop(store);
    assert_eq!(
        cluster.sql("t0", "SELECT count(*) FROM matchday_events"),
        "1\n"
    );
}

#[test]
fn events_that_the_database_refuses_fail_their_league_and_no_other() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let store = Store::open(cluster.database().as_str()).unwrap();
    let other = store.in_league(2);
    append(&store, "league", vec![line(0)]).unwrap();
    append(&other, "league", vec![line(0)]).unwrap();
    cluster.sql(
        "t0",
        "INSERT INTO matchday_events VALUES (1, 'league', 2, 0, 'x', '\\x00')",
    );
    append(&store, "league", vec![line(1)]).unwrap_err();
    append(&other, "league", vec![line(1)]).unwrap();
    assert!(store.failure().is_some() && other.failure().is_none());
    assert_eq!(numbers(&other, "league"), [0, 1]);
}

/// Many batches while the server goes away as `crash` does it, and comes back. What was acknowledged is there, once, in order.
fn survives(crash: impl Fn(&Cluster)) {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let store = Store::open(cluster.database().as_str()).unwrap();
    append(&store, "league", vec![line(0)]).unwrap();
    let (tell, told) = mpsc::channel();
    let mut next = 1;
    for round in 0..crashes() {
        for number in next..next + 400 {
            let tell = tell.clone();
            store.append(Batch {
                at: Timestamp::EPOCH,
                stream: stream(if number % 2 == 0 {
                    "league"
                } else {
                    "player/8101"
                }),
                lines: vec![line(number)],
                durability: if number % 5 == 0 {
                    Durability::Fsynced
                } else {
                    Durability::Written
                },
                awaited: number % 5 == 0 || number % 7 == 0,
                then: Box::new(move |outcome| tell.send((number, outcome.is_ok())).unwrap()),
            });
            if number == next + 50 + 17 * round {
                until(&store, |stats| stats.events >= (number - 20) as u64);
                crash(&cluster);
            }
        }
        next += 400;
        until(&store, |stats| stats.outages > round as u64);
        assert!(store.failure().is_none(), "{:?}", store.failure());
        cluster.up();
        flush(&store).unwrap();
    }
    drop(tell);
    let acknowledged: Vec<(usize, bool)> = told.iter().take(next - 1).collect();
    assert!(acknowledged.iter().all(|(_, stored)| *stored));
    assert!(store.unavailable().is_none());
    let expected = |odd: bool| -> Vec<usize> {
        (0..next)
            .filter(|number| (number % 2 == 1) == odd)
            .collect()
    };
    assert_eq!(numbers(&store, "league"), expected(false));
    assert_eq!(numbers(&store, "player/8101"), expected(true));
}

/// How often; more by `MATCHDAY_KILLS`.
fn crashes() -> usize {
    std::env::var("MATCHDAY_KILLS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(3)
}

#[test]
fn nothing_is_lost_or_doubled_when_the_server_stops_at_once() {
    survives(|cluster| cluster.stop("immediate"));
}

#[test]
fn nothing_is_lost_or_doubled_when_the_server_is_killed() {
    survives(Cluster::kill);
}

#[test]
fn nothing_is_lost_or_doubled_when_connections_are_cut() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let store = Store::open(cluster.database().as_str()).unwrap();
    for number in 0..200 {
        if number % 20 == 10 {
            cluster.sql(
                "postgres",
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 't0'",
            );
        }
        append(&store, "league", vec![line(number)]).unwrap();
        store.record(silence());
    }
    flush(&store).unwrap();
    assert_eq!(numbers(&store, "league"), (0..200).collect::<Vec<_>>());
    assert_eq!(store.reader().unwrap().exchanges().unwrap().len(), 200);
    assert!(store.stats().outages > 0);
}

#[test]
fn a_league_whose_last_events_are_gone_stops_and_no_other() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let store = Store::open(cluster.database().as_str()).unwrap();
    let other = store.in_league(2);
    append(&store, "league", vec![line(0), line(1)]).unwrap();
    append(&other, "league", vec![line(0)]).unwrap();
    // As after a failover to a standby that lagged behind.
    cluster.sql(
        "t0",
        "DELETE FROM matchday_events WHERE league = 1 AND seq = 2",
    );
    cluster.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 't0'",
    );
    append(&store, "league", vec![line(2)]).unwrap_err();
    append(&other, "league", vec![line(1)]).unwrap();
    assert!(
        store
            .failure()
            .unwrap()
            .contains("does not hold what was stored"),
        "{:?}",
        store.failure()
    );
}

#[test]
fn a_league_that_nobody_writes_to_is_looked_at_too_after_a_failover() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let store = Store::open(cluster.database().as_str()).unwrap();
    let other = store.in_league(2);
    append(&store, "league", vec![line(0), line(1)]).unwrap();
    append(&other, "league", vec![line(0)]).unwrap();
    cluster.sql(
        "t0",
        "DELETE FROM matchday_events WHERE league = 1 AND seq = 2",
    );
    cluster.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 't0'",
    );
    append(&other, "league", vec![line(1)]).unwrap();
    assert!(
        store
            .failure()
            .unwrap()
            .contains("does not hold what was stored"),
        "{:?}",
        store.failure()
    );
    assert!(other.failure().is_none());
}

/// A reader that is done leaves its connection to the next one, which sees what was stored meanwhile.
#[test]
fn readers_share_connections_and_each_sees_its_own_moment() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let store = Store::open(cluster.database().as_str()).unwrap();
    for number in 0..50 {
        append(&store, "league", vec![line(number)]).unwrap();
        let before = store.reader().unwrap();
        append(&store.in_league(2), "league", vec![line(number)]).unwrap();
        assert_eq!(
            before.in_league(2).load(&stream("league")).unwrap().len(),
            number
        );
        assert_eq!(numbers(&store, "league").len(), number + 1);
    }
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = 't0'";
    let open: usize = cluster.sql("postgres", count).trim().parse().unwrap();
    assert!(open <= 5, "{open} connections");
    let idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = 't0' AND state = 'idle in transaction'";
    assert_eq!(cluster.sql("postgres", idle).trim(), "0");
    // Connections that the server has ended are replaced.
    cluster.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 't0'",
    );
    assert_eq!(numbers(&store, "league").len(), 50);
}
