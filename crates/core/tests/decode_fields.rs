//! Every field of every message, one at a time: left out, null, or of a wrong type.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::MessageType as M;
use matchday_core::protocol::decode::Conformance::Strict;
use matchday_core::protocol::decode::Rejection;
use matchday_testkit::golden::{self, read_body};
use serde_json::{Value, json};

/// What a message may leave out.
fn optional(message_type: M) -> &'static [&'static str] {
    match message_type {
        M::StartLeague => &["conversation_id", "timestamp"],
        M::RefereeRegisterRequest => &[
            "referee_meta.protocol_version",
            "referee_meta.capabilities",
            "referee_meta.public_key",
        ],
        M::LeagueRegisterRequest => &[
            "player_meta.protocol_version",
            "player_meta.public_key",
            "player_meta.strategy",
            "player_meta.capabilities",
        ],
        M::RefereeRegisterResponse | M::LeagueRegisterResponse => &[
            "league_id",
            "match_tokens",
            "manager_public_key",
            "error_code",
            "error_name",
            "context",
        ],
        M::RoundAnnouncement => &[
            "starts_at",
            "matches[].referee_id",
            "matches[].conversation_id",
            "matches[].match_tokens",
            "matches[].referee_public_key",
            "matches[].replay",
            "matches[].player_A_record",
            "matches[].player_B_record",
            "matches[].player_A_dialect",
            "matches[].player_B_dialect",
            "matches[].player_A_tokens",
            "matches[].player_B_tokens",
            "matches[].player_A_public_key",
            "matches[].player_B_public_key",
            "matches[].conformance",
        ],
        M::RoundCompleted => &["matches_played", "next_round_id", "checkpoint"],
        M::LeagueCompleted => &["final_standings[].display_name", "checkpoint"],
        M::GameInvitation => &[
            "player_id",
            "draw_commitment",
            "commitment_signature",
            "draw_scheme",
        ],
        M::ChooseParityCall => &[
            "league_id",
            "round_id",
            "context",
            "context.opponent_id",
            "context.round_id",
            "context.your_standings",
            "turn",
            "opponent_nonce_commitment",
        ],
        M::ChooseParityResponse | M::GameMoveResponse => &["nonce", "signature"],
        M::GameMoveCall => &["league_id", "round_id", "turn", "opponent_nonce_commitment"],
        M::GameOver => &[
            "league_id",
            "round_id",
            "reason",
            "signature",
            "game_result.winner_player_id",
            "game_result.drawn_number",
            "game_result.number_parity",
            "game_result.fairness",
            "game_result.fairness.nonce_commitments",
            "game_result.fairness.signatures",
            "game_result.fairness.proof",
        ],
        M::MatchResultReport => &[
            "result.winner",
            "result.status",
            "result.reason",
            "result.details.drawn_number",
            "result.details.number_parity",
            "result.details.fairness",
            "result.details.fairness.nonce_commitments",
            "result.details.fairness.signatures",
            "result.details.fairness.proof",
            "result.details.answer_ms",
            "result.details.deviations",
        ],
        M::MatchResultAck => &["duplicate"],
        M::LeagueStandingsUpdate => &["standings[].technical_losses", "standings[].rank_reason"],
        M::LeagueQueryResponse => &[
            "standings",
            "standings[].technical_losses",
            "standings[].rank_reason",
        ],
        M::LeagueError => &["error_name", "error_message", "retryable", "context"],
        M::GameError => &[
            "league_id",
            "round_id",
            "player_id",
            "error_name",
            "error_message",
            "game_state",
            "retryable",
            "retry_info",
            "retry_info.retry_count",
            "retry_info.max_retries",
            "retry_info.next_retry_at",
            "retry_info.time_remaining",
            "retry_count",
            "max_retries",
            "time_remaining",
            "context",
        ],
        M::MatchAssignment => &[
            "league_id",
            "round_id",
            "game_type",
            "player_A_endpoint",
            "player_B_endpoint",
        ],
        M::LeagueQuery => &["query_params", "query_params.player_id"],
        M::GameJoinAck => &["nonce_commitment"],
        M::LeagueStatus | M::LeagueOrder => &[],
    }
}

/// Whose contents are not ours to judge: free objects, moves, and objects keyed by player.
const FREE: &[&str] = &[
    "data",
    "context",
    "move_request.context",
    "game_result.board",
    "game_result.line",
    "result.details.board",
    "game_result.choices",
    "game_result.fairness.nonces",
    "game_result.fairness.nonce_commitments",
    "game_result.fairness.signatures",
    "game_result.fairness.proof",
    "result.score",
    "result.details.choices",
    "result.details.fairness.nonces",
    "result.details.fairness.nonce_commitments",
    "result.details.fairness.signatures",
    "result.details.fairness.proof",
    "result.details.answer_ms",
];

struct Field {
    /// As JSON points to it.
    pointer: String,
    /// As we name it: `matches[1].match_id`.
    path: String,
    /// The same without numbers: `matches[].match_id`.
    kind: String,
}

