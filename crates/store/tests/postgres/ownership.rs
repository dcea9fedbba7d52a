//! Several processes that share a database: who owns which league, what an owner that was taken over can still do, and how
//! leagues are spread.

use matchday_core::driver::Durability;
use matchday_core::protocol::Timestamp;
use matchday_store::ownership::{Owner, Ownership, Process};
use matchday_store::{Batch, Store, StoreError, StoreFailed, StoreUrl};
use matchday_testkit::cut_proxy::AtCommit;
use matchday_testkit::event_lines::{append, line, numbers, stream};
use matchday_testkit::eventually::eventually;
use matchday_testkit::postgres::Cluster;
use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

type Joined = (Store, Arc<dyn Ownership>);

fn join_with(address: &StoreUrl, number: u32, event_form: u32) -> Joined {
    let process = Process {
        id: format!("{number:032x}"),
        name: format!("process {number}"),
        url: format!("https://127.0.0.1:{number}"),
        certificate: vec![1, 2, 3],
        version: "1.0".to_owned(),
        event_form,
    };
    Store::open_shared(address, process).unwrap()
}

fn join(address: &StoreUrl, number: u32) -> Joined {
    join_with(address, number, 1)
}

/// A database with leagues from 1 on, of which the first `due` are to be loaded, the one with the lowest number first.
fn leagues(cluster: &Cluster, count: u32, due: u32) -> StoreUrl {
    let address = StoreUrl::from(cluster.database().as_str());
    Store::open(&address).unwrap().close().unwrap();
    cluster.sql(
        "t0",
        &format!(
            "INSERT INTO matchday_leagues (number, epoch, event_form, wake_at) SELECT n, 0, 1, \
             CASE WHEN n <= {due} THEN n END FROM generate_series(1, {count}) AS g(n)"
        ),
    );
    address
}

fn take(ownership: &Arc<dyn Ownership>) -> Vec<u32> {
    ownership
        .take()
        .unwrap()
        .iter()
        .map(|league| league.number)
        .collect()
}

/// Asks for the verdict on a step without events, as a query is.
fn query(store: &Store) -> mpsc::Receiver<Result<(), StoreFailed>> {
    let (tell, told) = mpsc::channel();
    let then = Box::new(move |verdict| tell.send(verdict).unwrap());
    let lines = Vec::new();
    let durability = Durability::Written;
    store.append(Batch {
        at: Timestamp::EPOCH,
        stream: stream("league"),
        lines,
        durability,
        awaited: true,
        then,
    });
    told
}

#[test]
fn two_processes_take_disjoint_leagues_by_weight_and_the_earliest_due_first() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 40, 20);
    let ((_a, a), (_b, b)) = (join(&address, 1), join(&address, 2));
    let of_a = take(&a);
    let of_b = take(&b);
    // 21 that weigh 16, the service's own log included, and 20 that weigh 1: each has room for 178.
    assert_eq!(BTreeSet::from_iter(of_a.clone()), (0..12).collect());
    assert_eq!(BTreeSet::from_iter(of_b), (12..=40).collect());
    assert!(take(&a).is_empty() && take(&b).is_empty());
    assert_eq!(a.owner(3).unwrap(), Owner::Own { epoch: 1 });
    assert_eq!(b.owner(3).unwrap(), Owner::Other(a.process().clone()));
    assert_eq!(a.owner(99).unwrap(), Owner::NoLeague);
    let members = b.members().unwrap();
    let shown: Vec<_> = members
        .iter()
        .map(|member| (member.leagues, member.weight))
        .collect();
    assert_eq!(shown, [(12, 192), (29, 164)]);
    assert!(
        members
            .iter()
            .all(|member| member.lease_left > Duration::from_secs(1))
    );
}

