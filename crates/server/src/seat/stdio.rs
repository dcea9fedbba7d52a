//! Seats for a host that starts its servers by command: MCP over standard input and output. The seats' players are still called
//! over HTTP.

use super::Seats;
use super::server::SeatServer;
use super::session::SeatSession;
use matchday_core::protocol::jsonrpc::Fault;
use matchday_runtime::rpc_error;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use serde_json::Value;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::thread;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

/// No call of a tool is longer.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// How many lines wait to be read.
const LINES_MAX: usize = 16;

/// Serves one client until it closes the standard input.
pub async fn serve_stdio(seats: Arc<Seats>) -> Result<(), String> {
    seats.start_brief().await;
    let server = SeatServer(SeatSession::new(seats));
    let running = server
        .serve(Lines::of_standard_input()?)
        .await
        .map_err(|error| error.to_string())?;
    running
        .waiting()
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}

/// A message is a line. What is no message is answered, since its sender would wait for ever.
struct Lines(mpsc::Receiver<Vec<u8>>);

impl Lines {
    /// A thread of its own reads, which the end of the process does not wait for: a read may never return.
    fn of_standard_input() -> Result<Self, String> {
        let (lines, received) = mpsc::channel(LINES_MAX);
        let read = move || {
            let mut input = io::stdin().lock();
            while let Some(line) = next_line(&mut input) {
                if lines.blocking_send(line).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("standard input".to_owned());
        thread.spawn(read).map_err(|error| error.to_string())?;
        Ok(Self(received))
    }
}

/// The next line, cut where it is too long; `None` at the end.
fn next_line(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let bytes = input
        .by_ref()
        .take(LINE_BYTES_MAX)
        .read_until(b'\n', &mut line);
    bytes.ok().filter(|bytes| *bytes > 0)?;
    if !line.ends_with(b"\n") {
        input.skip_until(b'\n').ok()?;
    }
    Some(line)
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = serde_json::to_vec(&message).map_err(io::Error::other);
        async move { write_line(line?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = self.0.recv().await?;
            match read_message(&line) {
                Ok(message) => return Some(message),
                Err(Some(refusal)) => {
                    // Its own task: this future is dropped whenever a reply is ready to be sent.
                    tokio::spawn(write_line(refusal));
                }
                Err(None) => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.0.close();
        Ok(())
    }
}

/// The message in a line, or the answer to what is none; an empty line and an unknown notification have no answer.
fn read_message(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Option<Vec<u8>>> {
    if line.trim_ascii().is_empty() {
        return Err(None);
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let why = format!("a line must be one message in JSON: {error}");
        Some(rpc_error(Fault::Parse, &why))
    })?;
    let is_notification = value.get("method").is_some() && value.get("id").is_none();
    serde_json::from_value(value).map_err(|_| {
        let why = "this is no message of the Model Context Protocol";
        (!is_notification).then(|| rpc_error(Fault::InvalidRequest, why))
    })
}

async fn write_line(mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let write = move || {
        let mut output = io::stdout().lock();
        output.write_all(&line).and_then(|()| output.flush())
    };
    spawn_blocking(write).await?
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_no_message_is_answered() {
        let code = |line: &str| {
            let refusal = read_message(line.as_bytes()).err()??;
            let answer: Value = serde_json::from_slice(&refusal).unwrap();
            assert_eq!(answer["id"], Value::Null);
            answer["error"]["code"].as_i64()
        };
        assert_eq!(code("{\"jsonrpc\":"), Some(-32700));
        assert_eq!(code("hello"), Some(-32700));
        assert_eq!(code("[1]"), Some(-32600));
        assert_eq!(code("{\"id\": 1}"), Some(-32600));
        assert_eq!(code("\r\n"), None);
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        assert!(read_message(ping.as_bytes()).is_ok());
    }

    #[test]
    fn a_line_that_is_too_long_is_cut() {
        let long = format!("{}\nnext", "x".repeat(100_000));
        let mut input = long.as_bytes();
        assert_eq!(next_line(&mut input).unwrap().len(), 64 * 1024);
        assert_eq!(next_line(&mut input).as_deref(), Some(&b"next"[..]));
        assert_eq!(next_line(&mut input), None);
    }
}
