//! An agent that is told to stop.

use crate::order::{HELD, PING, recording_agent, until_held};
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::test_league::TestLeague;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_asked_is_still_answered_and_nothing_more_is_taken() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let agent = recording_agent(&test_league, 10, Duration::from_secs(1)).await;
    let address = agent.address();
    let _idle = TcpStream::connect(address).await.unwrap();
    let began = Instant::now();
    let (answer, stopped) = tokio::join!(test_league.post(address, HELD), async {
        until_held(&agent).await;
        agent.shutdown().await
    });
    stopped.unwrap();
    assert_eq!(answer.0, 200);
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "an idle connection held it up: {:?}",
        began.elapsed()
    );
    assert!(TcpStream::connect(address).await.is_err());
    let stream = matchday_store::Stream("recording_agent".into());
    assert_eq!(test_league.store.load(&stream).unwrap().len(), 3);
}

#[tokio::test]
async fn an_agent_that_is_dropped_answers_nobody() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let agent = recording_agent(&test_league, 10, Duration::ZERO).await;
    let address = agent.address();
    assert_eq!(test_league.post(address, PING).await.0, 200);
    drop(agent);
    eventually_async("it no longer listens", async || {
        TcpStream::connect(address).await.is_err()
    })
    .await;
}
