//! Clients of the Model Context Protocol in a few lines: one for each revision, and the HTTP beneath.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::HeaderMap;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Reply {
    /// The JSON-RPC message in it, whether it came alone or as the last event of a stream.
    pub fn json(&self) -> Value {
        let mut text = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(str::trim)
            .rev();
        let last = text.find(|data| !data.is_empty()).unwrap_or(&self.body);
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Opens an exchange, and leaves its answer to be read.
pub async fn open(
    to: SocketAddr,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response<Incoming> {
    open_path(to, method, "/mcp", headers, body).await
}

/// The same at another path.
pub async fn open_path(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response<Incoming> {
    let stream = TcpStream::connect(to).await.unwrap();
    let (mut line, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path);
    if !headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("host"))
    {
        request = request.header("host", to.to_string());
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request
        .body(Full::new(Bytes::from(body.to_owned())))
        .unwrap();
    timeout(PATIENCE, line.send_request(request))
        .await
        .expect("an answer in time")
        .unwrap()
}

pub async fn send(to: SocketAddr, method: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    read(open(to, method, headers, body).await).await
}

/// The same at another path than `/mcp`.
pub async fn send_to(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    read(open_path(to, method, path, headers, body).await).await
}

pub async fn get(to: SocketAddr, path: &str) -> Reply {
    read(open_path(to, "GET", path, &[], "").await).await
}

async fn read(response: Response<Incoming>) -> Reply {
    let (head, body) = response.into_parts();
    let body = timeout(PATIENCE, body.collect())
        .await
        .expect("the whole answer in time")
        .unwrap();
    let body = String::from_utf8(body.to_bytes().to_vec()).unwrap();
    Reply {
        status: head.status.as_u16(),
        headers: head.headers,
        body,
    }
}

/// Reads a stream until an event's message fulfils `wanted`.
pub async fn until_event(body: &mut Incoming, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut text = String::new();
    let reading = async {
        loop {
            let frame = body.frame().await.expect("the stream goes on").unwrap();
            text.push_str(&String::from_utf8_lossy(
                &frame.into_data().unwrap_or_default(),
            ));
            while let Some((event, rest)) = text.split_once("\n\n") {
                let data = event
                    .lines()
                    .filter_map(|line| line.strip_prefix("data:"))
                    .collect::<String>();
                if let Ok(message) = serde_json::from_str(data.trim())
                    && wanted(&message)
                {
                    return message;
                }
                text = rest.to_owned();
            }
        }
    };
    timeout(PATIENCE, reading).await.expect("the event in time")
}

/// A client of revision 2025-11-25, with its session.
pub struct Legacy {
    pub to: SocketAddr,
    pub session: String,
}

impl Legacy {
    pub async fn connect(to: SocketAddr) -> Self {
        let reply = send(to, "POST", &[], &initialize("2025-11-25")).await;
        assert_eq!(
            reply.json()["result"]["protocolVersion"],
            "2025-11-25",
            "{reply:?}"
        );
        let session = reply.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let client = Self { to, session };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.send("POST", &ready.to_string()).await.status, 202);
        client
    }

    pub fn headers(&self) -> Vec<(&str, &str)> {
        vec![
            ("mcp-session-id", &self.session),
            ("mcp-protocol-version", "2025-11-25"),
            ("accept", "application/json, text/event-stream"),
        ]
    }

    pub async fn send(&self, method: &str, body: &str) -> Reply {
        send(self.to, method, &self.headers(), body).await
    }

    pub async fn ask(&self, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.send("POST", &request.to_string()).await.json()
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self
            .ask("tools/call", json!({"name": tool, "arguments": arguments}))
            .await;
        answer["result"].clone()
    }
}

pub fn initialize(version: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1.0.0"},
    }})
    .to_string()
}

/// A request of revision 2026-07-28: all that the server must know is in it.
pub fn modern(method: &str, params: Value) -> String {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1.0.0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string()
}

/// Asks in revision 2026-07-28.
pub async fn ask(to: SocketAddr, method: &str, params: Value) -> Reply {
    ask_with(to, &[], method, params).await
}

async fn ask_with(to: SocketAddr, more: &[(&str, &str)], method: &str, params: Value) -> Reply {
    let name = params
        .get("name")
        .or_else(|| params.get("uri"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    let mut headers = vec![
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ];
    headers.extend(more);
    if let Some(name) = &name {
        headers.push(("mcp-name", name));
    }
    send(to, "POST", &headers, &modern(method, params)).await
}

/// Calls a tool in revision 2026-07-28.
pub async fn call(to: SocketAddr, tool: &str, arguments: Value) -> Value {
    call_with(to, &[], tool, arguments).await
}

/// The same, with further headers.
pub async fn call_with(
    to: SocketAddr,
    headers: &[(&str, &str)],
    tool: &str,
    arguments: Value,
) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = ask_with(to, headers, "tools/call", params).await.json();
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}
