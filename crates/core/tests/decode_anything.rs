//! Whatever comes in, reading it ends in a message or a rejection; and what was read strictly can be read again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::MessageType;
use matchday_core::protocol::decode::Conformance::{Lenient, Strict};
use matchday_testkit::golden::{self, encode, read};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

fn anything() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-2_i64..12).prop_map(Value::from),
    ];
    let words = prop::sample::select(vec![
        "even",
        "odd",
        "P01",
        "WIN",
        "DRAW",
        "TECHNICAL_LOSS",
        "even_odd",
        "tic_tac_toe",
        "league.v2",
        "player:P01",
        "2025-01-15T10:30:00Z",
        "20250115T10:30:00Z",
        "20250115T103000Z",
        "1.0.0",
        "http://localhost/mcp",
        "ACCEPTED",
        "REJECTED",
        "tok_p01_ff",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        words.prop_map(Value::from),
        ".{0,70}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        prop::sample::select(vec![
            "match_id",
            "player_id",
            "reason",
            "choices",
            "P01",
            "winner",
            "fairness"
        ])
        .prop_map(str::to_owned),
        ".{0,8}",
    ];
    leaf.prop_recursive(3, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|entries| Value::Object(Map::from_iter(entries))),
        ]
    })
}

static GOLDEN: LazyLock<Vec<Value>> = LazyLock::new(|| {
    golden::strict()
        .into_iter()
        .map(|golden| golden.value)
        .collect()
});

/// Points to every node of a message but the message itself.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut visit = |key: &str, value: &Value| {
        let pointer = format!("{at}/{key}");
        pointers(value, &pointer, found);
        found.push(pointer);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| visit(key, value)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| visit(&index.to_string(), value)),
        _ => {}
    }
}

/// A golden message of which one node is gone, or replaced by anything.
fn mutated(message: usize, node: usize, replacement: Option<Value>) -> Value {
    let mut message = GOLDEN[message % GOLDEN.len()].clone();
    let mut found = Vec::new();
    pointers(&message, "", &mut found);
    let pointer = &found[node % found.len()];
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match (message.pointer_mut(parent).unwrap(), replacement) {
        (Value::Object(fields), None) => drop(fields.remove(key)),
        (Value::Array(items), None) => drop(items.remove(key.parse().unwrap())),
        (Value::Object(fields), Some(value)) => fields[key] = value,
        (Value::Array(items), Some(value)) => items[key.parse::<usize>().unwrap()] = value,
        (other, _) => panic!("{other} has no parts"),
    }
    message
}

/// What was taken strictly is written, read and written again: the same both times.
fn assert_stable(message: &Value) {
    let Ok(incoming) = read(message, Strict) else {
        return;
    };
    if incoming.body.is_err() {
        return;
    }
    let written = encode(incoming);
    let again =
        read(&written, Strict).unwrap_or_else(|error| panic!("{error}\n{message}\n{written}"));
    if let Err(error) = &again.body {
        panic!("{error}\n{message}\n{written}");
    }
    assert_eq!(encode(again), written, "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_read_without_panic(value in anything()) {
        drop(read(&value, Strict));
        drop(read(&value, Lenient));
    }

    #[test]
    fn any_body_under_any_message_type_is_read_without_panic(
        kind in 0..MessageType::ALL.len(),
        fields in prop::collection::vec((0..KEYS.len(), anything()), 0..12),
    ) {
        let mut message = json!({"message_type": MessageType::ALL[kind].name()});
        for (key, value) in fields {
            message[KEYS[key]] = value;
        }
        drop(read(&message, Lenient));
    }

    #[test]
    fn a_mutated_message_is_read_without_panic_and_what_passes_is_stable(
        message in any::<usize>(),
        node in any::<usize>(),
        replacement in prop::option::weighted(0.8, anything()),
    ) {
        let message = mutated(message, node, replacement);
        drop(read(&message, Lenient));
        assert_stable(&message);
    }
}

const KEYS: &[&str] = &[
    "sender",
    "auth_token",
    "conversation_id",
    "match_id",
    "player_id",
    "game_type",
    "round_id",
    "league_id",
    "game_result",
    "result",
    "standings",
    "matches",
    "player_meta",
    "referee_meta",
    "status",
    "reason",
    "query_params",
    "query_type",
    "error_code",
    "context",
    "move_data",
    "move_request",
    "choice",
    "accept",
];

#[test]
fn every_golden_message_is_stable() {
    GOLDEN.iter().for_each(assert_stable);
}
