//! How the time of a call went by: told by the client, and kept with the exchange.

use bytes::Bytes;
use matchday_net::client::Client;
use matchday_store::Direction;
use matchday_testkit::fake_peer::FakePeer;
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, short, until_completed, until_registered,
};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::mpsc as tokio_mpsc;
use tokio::time::Instant;

/// A server that sends the first part of an answer at once, and the second when it is told to; to two requests over one
/// connection. It says when the first part has been sent.
fn server_in_parts() -> (String, mpsc::Sender<()>, tokio_mpsc::UnboundedReceiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (go, gone_on) = mpsc::channel();
    let (begin, begun) = tokio_mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for _ in 0..2 {
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")
                .unwrap();
            let _ = begin.send(());
            if gone_on.recv().is_ok() {
                stream.write_all(b"}").unwrap();
            }
        }
    });
    (url, go, begun)
}

#[tokio::test]
async fn an_answer_in_parts_has_a_first_and_a_last_byte() {
    let (url, go, mut begun) = server_in_parts();
    let client = Client::new();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut earlier = None;
    for fresh in [true, false] {
        let call = client.call(&url, Bytes::from("{}"), deadline, 100);
        let told_later = async {
            begun.recv().await.unwrap();
            // The client must read the first part alone: the kernel gives what is read at once a single time.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let told = Instant::now();
            go.send(()).unwrap();
            told
        };
        let (called, told) = tokio::join!(call, told_later);
        assert_eq!(called.result.unwrap().status, 200);
        let times = called.timings;
        let (connected, first, last) = (
            times.connected.unwrap(),
            times.first_byte.unwrap(),
            times.last_byte.unwrap(),
        );
        assert_eq!(
            connected == times.began,
            !fresh,
            "a connection that is at hand takes no time"
        );
        assert!(times.began <= connected && connected <= first && first < last);
        assert!(first < told + Duration::from_millis(1) && last >= told - Duration::from_millis(1));
        assert!(
            earlier < Some(first),
            "it belongs to this answer, not to the one before"
        );
        earlier = Some(last);
    }
}

#[tokio::test]
async fn of_an_answer_that_never_ends_the_beginning_is_known() {
    let (url, _go, _begun) = server_in_parts();
    let deadline = Instant::now() + Duration::from_secs(1);
    let called = Client::new()
        .call(&url, Bytes::from("{}"), deadline, 100)
        .await;
    assert!(called.result.is_err());
    assert!(
        called
            .timings
            .first_byte
            .is_some_and(|first| first < deadline)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_kept_of_a_call_tells_how_its_time_went_by() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let at = endpoint(manager.address());
    let referee = test_league.referee(1, &at, short()).await;
    let silent = FakePeer::by_rule(|_| (200, json!({}), Duration::from_secs(60))).await;
    test_league
        .register_player(silent.address, manager.address())
        .await;
    let player = test_league.player(2, &at, "always_odd").await;
    until_registered(&manager, 2, 1).await;
    test_league.start(&manager).await;
    until_completed(&manager, Duration::from_secs(60)).await;
    player.shutdown().await.unwrap();
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();

    let mut answered = 0;
    let mut silence = 0;
    for exchange in test_league
        .exchanges()
        .iter()
        .filter(|exchange| exchange.direction == Direction::Out)
    {
        let deadline = exchange.deadline_at.unwrap();
        let done = exchange.done_at.unwrap();
        match exchange.error_code.as_deref() {
            Some("E001") => {
                assert!(
                    done >= deadline && exchange.first_byte_at.is_none(),
                    "{exchange:?}"
                );
                silence += 1;
            }
            // A connection alone has no answer.
            _ if exchange.message_type == "connection" => {}
            _ if exchange.answer.is_some() => {
                let times = [
                    Some(exchange.at),
                    exchange.connected_at,
                    exchange.first_byte_at,
                    Some(done),
                    Some(deadline),
                ];
                assert!(
                    times.iter().all(Option::is_some) && times.is_sorted(),
                    "{exchange:?}"
                );
                answered += 1;
            }
            _ => {}
        }
    }
    assert!(answered >= 3 && silence >= 2, "{answered} {silence}");
}
