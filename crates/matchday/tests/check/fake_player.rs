//! A small player that does everything right, and ways to spoil it.

use matchday_net::client::Client;
use matchday_runtime::Clock;
use matchday_testkit::fake_peer::{Answer, FakePeer};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

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
pub(crate) type Behaviour = fn(&Value, &mut Memory, Answer) -> Answer;

pub(crate) async fn fake_player(behaviour: Behaviour) -> FakePeer {
    let memory = Mutex::new(Memory::default());
    FakePeer::start(move |body| {
        let mut memory = memory.lock().unwrap();
        let right = right(body, &mut memory);
        behaviour(
            &serde_json::from_slice(body).unwrap_or_default(),
            &mut memory,
            right,
        )
    })
    .await
}

pub(crate) fn failed() -> Answer {
    Answer::new(500, "Internal Server Error")
}

/// The right answer to a request, for a player that unwraps it first.
pub(crate) fn answer_to(request: &Value, memory: &mut Memory) -> Answer {
    right(request.to_string().as_bytes(), memory)
}

/// The right answer to anything.
fn right(body: &[u8], memory: &mut Memory) -> Answer {
    let error = |id: &Value, code: i64| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}});
    let Ok(request) = serde_json::from_slice::<Value>(body) else {
        return Answer::json(&error(&Value::Null, -32700));
    };
    if let Some(batch) = request.as_array() {
        let answers: Vec<Value> = batch
            .iter()
            .map(|one| {
                serde_json::from_str(&right(one.to_string().as_bytes(), memory).body).unwrap()
            })
            .collect();
        return Answer::json(&json!(answers));
    }
    let Some(id) = request.get("id") else {
        return Answer::new(202, "");
    };
    if !request["method"].is_string() {
        return Answer::json(&error(id, -32600));
    }
    match &request["params"] {
        Value::Object(params) => {
            Answer::json(&json!({"jsonrpc": "2.0", "id": id, "result": result(params, memory)}))
        }
        _ => Answer::json(&error(id, -32602)),
    }
}

fn result(message: &Map<String, Value>, memory: &mut Memory) -> Value {
    let text = |key: &str| {
        message
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let now = json!(Clock::start().now());
    let mut answer = json!({
        "protocol": "league.v2", "sender": "player:P01", "timestamp": now,
        "conversation_id": text("conversation_id"), "auth_token": "tok_p01_of_the_tests",
        "match_id": text("match_id"), "player_id": "P01",
    });
    match text("message_type").as_str() {
        "GAME_INVITATION" => {
            memory.last_match = json!(text("match_id"));
            answer["message_type"] = json!("GAME_JOIN_ACK");
            answer["arrival_timestamp"] = now;
            answer["accept"] = json!(true);
        }
        "CHOOSE_PARITY_CALL" | "GAME_MOVE_CALL" => {
            memory.questions += 1;
            let choice = *memory.choices.entry(text("match_id")).or_insert("odd");
            answer["nonce"] = json!(format!("0123-{}", text("match_id")));
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
    Answer {
        body: body.to_string(),
        ..answer
    }
}

/// Says "received", and sends the answer to the referee as a message of its own.
pub(crate) fn send_apart(referee: &str, answer: Answer, asked: &Value) -> Answer {
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "answer", "params": body["result"]});
    let referee = referee.to_owned();
    tokio::spawn(async move {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        Client::new()
            .post(&referee, request.to_string().into(), deadline, 1 << 20)
            .await
            .unwrap();
    });
    Answer::json(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"status": "received"}}))
}

/// Changes every answer that is JSON.
pub(crate) fn rewrap(answer: Answer, change: impl Fn(Value) -> Value) -> Answer {
    match serde_json::from_str(&answer.body) {
        Ok(body) => Answer {
            body: change(body).to_string(),
            ..answer
        },
        Err(_) => answer,
    }
}

/// What a request's message calls itself.
pub(crate) fn kind(request: &Value) -> &str {
    request["params"]["message_type"]
        .as_str()
        .unwrap_or_default()
}
