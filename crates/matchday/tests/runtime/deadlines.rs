//! An answer is in time if it had come by its deadline, whenever it is read. The runtime has one thread here, so that it
//! can be kept from reading.

use bytes::Bytes;
use matchday_net::client::{CallError, Client, CompletedCall};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread::sleep;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/// A server that answers the one request it gets at `answers_at`. The two other halves say that the request has come, and
/// that it has been answered.
fn server(answers_at: Instant) -> (String, oneshot::Receiver<()>, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (ask, asked) = oneshot::channel();
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        let _ = ask.send(());
        sleep(answers_at.saturating_duration_since(Instant::now()));
        let _ = stream.write_all(OK);
        let _ = answer.send(());
        let _ = stream.read(&mut [0; 1]);
    });
    (url, asked, answered)
}

/// Makes a call, and nothing else from when it has gone out until it has been answered and its deadline is over.
async fn call_and_stand_still(answers_at: Instant, deadline: Instant) -> CompletedCall {
    let (url, asked, answered) = server(answers_at);
    let client = Client::new();
    let standing_still = async {
        asked.await.unwrap();
        answered.recv().unwrap();
        while Instant::now() <= deadline {
            sleep(Duration::from_millis(1));
        }
    };
    let (called, ()) = tokio::join!(
        client.call(&url, Bytes::from("{}"), deadline, 100),
        standing_still
    );
    called
}

// Only a timestamp of the kernel tells.
#[cfg(all(target_os = "linux", feature = "native"))]
#[tokio::test]
async fn what_came_before_the_deadline_and_is_read_after_it_is_in_time() {
    let deadline = Instant::now() + Duration::from_secs(2);
    let called = call_and_stand_still(Instant::now(), deadline).await;
    assert_eq!(called.result.unwrap().status, 200);
    assert!(called.timings.last_byte.unwrap() <= deadline);
}

#[tokio::test]
async fn what_came_after_the_deadline_is_late_though_it_is_there_at_the_first_look() {
    let deadline = Instant::now() + Duration::from_millis(500);
    let called = call_and_stand_still(deadline + Duration::from_millis(50), deadline).await;
    assert_eq!(called.result.unwrap_err(), CallError::TimedOut);
    assert!(called.timings.last_byte.is_none_or(|last| last > deadline));
}

#[tokio::test]
async fn who_says_nothing_is_not_waited_for_beyond_the_deadline() {
    let (url, _asked, _answered) = server(Instant::now() + Duration::from_secs(60));
    let deadline = Instant::now() + Duration::from_millis(100);
    let called = Client::new()
        .call(&url, Bytes::from("{}"), deadline, 100)
        .await;
    assert_eq!(called.result.unwrap_err(), CallError::TimedOut);
}
