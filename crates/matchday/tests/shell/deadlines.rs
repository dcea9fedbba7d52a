//! An answer is in time if it had come by its deadline, whenever it is read. The runtime has one thread here, so that it
//! can be kept from reading.

use bytes::Bytes;
use matchday::net::client::{CallError, Called, Client};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::sleep;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/// A server that answers once, so long after the request. The other half says when the request has come.
fn server(answers_after: Duration) -> (String, oneshot::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (tell, asked) = oneshot::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        tell.send(()).unwrap();
        sleep(answers_after);
        stream.write_all(OK).unwrap();
        let _ = stream.read(&mut [0; 1]);
    });
    (url, asked)
}

/// Makes a call, and nothing else for one second from when it has gone out.
async fn call_and_stand_still(answered_after: Duration, allowed: Duration) -> (Called, Instant) {
    let (url, asked) = server(answered_after);
    let deadline = Instant::now() + allowed;
    let client = Client::new();
    let standing_still = async {
        asked.await.unwrap();
        sleep(Duration::from_secs(1));
    };
    let (called, ()) = tokio::join!(client.call(&url, Bytes::from("{}"), deadline, 100), standing_still);
    (called, deadline)
}

#[tokio::test]
async fn what_came_before_the_deadline_and_is_read_after_it_is_in_time() {
    let (called, deadline) =
        call_and_stand_still(Duration::from_millis(200), Duration::from_millis(800)).await;
    assert!(Instant::now() > deadline);
    assert_eq!(called.outcome.unwrap().status, 200);
    assert!(called.times.last_byte.unwrap() <= deadline);
}

#[tokio::test]
async fn what_came_after_the_deadline_is_late_though_it_is_there_at_the_first_look() {
    let (called, deadline) =
        call_and_stand_still(Duration::from_millis(700), Duration::from_millis(300)).await;
    assert_eq!(called.outcome.unwrap_err(), CallError::TimedOut);
    assert!(called.times.last_byte.is_none_or(|last| last > deadline));
}

#[tokio::test]
async fn who_says_nothing_is_not_waited_for_beyond_the_deadline() {
    let (url, _asked) = server(Duration::from_secs(60));
    let deadline = Instant::now() + Duration::from_millis(100);
    let called = Client::new().call(&url, Bytes::from("{}"), deadline, 100).await;
    assert_eq!(called.outcome.unwrap_err(), CallError::TimedOut);
}
