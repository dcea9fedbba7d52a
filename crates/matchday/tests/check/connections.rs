//! Servers that close a connection after they have failed at a request over it, and serve the next one.

use crate::fake_player::{Memory, answer_to};
use crate::report::{Report as _, run_aside};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A player that fails at a body that is not JSON: with status 500, and then hangs up on what comes over the same connection.
async fn closing_after_a_failure() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let memory = Arc::new(Mutex::new(Memory::default()));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&memory)));
        }
    });
    url
}

async fn serve(mut stream: TcpStream, memory: Arc<Mutex<Memory>>) {
    let mut heard = Vec::new();
    let mut has_failed = false;
    while let Some((body, is_last)) = next_body(&mut stream, &mut heard).await {
        if has_failed {
            return;
        }
        let (status, said) = match serde_json::from_slice::<Value>(&body) {
            Ok(request) => {
                let answer = answer_to(&request, &mut memory.lock().unwrap());
                (answer.status, answer.body)
            }
            Err(_) => (500, "Internal Server Error".to_owned()),
        };
        has_failed = status == 500;
        let head = format!(
            "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            said.len()
        );
        let sent = stream.write_all((head + &said).as_bytes()).await;
        if sent.is_err() || is_last {
            return;
        }
    }
}

/// The body of the next request, and whether it is the last; `None` when the connection ends.
async fn next_body(stream: &mut TcpStream, heard: &mut Vec<u8>) -> Option<(Vec<u8>, bool)> {
    loop {
        let text = String::from_utf8_lossy(heard).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length: usize = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase()
                        .strip_prefix("content-length:")?
                        .trim()
                        .parse()
                        .ok()
                })
                .unwrap_or(0);
            let end = head.len() + 4 + length;
            if heard.len() >= end {
                let body = heard[head.len() + 4..end].to_vec();
                heard.drain(..end);
                let is_last = head.to_ascii_lowercase().contains("connection: close");
                return Some((body, is_last));
            }
        }
        if stream.read_buf(heard).await.ok()? == 0 {
            return None;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_closes_after_a_failure_is_asked_over_a_new_connection() {
    let url = closing_after_a_failure().await;
    let done = run_aside(&["check", "player", &url, "--json"]).await;
    assert_eq!(done.rules("fail"), BTreeSet::new(), "{}", done.troubles());
    assert_eq!(
        done.rules("warning"),
        BTreeSet::from(["rpc.parse-error".to_owned()]),
        "{}",
        done.troubles()
    );
    let note = done.rule("rpc.parse-error")["note"].to_string();
    assert!(note.contains("got HTTP 500"), "{note}");
    assert_eq!(
        (done.code, &done.json()["readiness"]),
        (0, &"any_league".into())
    );
}
