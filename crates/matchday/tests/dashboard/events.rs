//! The stream of changes.

use crate::league::{Shown, open, send, settings};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use matchday_net::ip_network::IpNetwork;
use matchday_testkit::eventually::eventually_async;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);

async fn listen(shown: &Shown) -> Incoming {
    let answer = open(shown.address(), "GET", "/api/events", &[], "").await;
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    answer.into_body()
}

/// The next change; `None` when the stream ends, or says that the manager does.
async fn next(stream: &mut Incoming) -> Option<Value> {
    let frame = timeout(PATIENCE, stream.frame())
        .await
        .expect("an event in time")?
        .unwrap();
    let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
    if text.starts_with("event: end\n") {
        return None;
    }
    assert!(
        text.starts_with("event: change\n") && text.ends_with("\n\n"),
        "{text:?}"
    );
    let data = text
        .lines()
        .find_map(|line| line.strip_prefix("data: "))
        .unwrap();
    Some(serde_json::from_str(data).unwrap())
}

#[tokio::test]
async fn whoever_listens_hears_at_once_and_of_every_change_but_not_too_often() {
    let shown = Shown::with_players(settings(), 4).await;
    let mut stream = listen(&shown).await;
    let first = next(&mut stream).await.unwrap();
    assert_eq!(first["topics"].as_array().unwrap().len(), 6, "{first}");
    shown.test_league.start(&shown.manager).await;
    let began = Instant::now();
    let mut heard = 0_u32;
    let mut version = first["version"].as_u64().unwrap();
    loop {
        let event = next(&mut stream).await.unwrap();
        heard += 1;
        let newer = event["version"].as_u64().unwrap();
        assert!(newer >= version, "{event}");
        version = newer;
        if shown.page("/api/league").await["phase"] == "completed"
            && event["topics"]
                .as_array()
                .unwrap()
                .contains(&"standings".into())
        {
            break;
        }
    }
    let most = began.elapsed().as_millis() / 200 + 2;
    assert!(
        u128::from(heard) <= most,
        "{heard} events in {:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn only_so_many_may_listen() {
    let shown = Shown::empty(settings()).await;
    let mut streams = Vec::new();
    for _ in 0..500 {
        streams.push(listen(&shown).await);
    }
    let refused = send(shown.address(), "GET", "/api/events", &[], "").await;
    assert_eq!(refused.status, 503);
    assert!(
        refused.error().contains("500 pages listen already"),
        "{refused:?}"
    );
    drop(streams);
    eventually_async("a closed stream makes room", async || {
        open(shown.address(), "GET", "/api/events", &[], "")
            .await
            .status()
            == 200
    })
    .await;
}

#[tokio::test]
async fn one_address_does_not_take_the_place_of_others() {
    let shown = Shown::behind(&[IpNetwork::parse("127.0.0.1").unwrap()], settings()).await;
    let listen_from = |address: &'static str| {
        let to = shown.address();
        let headers = [("x-forwarded-for", address)];
        async move { open(to, "GET", "/api/events", &headers, "").await }
    };
    let mut streams = Vec::new();
    for _ in 0..125 {
        let stream = listen_from("2001:db8::1").await;
        assert_eq!(stream.status(), 200);
        streams.push(stream);
    }
    let refused = listen_from("2001:db8::2").await;
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (503, &"2".parse().unwrap())
    );
    assert_eq!(listen_from("2001:db8:1::1").await.status(), 200);
}

#[tokio::test]
async fn streams_end_when_the_manager_does() {
    let shown = Shown::empty(settings()).await;
    let mut stream = listen(&shown).await;
    assert!(next(&mut stream).await.is_some());
    let Shown { manager, .. } = shown;
    let stopping = tokio::spawn(manager.shutdown());
    while next(&mut stream).await.is_some() {}
    timeout(PATIENCE, stopping)
        .await
        .expect("in good order")
        .unwrap()
        .unwrap();
}
