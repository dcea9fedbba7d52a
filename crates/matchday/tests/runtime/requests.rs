//! What peers send us over HTTP, right and wrong.

use matchday_core::league::Manager;
use matchday_core::timing::Timing;
use matchday_runtime::Handle;
use matchday_testkit::test_league::{TestLeague, quick};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn manager() -> (TestLeague, Handle<Manager>) {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(Timing::default())).await;
    (test_league, manager)
}

/// Sends bytes as they are, and gives back all that comes until the server closes.
pub(crate) async fn raw(to: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(to).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

pub(crate) fn http(method: &str, path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

#[tokio::test]
async fn a_question_is_answered_under_its_own_id() {
    let (test_league, manager) = manager().await;
    let ask = json!({"jsonrpc": "2.0", "id": "seven", "method": "ping"});
    let (status, answer) = test_league.post(manager.address(), ask.to_string()).await;
    assert_eq!(
        (
            status,
            answer["id"].as_str(),
            answer["result"]["status"].as_str()
        ),
        (200, Some("seven"), Some("ok"))
    );
}

#[tokio::test]
async fn a_batch_is_answered_in_order_and_a_notification_not_at_all() {
    let (test_league, manager) = manager().await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "no_such_thing"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 4, "method": "get_standings"},
    ]);
    let (status, answer) = test_league.post(manager.address(), batch.to_string()).await;
    let ids: Vec<_> = answer
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["id"].as_i64().unwrap())
        .collect();
    assert_eq!((status, ids), (200, vec![1, 2, 3, 4]));
    assert_eq!(answer[2]["error"]["code"], -32601);
    let alone = json!({"jsonrpc": "2.0", "method": "ping"});
    assert_eq!(
        test_league.post(manager.address(), alone.to_string()).await,
        (202, Value::Null)
    );
}

#[tokio::test]
async fn a_bare_message_is_answered_bare() {
    let (test_league, manager) = manager().await;
    let message = json!({"message_type": "LEAGUE_QUERY"});
    let (status, answer) = test_league
        .post(manager.address(), message.to_string())
        .await;
    assert_eq!(
        (status, answer["message_type"].as_str()),
        (200, Some("LEAGUE_ERROR")),
        "{answer}"
    );
}

#[tokio::test]
async fn garbage_is_answered_and_does_no_harm() {
    let (test_league, manager) = manager().await;
    for garbage in [
        &b""[..],
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b"[[[[[[[[",
        b"\"text\"",
    ] {
        let (status, answer) = test_league.post(manager.address(), garbage).await;
        assert_eq!(status, 200, "{garbage:?}");
        assert!(
            answer["error"]["code"].as_i64().unwrap() < -32000,
            "{answer}"
        );
    }
    let answer = raw(
        manager.address(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 this is not HTTP\r\n\r\n",
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let (status, _) = test_league
        .post(
            manager.address(),
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        )
        .await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_with_e002() {
    let (test_league, manager) = manager().await;
    let fits = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping"{}}}"#,
        " ".repeat(10_000)
    );
    assert_eq!(test_league.post(manager.address(), fits).await.0, 200);
    for size in [10_241, 300_000] {
        let (status, answer) = test_league.post(manager.address(), " ".repeat(size)).await;
        assert_eq!(
            (status, answer["error"]["data"]["error_code"].as_str()),
            (413, Some("E002")),
            "{answer}"
        );
    }
    let piece = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{piece}0\r\n\r\n"
    );
    assert!(
        raw(manager.address(), chunked.as_bytes())
            .await
            .starts_with("HTTP/1.1 413")
    );
}

#[tokio::test]
async fn other_paths_and_methods_are_told_so() {
    let (_test_league, manager) = manager().await;
    for (method, path, status) in [
        ("GET", "/health/live", "200"),
        ("POST", "/health/live", "405"),
        ("PUT", "/mcp", "405"),
        ("POST", "/", "404"),
        ("GET", "/etc/passwd", "404"),
        ("POST", "/mcp", "200"),
    ] {
        let answer = raw(manager.address(), &http(method, path, "{}")).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{method} {path}: {answer}"
        );
    }
}

#[tokio::test]
async fn an_answer_is_declared_as_json() {
    let (_test_league, manager) = manager().await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let answer = raw(manager.address(), &http("POST", "/mcp", ping))
        .await
        .to_lowercase();
    let (head, _) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-type: application/json"), "{head}");
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let (_test_league, manager) = manager().await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nX-Long: {}\r\n\r\n",
        "x".repeat(100_000)
    );
    let answer = raw(manager.address(), head.as_bytes()).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
        "{answer}"
    );
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let (_test_league, manager) = manager().await;
    let mut stream = TcpStream::connect(manager.address()).await.unwrap();
    for id in 0..3 {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        while !answer.ends_with("}}") {
            let mut piece = [0; 1024];
            let bytes = stream.read(&mut piece).await.unwrap();
            assert!(bytes > 0, "closed after {id} requests");
            answer.push_str(&String::from_utf8_lossy(&piece[..bytes]));
        }
        assert!(answer.contains(&format!("\"id\":{id}")), "{answer}");
    }
}
