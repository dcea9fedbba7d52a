//! Nothing is seen outside before it is stored, and what is stored survives.

use crate::ground::{Ground, endpoint, quick, short, until, until_completed, until_registered};
use crate::order::{PING, diarist};
use matchday::shell::{Journal, Stopped};
use matchday::store::Stream;
use matchday_core::league::{LeagueEvent, Manager};
use matchday_core::log;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

#[tokio::test]
async fn stored_events_are_applied_before_the_agent_wakes() {
    let ground = Ground::new();
    let agent = diarist(&ground, 10, Duration::ZERO).await;
    ground.post(agent.address(), PING).await;
    agent.shutdown().await.unwrap();
    let again = diarist(&ground, 10, Duration::ZERO).await;
    assert_eq!(again.inspect(|agent| agent.pages.clone()).await.unwrap(), ["(wake)", "(ping)", "wake"]);
}

#[tokio::test]
async fn when_the_store_fails_nothing_more_is_acknowledged_and_one_line_says_so() {
    let mut ground = Ground::new();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    ground.journal =
        Journal::to(move |entry| written.lock().unwrap().push((entry.event_type, entry.message.clone())));
    let mut agent = diarist(&ground, 10, Duration::ZERO).await;
    assert_eq!(ground.post(agent.address(), PING).await.0, 200);
    ground.store.clone().close().unwrap();
    assert_eq!(ground.post(agent.address(), PING).await.0, 503);
    assert!(matches!(agent.stopped().await, Err(Stopped::Store(why)) if why.contains("closed")));
    let lines = lines.lock().unwrap();
    let failures: Vec<_> = lines.iter().filter(|(kind, _)| *kind == "store_failed").collect();
    assert_eq!(failures.len(), 1);
    assert!(failures[0].1.contains("closed"));
}

/// The manager is broken off in the middle of the league and started again on its port with its store, three times. The
/// store lives on here, so what was on its way to the disk gets there; that a dead process loses it is tested elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manager_that_crashes_goes_on_where_it_was() {
    let ground = Ground::new();
    let settings = quick(short());
    let mut manager = ground.manager(settings.clone()).await;
    let address = manager.address();
    let at = endpoint(address);
    let mut others = Vec::new();
    for number in 1..=6 {
        others.push(ground.player(number, &at, "random").await);
    }
    let _referees = [ground.referee(1, &at, short()).await, ground.referee(2, &at, short()).await];
    until_registered(&manager, 6, 2).await;
    ground.start(&manager).await;
    for decided in [2, 6, 10] {
        until(&manager, "matches decided", Duration::from_secs(20), move |manager| {
            manager.league().matches_decided >= decided
        })
        .await;
        drop(manager);
        let listener = rebind(address).await;
        ground.settled().await;
        manager = ground.run(Manager::new(settings.clone()), listener, "league");
    }
    let league = until_completed(&manager, Duration::from_secs(30)).await;
    assert_eq!(league.matches_decided, 15);
    ground.settled().await;
    let stored = ground.store.load(&Stream("league".into())).unwrap();
    let mut decided = BTreeSet::new();
    for line in stored {
        if let (_, LeagueEvent::MatchDecided { match_id, .. }) = log::read(&line.line).unwrap() {
            assert!(decided.insert(match_id.clone()), "{match_id} was decided twice");
        }
    }
    assert_eq!(decided.len(), 15);
}

async fn rebind(address: std::net::SocketAddr) -> TcpListener {
    for _ in 0..200 {
        if let Ok(listener) = TcpListener::bind(address).await {
            return listener;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the port is not free again");
}