#[test]
fn several_that_take_at_once_get_each_league_once() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 300, 300);
    let joined: Vec<Joined> = (1..=4).map(|number| join(&address, number)).collect();
    let taken: Vec<Vec<u32>> = thread::scope(|scope| {
        let threads: Vec<_> = joined
            .iter()
            .map(|(_, ownership)| scope.spawn(|| take(ownership)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let mut all: Vec<u32> = taken.into_iter().flatten().collect();
    // A row that another was just looking at is left for the next time.
    joined
        .iter()
        .for_each(|(_, ownership)| all.extend(take(ownership)));
    all.sort_unstable();
    assert_eq!(all, (0..=300).collect::<Vec<_>>());
}

#[test]
fn a_league_with_events_of_a_newer_form_is_left_to_one_that_reads_them() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 2, 2);
    let (store, new) = join_with(&address, 2, 2);
    assert_eq!(take(&new), [0, 1, 2]);
    append(&store.in_league(1), "league", vec![line(0)]).unwrap();
    drop((store, new));
    let (_old, old) = join(&address, 1);
    assert_eq!(take(&old), [0, 2]);
    let (_new, new) = join_with(&address, 3, 2);
    assert_eq!(take(&new), [1]);
}

#[test]
fn an_append_to_a_league_of_another_is_fenced_and_the_rest_of_its_group_is_stored() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 2, 2);
    let (store, ownership) = join(&address, 1);
    take(&ownership);
    let first = store.in_league(1);
    let second = store.in_league(2);
    append(&first, "league", vec![line(0)]).unwrap();
    cluster.sql(
        "t0",
        "UPDATE matchday_leagues SET owner = 'another', epoch = epoch + 1 WHERE number = 1",
    );
    let (tell, told) = mpsc::channel();
    for (league, store) in [(1, &first), (2, &second)] {
        let tell = tell.clone();
        store.append(Batch {
            at: Timestamp::EPOCH,
            stream: stream("league"),
            lines: vec![line(1)],
            durability: Durability::Fsynced,
            awaited: true,
            then: Box::new(move |verdict: Result<(), StoreFailed>| {
                tell.send((league, verdict)).unwrap()
            }),
        });
    }
    let mut verdicts: Vec<_> = told.iter().take(2).collect();
    verdicts.sort_by_key(|(league, _)| *league);
    assert!(
        verdicts[0].1.as_ref().is_err_and(StoreFailed::is_fenced),
        "{verdicts:?}"
    );
    assert_eq!(verdicts[1], (2, Ok(())));
    assert_eq!(
        (ownership.lost(), first.is_fenced(), second.is_fenced()),
        (vec![1], true, false)
    );
    assert_eq!(
        (numbers(&first, "league"), numbers(&second, "league")),
        (vec![0], vec![1])
    );
}

/// What another process does that takes a league and goes on with it.
const GO_ON_ELSEWHERE: &str = "UPDATE matchday_leagues SET owner = 'another', epoch = epoch + 1 WHERE number = 1; \
     INSERT INTO matchday_events (league, stream, seq, at, line, hash) \
     VALUES (1, 'league', 2, 0, '{}', decode(repeat('00', 32), 'hex'))";

#[test]
fn an_event_in_whose_place_a_new_owner_has_written_another_is_fenced() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (store, ownership) = join(&leagues(&cluster, 1, 1), 1);
    take(&ownership);
    let league = store.in_league(1);
    append(&league, "league", vec![line(0)]).unwrap();
    cluster.sql("t0", GO_ON_ELSEWHERE);
    let refused = append(&league, "league", vec![line(1)]).unwrap_err();
    assert!(refused.is_fenced(), "{refused}");
    assert_eq!(ownership.lost(), [1]);
}

#[test]
fn a_league_that_another_went_on_with_while_a_commit_was_cut_is_fenced_and_not_damaged() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let proxy = cluster.proxy();
    leagues(&cluster, 1, 1);
    let cut_off = format!("postgres://matchday@{}/t0?sslmode=disable", proxy.address());
    let (store, ownership) = join(&cut_off.as_str().into(), 1);
    take(&ownership);
    let league = store.in_league(1);
    append(&league, "league", vec![line(0)]).unwrap();
    proxy.cut_at_commit(AtCommit::Before);
    let refused = thread::scope(|scope| {
        let appended = scope.spawn(|| append(&league, "league", vec![line(1)]));
        proxy.until_commit_cuts(1);
        cluster.sql("t0", GO_ON_ELSEWHERE);
        proxy.restore();
        appended.join().unwrap().unwrap_err()
    });
    assert!(refused.is_fenced(), "{refused}");
}

type Paused = (Cluster, Result<(), StoreFailed>, Store, Arc<dyn Ownership>);