fn fields(value: &Value, at: &Field, message_type: M, found: &mut Vec<Field>) {
    let free = FREE.contains(&at.kind.as_str())
        && !(message_type == M::ChooseParityCall && at.kind == "context");
    match value {
        _ if free => {}
        Value::Object(entries) => {
            for (key, value) in entries {
                let dot = if at.path.is_empty() { "" } else { "." };
                let field = Field {
                    pointer: format!("{}/{key}", at.pointer),
                    path: format!("{}{dot}{key}", at.path),
                    kind: format!("{}{dot}{key}", at.kind),
                };
                fields(value, &field, message_type, found);
                found.push(field);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                let item = Field {
                    pointer: format!("{}/{index}", at.pointer),
                    path: format!("{}[{index}]", at.path),
                    kind: format!("{}[]", at.kind),
                };
                fields(value, &item, message_type, found);
            }
        }
        _ => {}
    }
}

/// Calls `check` with every field of every message that the strict reading takes.
fn each_field(check: impl Fn(&str, M, &Value, &Field)) {
    for golden in golden::strict() {
        let message_type = M::parse(golden.value["message_type"].as_str().unwrap()).unwrap();
        let mut found = Vec::new();
        let message = Field {
            pointer: String::new(),
            path: String::new(),
            kind: String::new(),
        };
        fields(&golden.value, &message, message_type, &mut found);
        for field in &found {
            let title = format!("{}: {}", golden.name, field.path);
            check(&title, message_type, &golden.value, field);
        }
    }
}

fn may_be_left_out(message_type: M, message: &Value, field: &Field) -> bool {
    let value = message.pointer(&field.pointer).unwrap();
    let forfeited = message.pointer("/game_result/status") == Some(&json!("TECHNICAL_LOSS"))
        || message.pointer("/result/status") == Some(&json!("TECHNICAL_LOSS"));
    value.is_null()
        || field.kind == "auth_token"
        || [
            "game_result.board",
            "game_result.line",
            "result.details.board",
        ]
        .contains(&field.kind.as_str())
        || (forfeited && field.kind.ends_with("choices"))
        || optional(message_type).contains(&field.kind.as_str())
}

fn without(message: &Value, pointer: &str) -> Value {
    let mut message = message.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = message.pointer_mut(parent).unwrap();
    parent.as_object_mut().unwrap().remove(key);
    message
}

fn with(message: &Value, pointer: &str, value: Value) -> Value {
    let mut message = message.clone();
    *message.pointer_mut(pointer).unwrap() = value;
    message
}

fn assert_missing(title: &str, rejection: &Rejection, field: &Field) {
    assert_eq!(rejection.code.code(), "E003", "{title}: {rejection}");
    assert_eq!(rejection.path, field.path, "{title}: {rejection}");
}

#[test]
fn a_required_field_left_out_is_missing_and_an_optional_one_is_not() {
    each_field(|title, message_type, message, field| {
        let read = read_body(&without(message, &field.pointer), Strict);
        match read {
            Ok(_) => assert!(
                may_be_left_out(message_type, message, field),
                "{title} is required"
            ),
            Err(rejection) => {
                assert!(
                    !may_be_left_out(message_type, message, field),
                    "{title}: {rejection}"
                );
                assert_missing(title, &rejection, field);
            }
        }
    });
}

#[test]
fn null_is_the_same_as_left_out() {
    each_field(|title, message_type, message, field| {
        if field.kind == "parity_choice"
            || field.kind.ends_with("board")
            || field.kind.ends_with("line")
        {
            return;
        }
        if message.pointer("/move_data/move_type") == Some(&json!("choose_parity")) {
            return;
        }
        match read_body(&with(message, &field.pointer, Value::Null), Strict) {
            Ok(_) => assert!(
                may_be_left_out(message_type, message, field),
                "{title} is required"
            ),
            Err(rejection) => assert_missing(title, &rejection, field),
        }
    });
}

#[test]
fn a_value_of_the_wrong_type_is_refused_by_its_path() {
    let untyped = [
        "game_result.board",
        "game_result.line",
        "result.details.board",
    ];
    each_field(|title, _, message, field| {
        let choice = ["parity_choice", "move_data.choice"].contains(&field.kind.as_str());
        if choice || untyped.contains(&field.kind.as_str()) {
            return;
        }
        let seconds = field.kind.ends_with("time_remaining");
        for wrong in [
            json!(7.5),
            json!("\u{7}"),
            json!(["x"]),
            json!({"x\u{7}": "y"}),
            json!(-1),
        ] {
            let same_type = match message.pointer(&field.pointer).unwrap() {
                Value::String(_) => wrong.is_string(),
                Value::Array(_) => wrong.is_array(),
                Value::Object(_) => wrong.is_object(),
                Value::Bool(_) => false,
                Value::Number(_) => seconds && wrong.is_number(),
                Value::Null => true,
            };
            if same_type {
                continue;
            }
            let rejection =
                read_body(&with(message, &field.pointer, wrong), Strict).expect_err(title);
            assert_eq!(rejection.code.code(), "E002", "{title}: {rejection}");
            assert_eq!(rejection.path, field.path, "{title}: {rejection}");
        }
    });
}

#[test]
fn fields_that_nobody_knows_are_read_past() {
    for golden in golden::strict() {
        let mut message = golden.value.clone();
        message["x_of_another_version"] = json!({"anything": [1, "two", null]});
        let plain = read_body(&golden.value, Strict);
        let more = read_body(&message, Strict);
        assert_eq!(plain.unwrap(), more.unwrap(), "{}", golden.name);
    }
}
