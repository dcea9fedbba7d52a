//! What belongs to a league is kept under its number: events, exchanges, backlog and failure. One league does not stop or
//! show up in the others of its store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::{MatchId, Timestamp};
use matchday_store::messages::MessageFilter;
use matchday_store::{Batch, Durability, Exchange, Queued, Store};
use matchday_testkit::event_lines::{
    append, append_with, chained, flush, line, numbers, silence, stream,
};
use rusqlite::Connection;
use std::sync::mpsc;

#[test]
fn events_that_the_database_refuses_fail_their_league_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let other = store.in_league(2);
    append(&store, "league", vec![line(0)]).unwrap();
    append(&other, "league/2", vec![line(0)]).unwrap();
    // A second writer, which the lock keeps out if it is one of ours.
    let db = Connection::open(&path).unwrap();
    db.execute_batch("INSERT INTO events VALUES (1, 'league', 2, 0, 'x', x'00'); BEGIN IMMEDIATE")
        .unwrap();
    let (tell, told) = mpsc::channel();
    for (handle, name) in [
        (&store, "league"),
        (&other, "league/2"),
        (&store, "league"),
        (&other, "league/2"),
    ] {
        let tell = tell.clone();
        handle.append(Batch {
            at: Timestamp::EPOCH,
            stream: stream(name),
            lines: vec![line(1)],
            durability: Durability::Fsynced,
            awaited: true,
            then: Box::new(move |outcome| tell.send((name, outcome.is_ok())).unwrap()),
        });
    }
    drop(db);
    let outcomes: Vec<_> = told.iter().take(4).collect();
    assert_eq!(
        outcomes,
        [
            ("league", false),
            ("league/2", true),
            ("league", false),
            ("league/2", true)
        ]
    );
    assert_eq!(numbers(&other, "league/2"), [0, 1, 1]);
    assert!(store.failure().is_some() && other.failure().is_none());
    store.close().unwrap_err();
}

#[test]
fn the_backlog_of_a_league_does_not_hold_up_another() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let leave = |handle: &Store, name, number| {
        let lines = vec![line(number)];
        let then = Box::new(|_: Result<(), _>| {});
        handle.append(Batch {
            at: Timestamp::EPOCH,
            stream: stream(name),
            lines,
            durability: Durability::Written,
            awaited: false,
            then,
        })
    };
    assert!((0..5000).any(|number| leave(&store, "league", number) == Queued::Backlogged));
    assert_eq!(leave(&store.in_league(2), "league/2", 0), Queued::InOrder);
    drop(db);
    store.close().unwrap();
}

#[test]
fn streams_of_two_leagues_may_have_the_same_name_and_each_has_its_own_chain() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("service.db");
    let store = Store::open(&path).unwrap();
    let first = store.in_league(7);
    let second = store.in_league(8);
    append(&first, "league", vec![line(0), line(1)]).unwrap();
    append(&second, "league", vec![line(2)]).unwrap();
    append(&second, "referee/1", vec![line(3)]).unwrap();
    assert_eq!(
        (numbers(&first, "league"), numbers(&second, "league")),
        (vec![0, 1], vec![2])
    );
    assert_eq!(
        store.leagues().unwrap(),
        [(7, stream("league")), (8, stream("league"))]
    );
    store.close().unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(
        reader.streams().unwrap(),
        [stream("league"), stream("referee/1")],
        "of the latest league"
    );
    let reader = reader.in_league(7);
    assert_eq!(reader.streams().unwrap(), [stream("league")]);
    assert_eq!(
        reader.load(&stream("league")).unwrap(),
        chained("league", &[line(0), line(1)]),
        "as in a file alone"
    );
}

