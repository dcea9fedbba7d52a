//! Our own calls: connections, dialects, and answers that are none.

use matchday_core::protocol::PlayerId;
use matchday_core::protocol::dialect::Dialect;
use matchday_net::client::{CallError, Client};
use matchday_store::Direction;
use matchday_testkit::fake_peer::FakePeer;
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, short, until_completed, until_registered,
};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(2)
}

/// A server of the simplest kind: `answers` for each connection, one after another, each to one request; then closes.
fn plain_server(answers: &'static [&'static [u8]]) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut stream = stream.unwrap();
            for answer in answers {
                let mut request = [0; 4096];
                if stream.read(&mut request).unwrap_or(0) == 0 {
                    break;
                }
                stream.write_all(answer).unwrap();
            }
            // The last request is read but never answered: that is how a closing server looks to a hasty client.
            let _ = stream.read(&mut [0; 1]);
        }
    });
    (url, connections)
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

#[tokio::test]
async fn a_call_is_a_post_of_json_to_the_path_of_the_endpoint() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(OK).unwrap();
        String::from_utf8_lossy(&request[..length]).to_lowercase()
    });
    Client::new()
        .post(&url, "{}".into(), soon(), 100)
        .await
        .unwrap();
    let request = heard.join().unwrap();
    assert!(request.starts_with("post /mcp http/1.1\r\n"), "{request}");
    assert!(
        request.contains("content-type: application/json"),
        "{request}"
    );
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let (url, connections) = plain_server(&[OK, OK, OK]);
    let client = Client::new();
    for _ in 0..3 {
        assert_eq!(
            client
                .post(&url, "{}".into(), soon(), 100)
                .await
                .unwrap()
                .status,
            200
        );
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

/// The client cannot have seen the end of the connection by itself: the test's only thread waits for the server to close it.
#[tokio::test]
async fn a_kept_connection_that_the_peer_has_closed_is_not_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (tell, closed) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            stream.write_all(OK).unwrap();
            drop(stream);
            tell.send(()).unwrap();
        }
    });
    let client = Client::new();
    for _ in 0..3 {
        assert_eq!(
            client
                .post(&url, "{}".into(), soon(), 100)
                .await
                .unwrap()
                .status,
            200
        );
        closed.recv().unwrap();
    }
}

/// Such a server hears nobody else while a connection to it is open.
#[tokio::test]
async fn a_server_of_one_connection_at_a_time_is_soon_free_for_others() {
    let (url, _) = plain_server(&[OK, OK, OK]);
    let one = Client::new();
    let other = Client::new();
    assert_eq!(
        one.post(&url, "{}".into(), soon(), 100)
            .await
            .unwrap()
            .status,
        200
    );
    assert_eq!(
        other
            .post(&url, "{}".into(), soon(), 100)
            .await
            .unwrap()
            .status,
        200
    );
}

#[tokio::test]
async fn a_fresh_connection_that_breaks_is_a_failure() {
    let (url, connections) = plain_server(&[]);
    let answer = Client::new().post(&url, "{}".into(), soon(), 100).await;
    assert_eq!(
        answer.unwrap_err().to_string(),
        "the connection was closed without an answer"
    );
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_end_by_their_deadline_and_within_their_bounds() {
    let silent = FakePeer::by_rule(|_| (200, json!({}), Duration::from_secs(60))).await;
    let url = format!("http://{}/mcp", silent.address);
    let began = Instant::now();
    let answer = Client::new()
        .post(&url, "{}".into(), began + Duration::from_millis(100), 100)
        .await;
    assert_eq!(answer.unwrap_err(), CallError::TimedOut);
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "the peer would have answered after a minute"
    );

    let wordy = FakePeer::by_rule(|_| (200, json!("x".repeat(1000)), Duration::ZERO)).await;
    let answer = Client::new()
        .post(
            &format!("http://{}", wordy.address),
            "{}".into(),
            soon(),
            100,
        )
        .await;
    assert_eq!(answer.unwrap_err(), CallError::TooLarge(1002));

    for nobody in ["http://127.0.0.1:1/mcp", "https://127.0.0.1:1/mcp"] {
        let answer = Client::new().post(nobody, "{}".into(), soon(), 100).await;
        assert!(matches!(answer, Err(CallError::NoConnection(_))));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (url, _) = plain_server(&[
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    ]);
    assert_eq!(
        Client::new()
            .post(&url, "{}".into(), soon(), 100)
            .await
            .unwrap()
            .status,
        302
    );
}

/// A player that registers in the standard dialect and yet understands nothing but `handle_message`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_spoken_to_in_the_dialect_that_it_understands() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let at = endpoint(manager.address());
    let referee = test_league.referee(1, &at, short()).await;
    let peculiar = FakePeer::by_rule(|request| {
        let id = &request["id"];
        let message = &request["params"]["message"];
        let mut answer = match (request["method"].as_str(), message["message_type"].as_str()) {
            (Some("handle_message"), Some("GAME_INVITATION")) => json!({
                "message_type": "GAME_JOIN_ACK", "accept": true, "arrival_timestamp": message["timestamp"],
            }),
            (Some("handle_message"), Some("CHOOSE_PARITY_CALL")) => json!({
                "message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": "even",
            }),
            (Some("handle_message"), Some(_)) => json!({"status": "ok"}),
            _ => {
                let error = json!({"code": -32601, "message": "Method not found"});
                return (200, json!({"jsonrpc": "2.0", "id": id, "error": error}), Duration::ZERO);
            }
        };
        if answer["message_type"].is_string() {
            answer["protocol"] = json!("league.v2");
            answer["sender"] = json!("player:P01");
            answer["timestamp"] = message["timestamp"].clone();
            for field in ["conversation_id", "match_id"] {
                answer[field] = message[field].clone();
            }
            answer["player_id"] = json!("P01");
            answer["auth_token"] = message["auth_token"].clone();
        }
        (200, json!({"jsonrpc": "2.0", "id": id, "result": answer}), Duration::ZERO)
    })
    .await;
    test_league
        .register_player(peculiar.address, manager.address())
        .await;
    let _other = test_league.player(2, &at, "always_odd").await;
    until_registered(&manager, 2, 1).await;
    test_league.start(&manager).await;
    let league = until_completed(&manager, Duration::from_secs(60)).await;
    assert_eq!(
        league.players[&PlayerId::new("P01")].dialect,
        Dialect::HandleMessage
    );
    referee.shutdown().await.unwrap();
    let calls = test_league.exchanges();
    let methods = |method: &str| {
        let sent = calls.iter().filter(|call| {
            call.direction == Direction::Out && call.message_type == "GAME_INVITATION"
        });
        sent.filter(|call| call.request.contains(method)).count()
    };
    assert!(methods("handle_message") >= 1, "{calls:?}");
}