/// A process that cannot renew its lease for six seconds, as if it were stopped: what it answers to a query that comes after its
/// lease has expired, and how much of a lease it had when it did. At the end of these seconds `then` is done by others.
fn paused(then: &str) -> Option<Paused> {
    let cluster = Cluster::start()?;
    let address = leagues(&cluster, 1, 1);
    let (store, ownership) = join(&address, 1);
    take(&ownership);
    let league = store.in_league(1);
    append(&league, "league", vec![line(0)]).unwrap();
    query(&league).recv().unwrap().unwrap();
    let verdict = thread::scope(|scope| {
        let cluster = &cluster;
        let lock =
            format!("SELECT 1 FROM matchday_processes FOR UPDATE; SELECT pg_sleep(6); {then}");
        scope.spawn(move || cluster.sql("t0", &lock));
        eventually("the lease is over", || ownership.lease_left().is_zero());
        let verdict = query(&league).recv().unwrap();
        assert!(
            verdict.is_err() || !ownership.lease_left().is_zero(),
            "answered without a lease"
        );
        verdict
    });
    Some((cluster, verdict, league, ownership))
}

#[test]
fn one_whose_lease_expired_answers_no_query_and_after_a_take_over_none_ever() {
    let take_over = "UPDATE matchday_processes SET alive = false; \
                     UPDATE matchday_leagues SET owner = 'another', epoch = epoch + 1";
    let Some((_cluster, verdict, league, ownership)) = paused(take_over) else {
        return;
    };
    assert!(
        verdict.as_ref().is_err_and(StoreFailed::is_fenced),
        "{verdict:?}"
    );
    assert_eq!(ownership.lost(), [0, 1]);
    assert!(
        append(&league, "league", vec![line(1)])
            .unwrap_err()
            .is_fenced()
    );
    assert_eq!(numbers(&league, "league"), [0]);
}

#[test]
fn one_whose_lease_expired_goes_on_where_nobody_took_its_leagues() {
    let Some((_cluster, verdict, league, ownership)) = paused("SELECT 1") else {
        return;
    };
    assert_eq!((verdict, ownership.lost()), (Ok(()), vec![]));
    append(&league, "league", vec![line(1)]).unwrap();
    assert_eq!(numbers(&league, "league"), [0, 1]);
}

#[test]
fn a_league_that_is_taken_again_begins_anew_and_an_old_handle_appends_nothing() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 1, 1);
    let (store_a, a) = join(&address, 1);
    assert_eq!(take(&a), [0, 1]);
    let old = store_a.in_league(1);
    append(&old, "league", vec![line(0)]).unwrap();
    a.release(&[0, 1]).unwrap();
    assert!(query(&old).recv().unwrap().unwrap_err().is_fenced());
    let (store_b, b) = join(&address, 2);
    // By weight each has room for one.
    assert_eq!(take(&b), [0]);
    drop((store_a, a, old));
    assert_eq!(take(&b), [1]);
    append(&store_b.in_league(1), "league", vec![line(1)]).unwrap();
    b.release(&[1]).unwrap();
    assert_eq!(b.take().unwrap()[0].epoch, 3);
    let new = store_b.in_league(1);
    append(&new, "league", vec![line(2)]).unwrap();
    b.release(&[1]).unwrap();
    assert_eq!(take(&b), [1]);
    assert!(
        append(&new, "league", vec![line(9)])
            .unwrap_err()
            .is_fenced(),
        "made before it was taken again"
    );
    append(&new.in_league(1), "league", vec![line(3)]).unwrap();
    assert_eq!(numbers(&new, "league"), [0, 1, 2, 3]);
}

#[test]
fn a_new_league_belongs_to_who_makes_it() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 0, 0);
    let ((store_a, a), (store_b, b)) = (join(&address, 1), join(&address, 2));
    append(&store_a.in_league(1), "league", vec![line(0)]).unwrap();
    assert_eq!(a.owner(1).unwrap(), Owner::Own { epoch: 1 });
    let refused = append(&store_b.in_league(1), "player/8101", vec![line(0)]).unwrap_err();
    assert!(refused.is_fenced(), "{refused}");
    assert_eq!(b.lost(), [1]);
}

