//! What cheats and broken programs say when they are asked to choose. They have joined the match like anyone else.

use crate::wire::{WireRequest, as_response, json_response, response, right_result};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    WrongType,
    TwoAnswers,
    Truncated,
    Nested,
    DuplicateKeys,
    InvalidUtf8,
    NotANumber,
    HugeNumber,
    WrongCallId,
    WrongPlayerId,
    OtherMatch,
    Replayed,
    AsOpponent,
    /// Says nothing itself, and calls the referee in the name of the other.
    ForgedCall,
}

const LEVELS: usize = 100_000;

impl Content {
    /// The answer in bytes. `joined`: what the hostile agent said when it joined.
    pub(crate) fn answer(self, asked: &WireRequest, token: &str, joined: &Value) -> Vec<u8> {
        let right = right_result(asked, token);
        let whole = as_response(asked, &right).to_string();
        let opponent = asked.message["context"]["opponent_id"]
            .as_str()
            .unwrap_or_default();
        match self {
            Self::WrongType => response("200 OK", "content-type: image/png\r\n", whole.as_bytes()),
            // The second one is there before anything has been asked that it could answer.
            Self::TwoAnswers => {
                let early = as_response(asked, joined).to_string();
                [json_response(&whole), json_response(&early)].concat()
            }
            Self::Truncated => json_response(&whole[..whole.len() / 2]),
            Self::Nested => json_response(&format!("{}{}", "[".repeat(LEVELS), "]".repeat(LEVELS))),
            // Of two the last one counts, as in most readers of JSON.
            Self::DuplicateKeys => {
                let twice = whole.replacen(
                    "\"parity_choice\":",
                    "\"parity_choice\":\"even\",\"parity_choice\":",
                    1,
                );
                json_response(&twice)
            }
            Self::InvalidUtf8 => {
                let cut = whole.find("odd").unwrap_or_default();
                let bytes = [
                    &whole.as_bytes()[..cut],
                    b"\xff\xfe",
                    &whole.as_bytes()[cut..],
                ]
                .concat();
                response("200 OK", "content-type: application/json\r\n", &bytes)
            }
            Self::NotANumber => json_response(&whole.replacen("\"odd\"", "NaN", 1)),
            Self::HugeNumber => json_response(&whole.replacen("\"odd\"", &"9".repeat(5000), 1)),
            Self::WrongCallId => json_response(
                &json!({"jsonrpc": "2.0", "id": 987_654, "result": right}).to_string(),
            ),
            Self::WrongPlayerId => changed(
                asked,
                right,
                &[("player_id", "P99"), ("sender", "player:P99")],
            ),
            Self::OtherMatch => changed(asked, right, &[("match_id", "R99M99")]),
            Self::Replayed => json_response(&as_response(asked, joined).to_string()),
            Self::AsOpponent => {
                let name = format!("player:{opponent}");
                changed(asked, right, &[("player_id", opponent), ("sender", &name)])
            }
            Self::ForgedCall => {
                json_response(&as_response(asked, &json!({"status": "received"})).to_string())
            }
        }
    }

    /// What the hostile agent calls the referee with, instead of or beside its answer.
    pub(crate) fn call(self, asked: &WireRequest, token: &str) -> Option<Value> {
        if self != Self::ForgedCall {
            return None;
        }
        let mut message = right_result(asked, token);
        let opponent = &asked.message["context"]["opponent_id"];
        message["player_id"] = opponent.clone();
        message["sender"] = json!(format!("player:{}", opponent.as_str().unwrap_or_default()));
        Some(
            json!({"jsonrpc": "2.0", "id": 1, "method": "choose_parity_response", "params": message}),
        )
    }
}

fn changed(asked: &WireRequest, mut right: Value, fields: &[(&str, &str)]) -> Vec<u8> {
    for (field, value) in fields {
        right[*field] = json!(value);
    }
    json_response(&as_response(asked, &right).to_string())
}
