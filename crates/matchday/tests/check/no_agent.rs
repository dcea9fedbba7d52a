//! What is no agent gets one clear line, the right exit code, and no more time or memory than it is worth.

use crate::report::{Report as _, program, run, run_aside};
use matchday_testkit::address::free_address;
use matchday_testkit::address::until_listening;
use matchday_testkit::cli::{Output, Process};
use matchday_testkit::fake_peer::{Answer, FakePeer};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// A server that says one thing to each client, then what `more` says for as long as it is listened to, and closes the connection.
async fn serving(first: &'static str, more: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(speak(stream, first, more));
        }
    });
    url
}

async fn speak(mut stream: TcpStream, first: &'static str, more: Option<&'static str>) {
    let mut heard = [0; 4096];
    let _ = stream.read(&mut heard).await;
    let mut said = stream.write_all(first.as_bytes()).await;
    while let (Ok(()), Some(more)) = (&said, more) {
        said = stream.write_all(more.repeat(1000).as_bytes()).await;
    }
}

/// A server that takes what is posted to /mcp, and to no other path.
async fn serving_at_mcp() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut heard = [0; 4096];
            let length = stream.read(&mut heard).await.unwrap_or(0);
            let (status, body) = if heard[..length].starts_with(b"POST /mcp ") {
                ("200 OK", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
            } else {
                (
                    "404 Not Found",
                    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}"#,
                )
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

async fn line_about(url: &str) -> String {
    let began = Instant::now();
    let done = run_aside(&["check", "player", url]).await;
    assert!(began.elapsed() < Duration::from_secs(20), "{done:?}");
    done.line(1).to_owned()
}

#[test]
fn nobody_there() {
    // Bound without listening, so that no other test listens there meanwhile.
    let bound = TcpSocket::new_v4().unwrap();
    bound.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/mcp", bound.local_addr().unwrap());
    let done = run(&["check", "player", &url]);
    let line = done.line(1);
    assert!(
        line.contains(&format!("nothing listens at {url}")),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tls_where_it_is_asked_for() {
    let url = serving(
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        None,
    )
    .await;
    let url = url.replace("http://", "https://");
    let line = line_about(&url).await;
    assert!(line.contains(&format!("TLS with {url} failed")), "{line}");
}

#[test]
fn what_is_no_url_is_bad_usage() {
    for url in ["localhost:8101", "ftp://localhost/mcp", "", "http://"] {
        let done = run(&["check", "player", url]);
        assert!(done.line(2).contains("no URL of an agent"), "{done:?}");
    }
    assert_eq!(run(&["check", "player"]).code, 2);
    assert_eq!(run(&["check", "umpire", "http://localhost:1/mcp"]).code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_does_not_speak_http() {
    let url = serving("220 mail.example.com ESMTP\r\n", None).await;
    let line = line_about(&url).await;
    assert!(line.contains("instead of answering HTTP"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_never_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let line = line_about(&url).await;
    assert!(line.contains("no complete HTTP answer within 5"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_for_people() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 28\r\nConnection: close\r\n\r\n<html><body>hi</body></html>";
    let line = line_about(&serving(page, None).await).await;
    assert!(line.contains("a page for people"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_names_where_it_leads() {
    let moved = "HTTP/1.1 308 Permanent Redirect\r\nLocation: http://localhost:9/mcp/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let line = line_about(&serving(moved, None).await).await;
    assert!(
        line.contains("redirects to http://localhost:9/mcp/ (HTTP 308)"),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_path() {
    let lost = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let line = line_about(&serving(lost, None).await).await;
    assert!(line.contains("check the path"), "{line}");
}

/// Also where the answer is JSON-RPC, as that of the starters is.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_path_is_told_with_the_right_one() {
    let url = serving_at_mcp().await;
    let line = line_about(&url.replace("/mcp", "/agent")).await;
    assert!(
        line.contains("every message gets HTTP 404 - check the path"),
        "{line}"
    );
    assert!(
        line.contains(&format!("an agent answers at {url}")),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_never_ends() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    let line = line_about(&serving(head, Some("0123456789 ")).await).await;
    assert!(
        line.contains("bytes or more, which no league reads"),
        "{line}"
    );
}

#[test]
fn nobody_registers() {
    let listen = free_address().to_string();
    let done = run(&[
        "check",
        "player",
        "--wait",
        "--listen",
        &listen,
        "--wait-for",
        "0.2",
    ]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.err.contains("no agent registered here in time"),
        "{done:?}"
    );
    let done = run(&[
        "check",
        "player",
        "--wait",
        "--listen",
        &listen,
        "--wait-for",
        "0.2",
        "--json",
    ]);
    assert_eq!(
        (done.code, &done.rule("register.request")["verdict"]),
        (1, &"fail".into()),
        "{done:?}"
    );
}

/// Starts an agent of ours in a folder of its own, and waits until it listens.
fn listening(folder: &tempfile::TempDir, args: &[&str]) -> (Process, String) {
    let listen = free_address().to_string();
    let mut command = program(args);
    let agent = Process::start({
        command
            .args(["--listen", &listen])
            .current_dir(folder.path());
        command
    });
    until_listening(&listen);
    (agent, format!("http://{listen}/mcp"))
}

#[test]
fn a_manager_and_a_referee_are_told_from_a_player() {
    let folder = tempfile::tempdir().unwrap();
    let (_manager, manager) = listening(&folder, &["manager"]);
    let done = run(&["check", "player", &manager]);
    let line = done.line(1);
    assert!(
        line.contains(&format!("{manager} is a manager, not a player")),
        "{line}"
    );
    assert!(
        line.contains(&format!("`matchday check manager {manager}`")),
        "{line}"
    );
    let (_referee, referee) = listening(
        &folder,
        &["referee", "--manager", &manager, "--name", "Whistle"],
    );
    let done = run(&["check", "player", &referee]);
    let line = done.line(1);
    assert!(
        line.contains(&format!("{referee} is a referee, not a player")),
        "{line}"
    );
}

/// Starts a check that waits, then this agent with the check as its manager; ends with the check.
fn waiting_for(checked: &str, agent: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let listen = free_address().to_string();
    let check = program(&["check", checked, "--wait", "--listen", &listen])
        .spawn()
        .unwrap();
    let manager = format!("http://{listen}/mcp");
    let _agent = listening(&folder, &[agent, "--manager", &manager]);
    Output::from(check.wait_with_output().unwrap()).err
}

#[test]
fn one_that_registers_for_the_other_role_is_told() {
    for (checked, agent) in [("player", "referee"), ("referee", "player")] {
        let said = waiting_for(checked, agent);
        let wanted = format!("what registers here is a {agent}, not a {checked}");
        assert!(said.contains(&wanted), "{said}");
    }
}

/// Referees of others know no query of ours: one that names itself in an answer is told, also in an acknowledgement.
#[tokio::test(flavor = "multi_thread")]
async fn a_referee_of_another_make_is_told_from_a_player() {
    let not_found = |asked: &Value| {
        Answer::json(&json!({
            "jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "Method not found"},
        }))
    };
    let named = FakePeer::start(|body| {
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        Answer::json(&json!({
            "jsonrpc": "2.0", "id": asked["id"],
            "result": {"message_type": "ACK", "sender": "referee:REF01", "status": "ok"},
        }))
    })
    .await;
    let line = line_about(&named.url()).await;
    assert!(line.contains("is a referee, not a player"), "{line}");
    let nameless = FakePeer::start(move |body| {
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        match asked["params"]["message_type"].as_str() {
            Some("ROUND_ANNOUNCEMENT") => Answer::json(
                &json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"status": "received"}}),
            ),
            _ => not_found(&asked),
        }
    })
    .await;
    let done = run_aside(&["check", "player", &nameless.url(), "--json"]).await;
    let note = done.rule("join.message")["note"].to_string();
    assert!(note.contains("`matchday check referee --wait`"), "{note}");
}

#[test]
fn a_failure_is_in_the_json_too() {
    let url = format!("http://{}/mcp", free_address());
    let done = run(&["check", "player", &url, "--json"]);
    assert_eq!((done.code, done.json()["stopped"].is_string()), (1, true));
    assert_eq!(done.rule("transport.reachable")["verdict"], "fail");
}
