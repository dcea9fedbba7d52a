//! A peer that reads a request and closes the connection without an answer: one failed try, never a hidden second call.

use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_net::client::Client;
use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, quick, short, until_completed, until_registered,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::Instant;

const RETRIES: u32 = 3;
const RETRY_DELAY: Duration = Duration::from_millis(150);

/// Every request that was read, with the time.
type Calls = Arc<Mutex<Vec<(Instant, Value)>>>;

/// Keeps its connections alive, and closes one without an answer as soon as it has read a request that `closes_on` names.
async fn closing_server(closes_on: fn(&Value) -> bool) -> (SocketAddr, Calls) {
    let listener = free_port().await;
    let address = listener.local_addr().unwrap();
    let calls = Calls::default();
    let log = Arc::clone(&calls);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, closes_on, Arc::clone(&log)));
        }
    });
    (address, calls)
}

async fn serve(stream: TcpStream, closes_on: fn(&Value) -> bool, log: Calls) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream).await {
        log.lock().unwrap().push((Instant::now(), request.clone()));
        if closes_on(&request) {
            return;
        }
        let body = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"status": "received"}})
            .to_string();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .unwrap();
    }
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(serde_json::from_slice(&body).unwrap_or_default())
}

fn of_type(calls: &Calls, wanted: &str) -> Vec<(Instant, Value)> {
    let calls = calls.lock().unwrap();
    let messages = calls
        .iter()
        .map(|(at, request)| (*at, request["params"].clone()));
    messages
        .filter(|(_, message)| message["message_type"] == wanted)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_that_closes_without_an_answer_is_asked_once_a_try_and_told_so() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let retry = RetryPolicy {
        retries: RETRIES,
        backoff: Backoff::Fixed { delay: RETRY_DELAY },
    };
    // No try ends by time, however busy the machine is.
    let timing = Timing {
        join: Duration::from_secs(20),
        retry,
        ..short()
    };
    let manager = test_league.manager(quick(timing)).await;
    let at = endpoint(manager.address());
    let _referee = test_league.referee(1, &at, timing).await;
    let (closing, calls) =
        closing_server(|request| request["params"]["message_type"] == "GAME_INVITATION").await;
    test_league
        .register_player(closing, manager.address())
        .await;
    let _other = test_league.player(2, &at, "always_odd").await;
    until_registered(&manager, 2, 1).await;
    test_league.start(&manager).await;
    until_completed(&manager, Duration::from_secs(60)).await;

    let invited: Vec<Instant> = of_type(&calls, "GAME_INVITATION")
        .into_iter()
        .map(|(at, _)| at)
        .collect();
    assert_eq!(invited.len(), 1 + RETRIES as usize, "one call a try");
    for pair in invited.windows(2) {
        assert!(
            pair[1] - pair[0] >= RETRY_DELAY,
            "{:?} apart",
            pair[1] - pair[0]
        );
    }
    let errors = of_type(&calls, "GAME_ERROR");
    assert!(!errors.is_empty());
    for (_, error) in errors {
        assert_eq!(error["error_code"], "E009", "{error}");
        let message = error["error_message"].as_str().unwrap();
        let wanted = format!("http://{closing}/mcp was closed without an answer");
        assert!(message.contains(&wanted), "{message}");
    }
}

/// Whether a kept connection is used again or not, a request that was read is not sent a second time.
#[tokio::test]
async fn a_request_that_was_read_on_a_kept_connection_is_not_sent_again() {
    let (address, calls) = closing_server(|request| request["last"] == true).await;
    let (client, url) = (Client::new(), format!("http://{address}/mcp"));
    let post = async |body: Value| {
        let deadline = Instant::now() + Duration::from_secs(60);
        client
            .post(&url, body.to_string().into(), deadline, 1000)
            .await
    };
    assert_eq!(post(json!({"id": 1})).await.unwrap().status, 200);
    let error = post(json!({"id": 2, "last": true})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the connection was closed without an answer"
    );
    assert_eq!(calls.lock().unwrap().len(), 2);
}
