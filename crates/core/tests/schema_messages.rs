//! The schemas of the messages say what the strict reading does: no more, no less.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may panic"
)]

use matchday_core::protocol::decode::Conformance::Strict;
use matchday_core::protocol::untrusted::is_deceptive;
use matchday_core::protocol::{MessageType, schema};
use matchday_testkit::golden::{self, Golden, read_body};
use matchday_testkit::schemas::Schemas;
use serde_json::{Value, json};

#[test]
fn every_schema_is_itself_right() {
    for &kind in MessageType::ALL {
        let schema = schema::message(kind);
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{kind}");
        assert_eq!(schema["title"], kind.name());
        assert!(
            schema["description"]
                .as_str()
                .unwrap()
                .starts_with(kind.name()),
            "{kind}"
        );
    }
}

#[test]
fn every_golden_message_fits_its_schema() {
    let schemas = Schemas::new();
    let all = golden::strict();
    for Golden { name, value } in &all {
        assert_eq!(schemas.faults(value), [""; 0], "{name}");
    }
    assert!(all.len() > 50, "{}", all.len());
}

#[test]
fn what_only_the_lenient_reading_takes_does_not_fit() {
    let schemas = Schemas::new();
    let lenient: Vec<_> = golden::of_the_sources()
        .into_iter()
        .filter(|golden| !golden.has_whole_envelope())
        .collect();
    for Golden { name, value } in &lenient {
        assert_ne!(schemas.faults(value), [""; 0], "{name}");
    }
    assert!(!lenient.is_empty());
}

#[test]
fn a_schema_as_people_read_it() {
    insta::assert_json_snapshot!(schema::message(MessageType::ChooseParityResponse));
}

/// Every field of every golden message is left out, and replaced by each of many other values; each time schema and
/// reader must come to the same verdict.
#[test]
fn schema_and_strict_reading_agree_about_every_change_of_every_field() {
    let schemas = Schemas::new();
    let mut taken = 0;
    let mut refused = 0;
    let mut quarrels = Vec::new();
    for Golden { name, value } in golden::strict() {
        for pointer in pointers(&value) {
            for changed in changes(&value, &pointer) {
                let read = read_body(&changed, Strict);
                *if read.is_ok() {
                    &mut taken
                } else {
                    &mut refused
                } += 1;
                let faults = schemas.faults(&changed);
                if read.is_ok() != faults.is_empty() && !is_beyond_a_schema(&changed, &pointer) {
                    let now = changed.pointer(&pointer);
                    quarrels.push(format!(
                        "{name}{pointer} = {now:?}: reader {:?}, schema {faults:?}",
                        read.err()
                    ));
                }
            }
        }
    }
    assert!(
        taken > 5_000 && refused > 10_000,
        "{taken} taken, {refused} refused"
    );
    assert!(
        quarrels.is_empty(),
        "{} quarrels\n{}",
        quarrels.len(),
        quarrels.join("\n")
    );
}

#[test]
fn a_schema_refuses_every_deceptive_character_of_the_basic_plane_and_no_other() {
    let schemas = Schemas::new();
    let golden = golden::strict();
    let request = golden
        .iter()
        .find(|golden| golden.value["message_type"] == "LEAGUE_REGISTER_REQUEST")
        .unwrap();
    let mut message = request.value.clone();
    let mut fits = |name: String| {
        message["player_meta"]["display_name"] = name.into();
        schemas.faults(&message).is_empty()
    };
    // Every one of them, and those that stand before and after one.
    let near = |c: char| {
        [-1, 0, 1].iter().any(|step| {
            u32::from(c)
                .checked_add_signed(*step)
                .and_then(char::from_u32)
                .is_some_and(is_deceptive)
        })
    };
    let wrong: Vec<char> = ('\0'..='\u{ffff}')
        .filter(|c| near(*c) && fits(format!("A{c}")) == is_deceptive(*c))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// What the reader does not look at: of an order's objects only the one that the order is about is read.
fn is_beyond_a_schema(message: &Value, pointer: &str) -> bool {
    message["message_type"] == "LEAGUE_ORDER" && ["/player_id", "/match_id"].contains(&pointer)
}

/// Where there is something in a message: every field, every entry, however deep.
fn pointers(value: &Value) -> Vec<String> {
    let below = |key: String, value: &Value| {
        let deeper: Vec<_> = pointers(value)
            .into_iter()
            .map(|rest| format!("/{key}{rest}"))
            .collect();
        std::iter::once(format!("/{key}"))
            .chain(deeper)
            .collect::<Vec<_>>()
    };
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| below(key.clone(), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(n, value)| below(n.to_string(), value))
            .collect(),
        _ => Vec::new(),
    }
}

fn changes(message: &Value, pointer: &str) -> Vec<Value> {
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(10),
        json!(11),
        json!(-1),
        json!(1.5),
        json!(2_147_483_647),
        json!(2_147_483_648_u64),
        json!(""),
        json!("x"),
        json!("x\u{7}"),
        json!("x\u{202e}"),
        json!("http://localhost:8101/\u{200b}mcp"),
        json!("y".repeat(50)),
        json!("y".repeat(51)),
        json!("y".repeat(65)),
        json!("y".repeat(129)),
        json!("y".repeat(1025)),
        json!("even"),
        json!("Even"),
        json!("DRAW"),
        json!("TECHNICAL_LOSS"),
        json!("ACCEPTED"),
        json!("REJECTED"),
        json!("GET_PLAYER_STATS"),
        json!("WITHDRAW"),
        json!("VOID"),
        json!("tic_tac_toe"),
        json!("choose_parity"),
        json!("player:P01"),
        json!("player:"),
        json!("1.0.0"),
        json!("1.0"),
        json!("http://localhost:8101/mcp"),
        json!("http://user@localhost/mcp"),
        json!("http:///mcp"),
        json!("http://localhost/a b"),
        json!("http://local\thost/mcp"),
        json!("2025-01-15T10:30:00Z"),
        json!("2025-01-15T10:30:00.5Z"),
        json!("2025-01-15T10:30:00+00:00"),
        json!("2025-01-15T10:30:00+01:00"),
        json!("2025-02-30T10:30:00Z"),
        json!("20250115T10:30:00Z"),
        json!("20250230T10:30:00Z"),
        json!("20250115T103000Z"),
        json!("2025-01-15T10:30:00"),
        json!([]),
        json!([null]),
        json!(["x"]),
        json!([1]),
        json!({}),
        json!({"P01": null}),
        json!({"P01": 3, "P02": 0}),
    ];
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let mut changed = Vec::new();
    let mut without = message.clone();
    if let Some(Value::Object(fields)) = without.pointer_mut(parent) {
        fields.remove(key);
        changed.push(without);
    }
    changed.extend(values.into_iter().map(|value| {
        let mut message = message.clone();
        *message.pointer_mut(pointer).unwrap() = value;
        message
    }));
    changed
}
