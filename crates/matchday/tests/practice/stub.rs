//! A small player that does everything right, and ways to spoil it.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use matchday::net::server;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::sleep;

/// What a player answers with, and after how long.
pub(crate) struct Answer {
    pub(crate) body: String,
    pub(crate) after: Duration,
}

impl Answer {
    pub(crate) fn new(body: impl ToString) -> Self {
        Self { body: body.to_string(), after: Duration::ZERO }
    }
}

/// How a player answers: the message that it was sent, and the right answer to make something of.
pub(crate) type Habit = fn(&Value, Answer) -> Answer;

/// A server that answers by habit for as long as it is kept.
pub(crate) struct Stub {
    pub(crate) url: String,
    _close: watch::Sender<bool>,
}

pub(crate) async fn stub(habit: Habit) -> Stub {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (close, closing) = watch::channel(false);
    let handler = move |request: hyper::Request<hyper::body::Incoming>, _| async move {
        let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let right = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result(&asked["params"])});
        let answer = habit(&asked["params"], Answer::new(right));
        sleep(answer.after).await;
        let mut response = Response::new(Full::new(Bytes::from(answer.body)));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    };
    tokio::spawn(server::serve(listener, 100, handler, closing));
    Stub { url, _close: close }
}

fn result(message: &Value) -> Value {
    let mut answer = json!({
        "protocol": "league.v2", "sender": "player:P01", "timestamp": "2026-03-02T09:01:00Z",
        "conversation_id": message["conversation_id"], "auth_token": "tok_p01_of_the_tests",
        "match_id": message["match_id"], "player_id": "P01",
    });
    match message["message_type"].as_str() {
        Some("GAME_INVITATION") => {
            answer["message_type"] = json!("GAME_JOIN_ACK");
            answer["arrival_timestamp"] = json!("2026-03-02T09:01:00Z");
            answer["accept"] = json!(true);
        }
        Some("CHOOSE_PARITY_CALL") => {
            answer["message_type"] = json!("CHOOSE_PARITY_RESPONSE");
            answer["parity_choice"] = json!("odd");
        }
        _ => return json!({"status": "received"}),
    }
    answer
}