#[test]
fn an_exchange_belongs_to_the_league_whose_agent_recorded_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("service.db");
    let store = Store::open(&path).unwrap();
    let of = |agent: &str| Exchange {
        agent: agent.into(),
        ..silence()
    };
    let first = store.in_league(1);
    let second = store.in_league(2);
    append(&first, "league", vec![line(0)]).unwrap();
    append(&second, "league", vec![line(0)]).unwrap();
    second.record(of("REF02"));
    first.record(of("REF01"));
    second.record(of("REF02"));
    flush(&store).unwrap();
    assert_eq!((first.exchange_bytes(), second.exchange_bytes()), (2, 4));
    store.close().unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(
        store.in_league(2).exchange_bytes(),
        4,
        "the quota outlives the process"
    );
    let reader = Store::open_read_only(&path).unwrap().in_league(1);
    assert_eq!(reader.exchanges().unwrap(), [of("REF01")]);
    assert_eq!(
        reader.exchanges_of(&MatchId::new("R1M1")).unwrap(),
        [of("REF01")]
    );
    assert_eq!(reader.last_message().unwrap(), 2);
    let page = reader
        .messages(&MessageFilter::default(), 10, |_| true)
        .unwrap();
    assert_eq!((page.messages.len(), page.next_before), (1, None));
}

#[test]
fn a_league_that_is_removed_leaves_nothing_and_the_others_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("service.db");
    let store = Store::open(&path).unwrap();
    let first = store.in_league(1);
    let second = store.in_league(2);
    // More than one transaction removes.
    append_with(
        &first,
        "league",
        (0..5000).map(line).collect(),
        vec![silence()],
    )
    .unwrap();
    append_with(&second, "league", vec![line(7)], vec![silence()]).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(first.remove_league()).unwrap();
    first.record(silence());
    append(&first, "league", vec![line(0)]).unwrap_err();
    flush(&second).unwrap();
    assert_eq!(
        (numbers(&first, "league"), numbers(&second, "league")),
        (vec![], vec![7])
    );
    assert!(
        store
            .league_states()
            .unwrap()
            .iter()
            .any(|state| state.number == 1 && state.removed)
    );
    second.close().unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(
        (reader.league_number(), reader.exchanges().unwrap().len()),
        (2, 1)
    );
    assert_eq!(reader.in_league(1).exchanges().unwrap(), []);
    let db = Connection::open(&path).unwrap();
    let error = db
        .execute("DELETE FROM events", [])
        .unwrap_err()
        .to_string();
    assert!(error.contains("never removed"), "{error}");
}

#[test]
fn when_a_league_is_to_be_loaded_outlives_the_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("service.db");
    let store = Store::open(&path).unwrap();
    let at = Timestamp::from_micros(1_736_937_000_000_000);
    store.in_league(3).set_wake_at(Some(at));
    store.in_league(4).set_wake_at(Some(at));
    store.in_league(4).set_wake_at(None);
    store.close().unwrap();
    let states = Store::open(&path).unwrap().league_states().unwrap();
    let wake: Vec<_> = states
        .iter()
        .map(|state| (state.number, state.wake_at))
        .collect();
    assert_eq!(wake, [(3, Some(at)), (4, None)]);
}

#[test]
fn of_a_league_that_is_removed_no_name_stays_in_the_file_or_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = Store::open(&path).unwrap();
    let other = store.in_league(2);
    let named = format!(
        r#"{{"name":"Grace Hopper","more":"{}"}}"#,
        "x".repeat(20_000)
    );
    append(&store, "league", vec![line(0), named]).unwrap();
    store.record(Exchange {
        request: r#"{"display_name":"Grace Hopper"}"#.into(),
        ..silence()
    });
    append(&other, "league", vec![line(0)]).unwrap();
    flush(&store).unwrap();
    let copies = || {
        ["", "-wal"]
            .iter()
            .map(|suffix| {
                let bytes = std::fs::read(folder.path().join(format!("a.db{suffix}"))).unwrap();
                bytes
                    .windows(b"Grace Hopper".len())
                    .filter(|text| text == b"Grace Hopper")
                    .count()
            })
            .sum::<usize>()
    };
    assert!(copies() >= 2);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(store.remove_league()).unwrap();
    assert_eq!(copies(), 0);
    assert_eq!(numbers(&other, "league"), [0]);
}
