//! Servers that mean harm to who checks them: each check ends by itself, with a verdict.

use crate::report::run_aside;
use matchday_testkit::cli::Output;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Longer than any check of a server that answers nothing, and far shorter than what it says takes to say.
const ENDED_WITHIN: Duration = Duration::from_secs(90);
/// Shorter than any wait for another byte.
const DRIP_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy)]
enum Trick {
    /// A head that never ends, byte by byte.
    DripHead,
    /// A body that never ends, byte by byte, after this head.
    DripBody(&'static str),
    /// The same, but a ping is answered as it should be.
    DripAllButPings,
    /// Pings are answered, and nothing else.
    SilentButPings,
}

const LONG: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n80000\r\n";

async fn serving(trick: Trick) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(speak(stream, trick));
        }
    });
    url
}

async fn speak(mut stream: TcpStream, trick: Trick) {
    let mut heard = vec![0; 1 << 16];
    let bytes = stream.read(&mut heard).await.unwrap_or_default();
    let request = String::from_utf8_lossy(&heard[..bytes]).into_owned();
    let ping = request
        .contains("\"ping\"")
        .then(|| pong(&request))
        .flatten();
    match (trick, ping) {
        (Trick::DripAllButPings | Trick::SilentButPings, Some(answer)) => {
            let _ = stream.write_all(answer.as_bytes()).await;
        }
        (Trick::SilentButPings, None) => {
            let _ = stream.read(&mut heard).await;
            std::future::pending::<()>().await;
        }
        (Trick::DripHead, _) => drip(&mut stream, "HTTP/1.1 200 OK\r\nX-Drip: ").await,
        (Trick::DripBody(head), _) => drip(&mut stream, head).await,
        (Trick::DripAllButPings, None) => drip(&mut stream, LONG).await,
    }
}

async fn drip(stream: &mut TcpStream, head: &str) {
    let mut said = stream.write_all(head.as_bytes()).await;
    while said.is_ok() {
        said = stream.write_all(b" ").await;
        sleep(DRIP_EVERY).await;
    }
}

fn pong(request: &str) -> Option<String> {
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n")?.1).ok()?;
    let answer = json!({"jsonrpc": "2.0", "id": body.get("id")?, "result": {}}).to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
    Some(format!(
        "{head}\r\nContent-Length: {}\r\n\r\n{answer}",
        answer.len()
    ))
}

async fn checked(role: &str, trick: Trick) -> Output {
    let url = serving(trick).await;
    let args = ["check", role, &url];
    timeout(ENDED_WITHIN, run_aside(&args))
        .await
        .unwrap_or_else(|_| panic!("the check of a {role} goes on: {trick:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_drips_is_no_agent_in_any_role() {
    let tricks = [
        Trick::DripHead,
        Trick::DripBody(LONG),
        Trick::DripBody(CHUNKED),
    ];
    // All at once: each takes as long as waiting takes.
    let mut checks = JoinSet::new();
    for role in ["player", "referee", "manager"] {
        for trick in tricks {
            checks.spawn(async move { (role, checked(role, trick).await) });
        }
    }
    for (role, done) in checks.join_all().await {
        assert_eq!(done.code, 1, "{done:?}");
        let line = done.err.lines().last().unwrap();
        assert!(
            line.contains("gave no complete HTTP answer within 5"),
            "{role}: {line}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_pings_alone_is_given_up() {
    let mut checks = JoinSet::new();
    for role in ["player", "manager"] {
        for trick in [Trick::DripAllButPings, Trick::SilentButPings] {
            checks.spawn(checked(role, trick));
        }
    }
    for done in checks.join_all().await {
        assert_eq!(done.code, 1, "{done:?}");
        assert!(!done.out.is_empty() || !done.err.is_empty(), "{done:?}");
    }
}

/// Registers whoever comes, and calls each of them back without end with as much as is read.
async fn flooding_manager() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(register_and_flood(stream));
        }
    });
    url
}

async fn register_and_flood(mut stream: TcpStream) -> Option<()> {
    let mut heard = vec![0; 1 << 16];
    let bytes = stream.read(&mut heard).await.ok()?;
    let request = String::from_utf8_lossy(&heard[..bytes]).into_owned();
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n")?.1).ok()?;
    let endpoint = body
        .pointer("/params/player_meta/contact_endpoint")
        .and_then(Value::as_str);
    let result = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_RESPONSE", "sender": "league_manager",
        "timestamp": "2026-03-02T09:00:00Z", "conversation_id": body.pointer("/params/conversation_id"),
        "status": "ACCEPTED", "player_id": "P01", "auth_token": "tok_p01_0123456789abcdef",
        "league_id": "league_2025_even_odd",
    });
    let answer = json!({"jsonrpc": "2.0", "id": body.get("id")?, "result": result}).to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
    let whole = format!("{head}\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
    stream.write_all(whole.as_bytes()).await.ok()?;
    let host = endpoint?
        .strip_prefix("http://")?
        .strip_suffix("/mcp")?
        .to_owned();
    for _ in 0..8 {
        tokio::spawn(flood(host.clone()));
    }
    Some(())
}

async fn flood(host: String) -> std::io::Result<()> {
    let params = json!({"message_type": "ROUND_ANNOUNCEMENT", "noise": "x".repeat(900_000)});
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "notify_round", "params": params}).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(&host).await?;
    let (mut reader, mut writer) = stream.split();
    let reading = async {
        tokio::io::copy(&mut reader, &mut tokio::io::sink())
            .await
            .map(drop)
    };
    let writing = async {
        let mut written = Ok(());
        while written.is_ok() {
            written = writer.write_all(format!("{head}{body}").as_bytes()).await;
        }
        written
    };
    tokio::join!(reading, writing).1
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_that_floods_those_who_register_holds_nobody_up() {
    let url = flooding_manager().await;
    // Its members are waited for while calls of the flood still come.
    let within = Duration::from_secs(150);
    let done = timeout(within, run_aside(&["check", "manager", &url]))
        .await
        .expect("the check goes on");
    assert_eq!(done.code, 1, "{done:?}");
}
