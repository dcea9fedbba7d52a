//! Every JSON example of the sources is read, and written again with nothing lost.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::{ErrorCode, MessageType, Timestamp};
use matchday_testkit::golden::{self, Golden, encode, read};
use serde_json::Value;
use std::collections::BTreeSet;

/// Says where `whole` lacks something of `part`, if it does. Times count as instants, numbers by their value.
fn lacking(part: &Value, whole: &Value, path: &str) -> Option<String> {
    let differs = || Some(format!("{path}: {part} became {whole}"));
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().find_map(|(key, value)| {
            let path = format!("{path}.{key}");
            match whole.get(key) {
                Some(found) => lacking(value, found, &path),
                None => Some(format!("{path} is gone")),
            }
        }),
        (Value::Array(part), Value::Array(whole)) if part.len() == whole.len() => part
            .iter()
            .zip(whole)
            .enumerate()
            .find_map(|(index, (part, whole))| lacking(part, whole, &format!("{path}[{index}]"))),
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        (Value::String(a), Value::String(b)) => match (Timestamp::parse(a), Timestamp::parse(b)) {
            (Some((a, _)), Some((b, _))) if a == b => None,
            _ if a == b => None,
            _ => differs(),
        },
        _ if part == whole => None,
        _ => differs(),
    }
}

fn assert_survives(golden: &Golden, conformance: Conformance) {
    let name = &golden.name;
    let incoming =
        read(&golden.value, conformance).unwrap_or_else(|error| panic!("{name}: {error}"));
    if let Err(error) = &incoming.body {
        panic!("{name}: {error}");
    }
    let again = encode(incoming);
    assert_eq!(lacking(&golden.value, &again, ""), None, "{name}");
}

#[test]
fn every_example_is_read_and_written_again_whole() {
    let examples = golden::of_the_sources();
    for golden in &examples {
        let conformance = if golden.has_whole_envelope() {
            Conformance::Strict
        } else {
            Conformance::Lenient
        };
        assert_survives(golden, conformance);
    }
    assert_eq!(
        examples.len(),
        86,
        "one file for each example that is a message"
    );
}

#[test]
fn what_is_strictly_right_is_no_deviation_in_the_lenient_reading() {
    for golden in golden::strict() {
        let incoming = read(&golden.value, Conformance::Lenient).unwrap();
        assert_eq!(incoming.deviations, [], "{}", golden.name);
        assert_survives(&golden, Conformance::Lenient);
    }
}

#[test]
fn our_own_messages_are_strictly_right() {
    let ours = golden::of_our_own();
    for golden in &ours {
        assert_survives(golden, Conformance::Strict);
    }
    assert_eq!(ours.len(), 32);
}

#[test]
fn every_message_type_has_an_example() {
    let types = |goldens: Vec<Golden>| -> BTreeSet<MessageType> {
        let named =
            |golden: &Golden| MessageType::parse(golden.value["message_type"].as_str().unwrap());
        goldens
            .iter()
            .map(|golden| named(golden).unwrap())
            .collect()
    };
    let shown = types(golden::of_the_sources());
    let unshown = [
        MessageType::GameMoveCall,
        MessageType::GameMoveResponse,
        MessageType::MatchAssignment,
        MessageType::LeagueOrder,
    ];
    for message_type in MessageType::ALL {
        assert_eq!(
            shown.contains(message_type),
            !unshown.contains(message_type),
            "{message_type}"
        );
    }
    assert!(types(golden::of_our_own()).is_superset(&unshown.into()));
}

#[test]
fn the_templates_show_the_members_they_are_about() {
    let members = |golden: &Golden| -> Vec<String> {
        golden.value.as_object().unwrap().keys().cloned().collect()
    };
    let shown: Vec<_> = golden::templates()
        .iter()
        .map(|golden| format!("{}: {}", golden.name, members(golden).join(" ")))
        .collect();
    assert_eq!(
        shown,
        [
            "000_2-1_envelope: conversation_id message_type protocol sender timestamp",
            "003_2-3_jsonrpc_error: error id jsonrpc",
            "003_2-3_jsonrpc_request: id jsonrpc method params",
            "003_2-3_jsonrpc_success: id jsonrpc result",
            "003_3-5_envelope: auth_token conversation_id league_id match_id message_type protocol round_id sender \
             timestamp",
        ]
    );
}

#[test]
fn an_envelope_is_read_though_its_body_is_not_in_order() {
    let templates = golden::templates();
    let example = templates
        .iter()
        .find(|golden| golden.name == "003_3-5_envelope")
        .unwrap();
    let incoming = read(&example.value, Conformance::Strict).unwrap();
    assert_eq!(incoming.message_type, MessageType::GameInvitation);
    assert_eq!(incoming.envelope.sender.to_string(), "referee:REF01");
    assert_eq!(incoming.envelope.conversation_id.as_str(), "conv-r1m1-001");
    assert_eq!(incoming.envelope.timestamp, golden::NOW);
    assert_eq!(
        incoming.envelope.auth_token.unwrap().reveal(),
        "tok_abc123def456"
    );
    let rejection = incoming.body.unwrap_err();
    assert_eq!(
        (rejection.code, rejection.path.as_str()),
        (ErrorCode::MissingField, "game_type")
    );
}
