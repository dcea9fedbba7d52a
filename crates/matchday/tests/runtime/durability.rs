//! Nothing is seen outside before it is stored, and what is stored survives.

use crate::order::{PING, recording_agent};
use matchday_core::event_codec;
use matchday_core::league::{LeagueEvent, Manager};
use matchday_runtime::{Stopped, log};
use matchday_store::Stream;
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, short, until, until_completed, until_registered,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

#[tokio::test]
async fn stored_events_are_applied_before_the_agent_wakes() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let agent = recording_agent(&test_league, 10, Duration::ZERO).await;
    test_league.post(agent.address(), PING).await;
    agent.shutdown().await.unwrap();
    let again = recording_agent(&test_league, 10, Duration::ZERO).await;
    assert_eq!(
        again.inspect(|agent| agent.pages.clone()).await.unwrap(),
        ["(wake)", "(ping)", "wake"]
    );
}

#[tokio::test]
async fn when_the_store_fails_nothing_more_is_acknowledged_and_one_line_says_so() {
    let mut test_league = TestLeague::new(matchday_server::agent_options);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    test_league.log = log::dispatch(tracing::Level::DEBUG, move |entry| {
        written
            .lock()
            .unwrap()
            .push((entry.event_type.clone(), entry.message.clone()));
    });
    let mut agent = recording_agent(&test_league, 10, Duration::ZERO).await;
    assert_eq!(test_league.post(agent.address(), PING).await.0, 200);
    test_league.store.clone().close().unwrap();
    let url = format!("http://{}/mcp", agent.address());
    let soon = tokio::time::Instant::now() + Duration::from_secs(60);
    let refused = test_league
        .client
        .post(&url, PING.into(), soon, 10_000)
        .await
        .unwrap();
    assert_eq!(
        (refused.status, &refused.headers["retry-after"]),
        (503, &"1".parse().unwrap())
    );
    assert!(matches!(agent.stopped().await, Err(Stopped::Store(why)) if why.contains("closed")));
    let lines = lines.lock().unwrap();
    let failures: Vec<_> = lines
        .iter()
        .filter(|(kind, _)| *kind == "store_failed")
        .collect();
    assert_eq!(failures.len(), 1);
    assert!(failures[0].1.contains("closed"));
}

/// The manager is broken off in the middle of the league and started again on its port with its store, three times. The
/// store lives on here, so what was on its way to the disk gets there; that a dead process loses it is tested elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manager_that_crashes_goes_on_where_it_was() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let settings = quick(short());
    let mut manager = test_league.manager(settings.clone()).await;
    let address = manager.address();
    let at = endpoint(address);
    let mut others = Vec::new();
    for number in 1..=6 {
        others.push(test_league.player(number, &at, "random").await);
    }
    let _referees = [
        test_league.referee(1, &at, short()).await,
        test_league.referee(2, &at, short()).await,
    ];
    until_registered(&manager, 6, 2).await;
    test_league.start(&manager).await;
    for decided in [2, 6, 10] {
        until(
            &manager,
            "matches decided",
            Duration::from_secs(60),
            move |manager| manager.league().matches_decided >= decided,
        )
        .await;
        drop(manager);
        let listener = rebind(address).await;
        test_league.flushed().await;
        manager = test_league.run(Manager::new(settings.clone()), listener, "league");
    }
    let league = until_completed(&manager, Duration::from_secs(30)).await;
    assert_eq!(league.matches_decided, 15);
    test_league.flushed().await;
    let stored = test_league.store.load(&Stream("league".into())).unwrap();
    let mut decided = BTreeSet::new();
    for line in stored {
        if let (_, LeagueEvent::MatchDecided { match_id, .. }) =
            event_codec::decode(&line.line).unwrap()
        {
            assert!(
                decided.insert(match_id.clone()),
                "{match_id} was decided twice"
            );
        }
    }
    assert_eq!(decided.len(), 15);
}

async fn rebind(address: std::net::SocketAddr) -> TcpListener {
    eventually_async("the port is free again", async || {
        TcpListener::bind(address).await
    })
    .await
}
