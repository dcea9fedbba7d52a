//! A small player that does everything right, and ways to spoil it.

use matchday_testkit::fake_peer::{Answer, FakePeer};
use serde_json::{Value, json};

/// How a player answers: the message that it was sent, and the right answer to make something of.
pub(crate) type Behaviour = fn(&Value, Answer) -> Answer;

pub(crate) async fn fake_player(behaviour: Behaviour) -> FakePeer {
    FakePeer::start(move |body| {
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        let right =
            json!({"jsonrpc": "2.0", "id": asked["id"], "result": result(&asked["params"])});
        behaviour(&asked["params"], Answer::json(&right))
    })
    .await
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
