//! An agent that is told to stop.

use crate::ground::Ground;
use crate::order::{HELD, PING, diarist};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_asked_is_still_answered_and_nothing_more_is_taken() {
    let ground = Ground::new();
    let agent = diarist(&ground, 10, Duration::from_millis(300)).await;
    let address = agent.address();
    let _idle = TcpStream::connect(address).await.unwrap();
    let began = Instant::now();
    let (answer, stopped) = tokio::join!(ground.post(address, HELD), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        agent.shutdown().await
    });
    stopped.unwrap();
    assert_eq!(answer.0, 200);
    assert!(began.elapsed() < Duration::from_secs(2), "an idle connection held it up: {:?}", began.elapsed());
    assert!(TcpStream::connect(address).await.is_err());
    let stream = matchday::store::Stream("diarist".into());
    assert_eq!(ground.store.load(&stream).unwrap().len(), 3);
}

#[tokio::test]
async fn an_agent_that_is_dropped_answers_nobody() {
    let ground = Ground::new();
    let agent = diarist(&ground, 10, Duration::ZERO).await;
    let address = agent.address();
    assert_eq!(ground.post(address, PING).await.0, 200);
    drop(agent);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(TcpStream::connect(address).await.is_err());
}
