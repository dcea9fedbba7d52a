//! Requests to a relay, byte by byte.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The status and the body of a response; `None` if the connection was closed without one.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// Why the relay says that the agent has not answered.
    absence: Option<String>,
}

/// What a relay answers in the stead of an agent: why that has not answered.
pub(crate) fn absence(answer: Option<Response>) -> String {
    let answer = answer.expect("the relay answers");
    assert_eq!(answer.status, 503, "{answer:?}");
    answer.absence.expect("only the relay says so")
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Sends a request, and does not wait for the answer yet.
pub(crate) fn send(
    to: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> TcpStream {
    let mut stream = TcpStream::connect(to).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .unwrap();
    stream
}

pub(crate) fn receive(mut stream: TcpStream) -> Option<Response> {
    let mut answer = String::new();
    // A reset is a connection that was closed as well.
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let absence = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("matchday-agent"))
        .map(|(_, said)| said.to_owned());
    Some(Response {
        status,
        body: body.to_owned(),
        absence,
    })
}

pub(crate) fn call(
    to: &str,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: &str,
) -> Option<Response> {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let headers: Vec<_> = bearer
        .iter()
        .map(|bearer| ("Authorization", bearer.as_str()))
        .collect();
    receive(send(to, method, path, &headers, body))
}

/// A mailbox, and its holder's token.
pub(crate) struct Mailbox {
    pub(crate) at: String,
    pub(crate) path: String,
    pub(crate) token: String,
    pub(crate) contact: String,
}

impl Mailbox {
    pub(crate) fn open(at: &str, code: Option<&str>) -> Self {
        let opened = call(at, "POST", "/relay", code, "").unwrap();
        assert_eq!(opened.status, 201, "{opened:?}");
        let opened = opened.json();
        let text = |key: &str| opened[key].as_str().unwrap().to_owned();
        Self {
            at: at.to_owned(),
            path: format!("/relay/{}", text("mailbox")),
            token: text("relay_token"),
            contact: text("contact_endpoint"),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Option<Response> {
        call(
            &self.at,
            "GET",
            &format!("{}/{path}", self.path),
            Some(&self.token),
            "",
        )
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Option<Response> {
        call(
            &self.at,
            "POST",
            &format!("{}/{path}", self.path),
            Some(&self.token),
            body,
        )
    }

    /// Calls the agent, which has this long to answer.
    pub(crate) fn ask(&self, body: &str, timeout_ms: u64) -> TcpStream {
        let timeout = timeout_ms.to_string();
        send(
            &self.at,
            "POST",
            &format!("{}/mcp", self.path),
            &[("Matchday-Timeout-Ms", &timeout)],
            body,
        )
    }

    pub(crate) fn stream(&self, query: &str) -> Lines {
        let path = format!("{}/stream?{query}", self.path);
        let bearer = format!("Bearer {}", self.token);
        let mut lines = BufReader::new(send(
            &self.at,
            "GET",
            &path,
            &[("Authorization", &bearer)],
            "",
        ));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(lines.read_line(&mut head).unwrap() > 0, "no head: {head:?}");
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        Lines {
            stream: lines,
            unread: Vec::new(),
        }
    }
}

/// The lines of a stream, without those that are empty. A line may come in several chunks.
pub(crate) struct Lines {
    stream: BufReader<TcpStream>,
    unread: Vec<u8>,
}

impl Lines {
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                if line.len() > 1 {
                    return Some(serde_json::from_slice(&line).unwrap());
                }
            }
            let mut size = String::new();
            self.stream.read_line(&mut size).unwrap();
            let size = usize::from_str_radix(size.trim(), 16)
                .ok()
                .filter(|size| *size > 0)?;
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).unwrap();
            self.unread.extend_from_slice(&chunk[..size]);
        }
    }
}