#[test]
fn one_that_dies_is_taken_over_and_one_that_joins_gets_its_share() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 100, 100);
    let ((_a, a), (_b, b)) = (join(&address, 1), join(&address, 2));
    assert_eq!(take(&a).len() + take(&b).len(), 101);
    // As after kill -9: nobody renews, and nothing was released.
    cluster.sql(
        "t0",
        "INSERT INTO matchday_processes SELECT 'dead', 'dead', '', '', '', 1, false, true, now(), now(), 0, 0; \
         UPDATE matchday_leagues SET owner = 'dead', epoch = epoch + 1 WHERE number <= 100 AND number > 60",
    );
    let taken: Vec<_> = [&a, &b]
        .iter()
        .flat_map(|process| process.take().unwrap())
        .collect();
    assert_eq!(taken.iter().filter(|league| league.taken_over).count(), 40);
    assert_eq!(
        a.members()
            .unwrap()
            .iter()
            .map(|member| member.takeovers)
            .sum::<u64>(),
        40
    );
    let (_c, c) = join(&address, 3);
    assert!(take(&c).is_empty());
    for process in [&a, &b] {
        let surplus = process.surplus().unwrap();
        assert!((14..=18).contains(&surplus.len()), "{surplus:?}");
        process.release(&surplus).unwrap();
        assert!(take(process).is_empty(), "it takes back what was too much");
    }
    assert!((30..=34).contains(&take(&c).len()));
}

#[test]
fn seven_leagues_are_spread_evenly_over_three_processes() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 7, 7);
    let ((_a, a), (_b, b)) = (join(&address, 1), join(&address, 2));
    assert_eq!(
        take(&a).len() + take(&b).len(),
        8,
        "with the service's own log"
    );
    let (_c, c) = join(&address, 3);
    for _ in 0..4 {
        for process in [&a, &b, &c] {
            process.release(&process.surplus().unwrap()).unwrap();
            [&c, &b, &a].iter().for_each(|process| drop(take(process)));
        }
    }
    let mut leagues: Vec<u32> = a
        .members()
        .unwrap()
        .iter()
        .map(|member| member.leagues)
        .collect();
    leagues.sort_unstable();
    assert_eq!(leagues, [2, 3, 3]);
    assert!(
        [a, b, c]
            .iter()
            .all(|process| process.surplus().unwrap().is_empty())
    );
}

#[test]
fn a_program_that_has_the_store_alone_and_services_that_share_it_exclude_each_other() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 1, 1);
    let (store, ownership) = join(&address, 1);
    let refused = Store::open(&address).unwrap_err();
    assert!(
        matches!(&refused, StoreError::Owned { holder, .. } if holder == "process 1"),
        "{refused}"
    );
    drop((store, ownership));
    let alone = Store::open(&address).unwrap();
    let process = Process {
        id: "2".repeat(32),
        ..join_process()
    };
    let refused = Store::open_shared(&address, process).map(drop).unwrap_err();
    assert!(matches!(refused, StoreError::Owned { .. }), "{refused}");
    append(&alone, "league", vec![line(0)]).unwrap();
    let file = tempfile::tempdir().unwrap();
    let refused = Store::open_shared(file.path().join("a.db"), join_process())
        .map(drop)
        .unwrap_err();
    assert!(refused.to_string().contains("name a database"), "{refused}");
}

fn join_process() -> Process {
    let name = String::new();
    let url = String::new();
    let version = String::new();
    Process {
        id: "3".repeat(32),
        name,
        url,
        certificate: Vec::new(),
        version,
        event_form: 1,
    }
}

#[test]
fn ten_thousand_leagues_are_taken_at_once() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 10_000, 5_000);
    let (_store, ownership) = join(&address, 1);
    let began = Instant::now();
    let taken = ownership.take().unwrap();
    println!("{} leagues in {:?}", taken.len(), began.elapsed());
    assert_eq!(taken.len(), 10_001);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_stores_time_is_that_of_the_database() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let address = leagues(&cluster, 0, 0);
    let (_store, ownership) = join(&address, 1);
    let before = ownership.now().as_micros();
    let database = cluster.sql(
        "t0",
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
    );
    let database: i64 = database.trim().parse().unwrap();
    let after = ownership.now().as_micros();
    // Half of the round trip in which it was measured is not known.
    assert!(
        (before - 100_000..=after + 100_000).contains(&database),
        "{before} {database} {after}"
    );
    assert!(
        ownership.clock_offset_us().abs() < 1_000_000,
        "the same machine"
    );
}
