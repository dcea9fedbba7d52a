//! A manager of another make: a plain HTTP server that answers by a rule, and records what it was asked.

use matchday_testkit::cli::Cli;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

pub(crate) const UNKNOWN_METHOD: &str =
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#;

pub(crate) struct OtherManager {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl OtherManager {
    /// `answer` makes an HTTP status and a body of each request; status 0 closes the connection without an answer.
    pub(crate) fn start(answer: impl Fn(&Value) -> (u16, String) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let Some(body) = read_body(&stream) else {
                    continue;
                };
                let request: Value = serde_json::from_slice(&body).unwrap_or_default();
                log.lock().unwrap().push(request.clone());
                let (status, body) = answer(&request);
                if status > 0 {
                    let length = body.len();
                    let head = format!(
                        "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
                    );
                    stream
                        .write_all(format!("{head}{body}").as_bytes())
                        .unwrap();
                }
            }
        });
        Self { url, requests }
    }

    /// A folder for commands that talk to this manager.
    pub(crate) fn cli(&self) -> Cli {
        let mut cli = Cli::new(crate::MATCHDAY);
        cli.manager.clone_from(&self.url);
        cli
    }

    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn read_body(stream: &TcpStream) -> Option<Vec<u8>> {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
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
    stream.read_exact(&mut body).ok()?;
    Some(body)
}
