//! The other way round: what hostile callers send to a manager and a referee, and what they get for it.

use crate::league::HostileLeague;
use crate::tricks::GZIP_BOMB;
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What a caller sends, and what it is told.
pub(crate) struct Caller {
    pub(crate) name: &'static str,
    /// What is sent, and how often its last piece is sent again.
    pub(crate) pieces: (Vec<u8>, Vec<u8>, usize),
    /// The status that it gets, by the manager and by a referee; 0 where the connection just ends.
    pub(crate) status: [u16; 2],
    /// What the answer has in it.
    pub(crate) says: &'static str,
}

fn post(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn whole(name: &'static str, bytes: Vec<u8>, status: u16, says: &'static str) -> Caller {
    Caller {
        name,
        pieces: (bytes, Vec::new(), 0),
        status: [status; 2],
        says,
    }
}

pub(crate) fn callers() -> Vec<Caller> {
    let head = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n";
    let query =
        json!({"jsonrpc": "2.0", "id": 1, "method": "get_status", "params": {}}).to_string();
    let twice = query.replacen("\"method\":", "\"method\":\"ping\",\"method\":", 1);
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested_within = format!("{}{}", "[".repeat(4_000), "]".repeat(4_000));
    let piece = vec![b' '; 64 * 1024];
    let chunk = [b"10000\r\n".as_slice(), &piece, b"\r\n"].concat();
    vec![
        whole(
            "TLS",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\0\0\0\0\r\n\r\n".to_vec(),
            400,
            "",
        ),
        whole(
            "noise",
            [b"\0\xff".repeat(100), b"\r\n\r\n".to_vec()].concat(),
            400,
            "",
        ),
        Caller {
            name: "body of 100 MB",
            pieces: (
                [head.as_slice(), b"content-length: 104857600\r\n\r\n"].concat(),
                piece.clone(),
                1600,
            ),
            status: [413; 2],
            says: "",
        },
        Caller {
            name: "endless body",
            pieces: (
                [head.as_slice(), b"transfer-encoding: chunked\r\n\r\n"].concat(),
                chunk,
                1 << 20,
            ),
            status: [413; 2],
            says: "",
        },
        Caller {
            name: "endless head",
            pieces: (
                head.to_vec(),
                b"x-more: and more and more and more of it\r\n".to_vec(),
                1 << 20,
            ),
            status: [431; 2],
            says: "",
        },
        whole(
            "gzip bomb",
            post("content-encoding: gzip\r\n", &GZIP_BOMB[..8_000]),
            200,
            "-32700",
        ),
        Caller {
            name: "100,000 levels",
            pieces: (post("", nested.as_bytes()), Vec::new(), 0),
            // A referee reads longer messages than a manager, but none so deep.
            status: [413, 200],
            says: "error",
        },
        whole(
            "4,000 levels",
            post("", nested_within.as_bytes()),
            200,
            "-32700",
        ),
        whole(
            "duplicate keys",
            post("", twice.as_bytes()),
            200,
            "\"id\":1",
        ),
        whole(
            "invalid UTF-8",
            post("", b"{\"jsonrpc\": \"2.0\", \"id\": \"\xff\xfe\"}"),
            200,
            "-32700",
        ),
        whole(
            "not a number",
            post(
                "",
                b"{\"jsonrpc\": \"2.0\", \"id\": NaN, \"method\": \"ping\"}",
            ),
            200,
            "-32700",
        ),
        whole(
            "huge number",
            post(
                "",
                format!(
                    "{{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"ping\"}}",
                    "9".repeat(5000)
                )
                .as_bytes(),
            ),
            200,
            "error",
        ),
        whole(
            "huge exponent",
            post(
                "",
                b"{\"jsonrpc\": \"2.0\", \"id\": 1e999999999, \"method\": \"ping\"}",
            ),
            200,
            "error",
        ),
        whole(
            "truncated JSON",
            post("", &query.as_bytes()[..20]),
            200,
            "-32700",
        ),
        whole(
            "web page",
            post("content-type: text/html\r\n", b"<html></html>"),
            200,
            "-32700",
        ),
        whole(
            "two lengths",
            post("content-length: 3\r\n", query.as_bytes()),
            400,
            "",
        ),
        whole(
            "length and chunks",
            post("transfer-encoding: chunked\r\n", query.as_bytes()),
            400,
            "",
        ),
        whole(
            "body cut short",
            [head.as_slice(), b"content-length: 500\r\n\r\n{"].concat(),
            400,
            "",
        ),
        whole("nothing", Vec::new(), 0, ""),
    ]
}

/// Sends it all, closes that half, and hears what comes. The status, and the text.
pub(crate) async fn call(address: SocketAddr, caller: &Caller) -> (u16, String) {
    let Ok(stream) = TcpStream::connect(address).await else {
        return (0, "no connection".to_owned());
    };
    let (mut heard, mut said) = stream.into_split();
    let (first, again, times) = caller.pieces.clone();
    let saying = tokio::spawn(async move {
        if said.write_all(&first).await.is_err() {
            return;
        }
        for _ in 0..times {
            if said.write_all(&again).await.is_err() {
                return;
            }
        }
        let _ = said.shutdown().await;
    });
    let mut bytes = Vec::new();
    // A connection that is reset has said what it had to say.
    let _ = heard.read_to_end(&mut bytes).await;
    saying.abort();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text
        .get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap_or_default();
    (status, text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_caller_sends_it_is_told_what_was_wrong_and_nobody_else_notices() {
    let hostile_league = HostileLeague::open(0, &[], 1, Vec::new()).await;
    let mut wrong = Vec::new();
    for (server, address) in hostile_league.addresses().into_iter().enumerate() {
        for caller in callers() {
            let called = timeout(Duration::from_secs(15), call(address, &caller)).await;
            let (status, text) = called.unwrap_or((1, "no end".to_owned()));
            if status != caller.status[server] || !text.contains(caller.says) {
                wrong.push(format!("{} at {address}: {status} {text}", caller.name));
            }
            let ping = whole(
                "ping",
                post(
                    "connection: close\r\n",
                    br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
                ),
                200,
                "",
            );
            assert_eq!(call(address, &ping).await.0, 200, "after {}", caller.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
