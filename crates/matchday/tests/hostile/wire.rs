//! HTTP by hand: one request read from a socket, one answer written to it, and nothing checked.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A request as it came.
pub(crate) struct WireRequest {
    pub(crate) id: Value,
    pub(crate) message: Value,
}

impl WireRequest {
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.message["message_type"] == kind
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.message[field].as_str().unwrap_or_default()
    }
}

/// The next request on this connection, unless the peer has closed it.
pub(crate) async fn next_request(stream: &mut TcpStream) -> Option<WireRequest> {
    let mut bytes = Vec::new();
    let body_at = loop {
        if let Some(at) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..body_at]).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let whole = body_at + length.unwrap_or(0_usize);
    while bytes.len() < whole {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let call: Value = serde_json::from_slice(&bytes[body_at..whole]).unwrap_or_default();
    Some(WireRequest {
        id: call["id"].clone(),
        message: call["params"].clone(),
    })
}

/// A whole answer in bytes.
pub(crate) fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) fn json_response(body: &str) -> Vec<u8> {
    response(
        "200 OK",
        "content-type: application/json\r\n",
        body.as_bytes(),
    )
}

/// What a well-behaved player says, as the result of a JSON-RPC response. `token` is the one that it registered for.
pub(crate) fn right_result(asked: &WireRequest, token: &str) -> Value {
    let own = asked.text("player_id");
    let mut answer = json!({
        "protocol": "league.v2", "sender": format!("player:{own}"), "timestamp": asked.message["timestamp"],
        "conversation_id": asked.message["conversation_id"], "auth_token": token,
        "match_id": asked.message["match_id"], "player_id": own,
    });
    if asked.is("GAME_INVITATION") {
        answer["message_type"] = json!("GAME_JOIN_ACK");
        answer["arrival_timestamp"] = asked.message["timestamp"].clone();
        answer["accept"] = json!(true);
    } else if asked.is("CHOOSE_PARITY_CALL") {
        answer["message_type"] = json!("CHOOSE_PARITY_RESPONSE");
        answer["parity_choice"] = json!("odd");
    } else {
        return json!({"status": "received"});
    }
    answer
}

pub(crate) fn as_response(asked: &WireRequest, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": asked.id, "result": result})
}

/// Writes until the peer has had enough, at most `times`. True if it took all of it.
pub(crate) async fn pour(stream: &mut TcpStream, piece: &[u8], times: usize) -> bool {
    for _ in 0..times {
        if stream.write_all(piece).await.is_err() {
            return false;
        }
    }
    true
}
