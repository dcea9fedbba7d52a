//! What is too much, too long or too slow gets a clear answer or none, and harms nobody else.

use crate::place::{Place, soon};
use matchday_net::client::{CallError, Client, HeadLimits};
use matchday_net::server::ServerOptions;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

fn request(headers: &str) -> String {
    format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n{headers}\r\n{{}}")
}

#[tokio::test]
async fn a_request_with_too_much_of_a_head_is_told_so() {
    let place = Place::open(ServerOptions {
        headers_max: 16,
        head_bytes_max: 8192,
        ..ServerOptions::default()
    })
    .await;
    let many: String = (0..20).map(|n| format!("X-{n}: 1\r\n")).collect();
    let long = format!("X-Long: {}\r\n", "x".repeat(10_000));
    for headers in [many, long] {
        let said = place.say(request(&headers)).await;
        assert!(said.starts_with("HTTP/1.1 431 "), "{said}");
    }
    assert_eq!(place.count(), 0);
    assert!(place.say(request("")).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn an_answer_reaches_a_client_that_is_still_sending() {
    const BODY: usize = 1 << 20;
    let place = Place::open(ServerOptions::default()).await;
    let address = place.address;
    let talk = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        let head =
            format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BODY}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        // A reset would fail one of these, and on Windows take back what was answered.
        stream.write_all(&vec![b'x'; BODY]).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    };
    tokio::task::spawn_blocking(talk).await.unwrap();
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let place = Place::open(ServerOptions {
        head_timeout: Duration::from_millis(50),
        ..ServerOptions::default()
    })
    .await;
    for beginning in ["", "POST /mcp HTTP/1.1\r\nHost: loc"] {
        let said = place.say(beginning).await;
        assert!(!said.contains("200"), "{said}");
    }
    assert_eq!(place.count(), 0);
}

#[tokio::test]
async fn one_address_cannot_take_every_connection() {
    let place = Place::open(ServerOptions {
        per_address_max: Some(2),
        ..ServerOptions::default()
    })
    .await;
    let held: Vec<_> = (0..2)
        .map(|_| TcpStream::connect(place.address).unwrap())
        .collect();
    // Connections are taken in the order in which they come.
    let said = place.say("").await;
    assert!(
        said.starts_with("HTTP/1.1 503 ") && said.contains("too many connections"),
        "{said}"
    );
    drop(held);
    let url = format!("http://{}/mcp", place.address);
    let client = Client::new();
    // The places of connections that have ended are free a moment later.
    let deadline = soon();
    while !client
        .post(&url, "{}".into(), deadline, 100)
        .await
        .is_ok_and(|received| received.status == 200)
    {
        assert!(
            tokio::time::Instant::now() < deadline,
            "no place was given back"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(place.count(), 1);
}

/// Answers one request with these bytes.
fn answering(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(answer.as_bytes());
        let _ = stream.read(&mut [0; 4096]);
    });
    url
}

#[tokio::test]
async fn an_answer_with_too_much_of_a_head_is_a_failure_with_its_own_reason() {
    let client = Client::new().with_head_limits(HeadLimits {
        headers_max: 16,
        bytes_max: 8192,
    });
    let many: String = (0..20).map(|n| format!("X-{n}: 1\r\n")).collect();
    let long = format!("X-Long: {}\r\n", "x".repeat(100_000));
    for headers in [many, long] {
        let url = answering(format!(
            "HTTP/1.1 200 OK\r\n{headers}Content-Length: 2\r\n\r\n{{}}"
        ));
        let error = client
            .post(&url, "{}".into(), soon(), 100)
            .await
            .unwrap_err();
        assert_eq!(
            error,
            CallError::Unusable("the head of the answer is too large")
        );
    }
}

/// Each call is a task, and its future is copied several times before it runs.
#[test]
fn the_future_of_a_call_is_small() {
    let client = Client::new();
    let deadline = tokio::time::Instant::now();
    let url = "http://127.0.0.1:1/mcp";
    let call = size_of_val(&client.call(url, bytes::Bytes::new(), deadline, 1));
    let reach = size_of_val(&client.reach(url, deadline, None));
    assert!(call < 4096 && reach < 4096, "{call} and {reach} bytes");
}
