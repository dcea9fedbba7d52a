//! A small player that does everything right, and ways to spoil it.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use matchday::net::client::Client;
use matchday::net::server;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What a player answers with.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) after: Duration,
}

impl Answer {
    pub(crate) fn json(body: Value) -> Self {
        Self { status: 200, body: body.to_string(), after: Duration::ZERO }
    }

    pub(crate) fn failed() -> Self {
        Self { status: 500, body: "Internal Server Error".to_owned(), after: Duration::ZERO }
    }

    /// The last that is heard of the player.
    pub(crate) fn dead() -> Self {
        Self::nothing(DEAD)
    }

    fn nothing(status: u16) -> Self {
        Self { status, body: String::new(), after: Duration::ZERO }
    }
}

/// Not a status of HTTP: the server ends.
const DEAD: u16 = 0;

/// What a player remembers from one question to the next.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) choices: BTreeMap<String, &'static str>,
    pub(crate) questions: usize,
    pub(crate) last_match: Value,
    /// Where the referee listens, if an announcement said so.
    pub(crate) referee: String,
}

/// How a player answers: the body of the request, its memory, and the right answer to make something of.
pub(crate) type Habit = fn(&Value, &mut Memory, Answer) -> Answer;

/// A server that answers by habit for as long as it is kept.
pub(crate) struct Stub {
    pub(crate) url: String,
    _close: Arc<watch::Sender<bool>>,
}

pub(crate) async fn stub(habit: Habit) -> Stub {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (close, closing) = watch::channel(false);
    let memory = Arc::new(Mutex::new(Memory::default()));
    let close = Arc::new(close);
    let kill = Arc::clone(&close);
    let handler = move |request: hyper::Request<hyper::body::Incoming>, _| {
        let (memory, kill) = (Arc::clone(&memory), Arc::clone(&kill));
        async move {
            let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
            let answer = {
                let mut memory = memory.lock().unwrap();
                let right = right(&body, &mut memory);
                habit(&asked, &mut memory, right)
            };
            if answer.status == DEAD {
                kill.send(true).unwrap();
                return Response::new(Full::default().boxed());
            }
            tokio::time::sleep(answer.after).await;
            let mut response = Response::new(Full::new(Bytes::from(answer.body)).boxed());
            *response.status_mut() = StatusCode::from_u16(answer.status).unwrap();
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
    };
    tokio::spawn(server::serve(listener, 100, handler, closing));
    Stub { url, _close: close }
}

/// The right answer to a request, for a player that unwraps it first.
pub(crate) fn answer_to(request: &Value, memory: &mut Memory) -> Answer {
    right(request.to_string().as_bytes(), memory)
}

/// The right answer to anything.
fn right(body: &[u8], memory: &mut Memory) -> Answer {
    let error =
        |id: &Value, code: i64| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}});
    let Ok(request) = serde_json::from_slice::<Value>(body) else {
        return Answer::json(error(&Value::Null, -32700));
    };
    if let Some(batch) = request.as_array() {
        let answers: Vec<Value> = batch
            .iter()
            .map(|one| serde_json::from_str(&right(one.to_string().as_bytes(), memory).body).unwrap())
            .collect();
        return Answer::json(json!(answers));
    }
    let Some(id) = request.get("id") else {
        return Answer::nothing(202);
    };
    if !request["method"].is_string() {
        return Answer::json(error(id, -32600));
    }
    match &request["params"] {
        Value::Object(params) => {
            Answer::json(json!({"jsonrpc": "2.0", "id": id, "result": result(params, memory)}))
        }
        _ => Answer::json(error(id, -32602)),
    }
}

fn result(message: &Map<String, Value>, memory: &mut Memory) -> Value {
    let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut answer = json!({
        "protocol": "league.v2", "sender": "player:P01", "timestamp": "2026-03-02T09:01:00Z",
        "conversation_id": text("conversation_id"), "auth_token": "tok_p01_of_the_tests",
        "match_id": text("match_id"), "player_id": "P01",
    });
    match text("message_type").as_str() {
        "GAME_INVITATION" => {
            memory.last_match = json!(text("match_id"));
            answer["message_type"] = json!("GAME_JOIN_ACK");
            answer["arrival_timestamp"] = json!("2026-03-02T09:01:00Z");
            answer["accept"] = json!(true);
        }
        "CHOOSE_PARITY_CALL" | "GAME_MOVE_CALL" => {
            memory.questions += 1;
            let choice = *memory.choices.entry(text("match_id")).or_insert("odd");
            answer["nonce"] = json!("0123");
            if text("message_type") == "GAME_MOVE_CALL" {
                answer["message_type"] = json!("GAME_MOVE_RESPONSE");
                answer["game_type"] = json!("even_odd");
                answer["move_data"] = json!({"move_type": "choose_parity", "choice": choice});
            } else {
                answer["message_type"] = json!("CHOOSE_PARITY_RESPONSE");
                answer["parity_choice"] = json!(choice);
            }
        }
        _ => return json!({"status": "received"}),
    }
    answer
}

/// Changes the result of an answer of this type.
pub(crate) fn spoil(answer: Answer, message_type: &str, change: impl Fn(&mut Value)) -> Answer {
    let mut body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    if body["result"]["message_type"] != message_type {
        return answer;
    }
    change(&mut body["result"]);
    Answer { body: body.to_string(), ..answer }
}

/// Says "received", and sends the answer to the referee as a message of its own.
pub(crate) fn send_apart(referee: &str, answer: Answer, asked: &Value) -> Answer {
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "answer", "params": body["result"]});
    let referee = referee.to_owned();
    tokio::spawn(async move {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
        Client::new().post(&referee, request.to_string().into(), deadline, 1 << 20).await.unwrap();
    });
    Answer::json(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"status": "received"}}))
}

/// Changes every answer that is JSON.
pub(crate) fn rewrap(answer: Answer, change: impl Fn(Value) -> Value) -> Answer {
    match serde_json::from_str(&answer.body) {
        Ok(body) => Answer { body: change(body).to_string(), ..answer },
        Err(_) => answer,
    }
}

/// What a request's message calls itself.
pub(crate) fn kind(request: &Value) -> &str {
    request["params"]["message_type"].as_str().unwrap_or_default()
}
