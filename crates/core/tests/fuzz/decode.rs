//! Reading league messages: by bytes, and by trees that are always JSON. What we write, we read; what is refused is told
//! without the secret that stood in it.

use crate::tree::changed;
use bolero::check;
use matchday_core::protocol::decode::{Conformance, Incoming, Limits, Reading, Rejection, decode};
use matchday_core::protocol::json::Json;
use matchday_core::protocol::{Message, PlayerId};
use matchday_testkit::golden::{self, NOW};
use matchday_testkit::mutation::mutated;
use serde_json::Value;

/// As long as those that we issue.
const TOKEN: &str = "tok_p01_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn messages() -> Vec<Value> {
    let all = golden::of_the_sources()
        .into_iter()
        .chain(golden::of_our_own());
    all.map(|golden| golden.value).collect()
}

fn readings() -> impl Iterator<Item = Reading<'static>> {
    let conformances = [Conformance::Strict, Conformance::Lenient].into_iter();
    conformances.flat_map(|conformance| {
        [Limits::MANAGER, Limits::AGENT].map(|limits| Reading {
            conformance,
            now: NOW,
            limits,
            exchange: None,
            about: None,
        })
    })
}

fn survives(value: &Value) {
    for reading in readings() {
        match decode(value, &reading) {
            Ok(Incoming {
                envelope,
                body: Ok(body),
                ..
            }) => {
                let written = serde_json::to_value(Message { envelope, body }).unwrap();
                let again = decode(&written, &reading).and_then(|again| again.body);
                assert!(
                    again.is_ok(),
                    "what we write, we read: {again:?}\n{value}\n{written}"
                );
                let own = PlayerId::new("P01");
                let in_part = decode(
                    value,
                    &Reading {
                        about: Some(&own),
                        ..reading
                    },
                );
                assert!(
                    in_part.is_ok_and(|part| part.body.is_ok()),
                    "what is read, is read in part: {value}"
                );
            }
            Ok(Incoming {
                body: Err(rejection),
                ..
            })
            | Err(rejection) => keeps_the_secret(value, &rejection),
        }
    }
}

fn keeps_the_secret(value: &Value, rejection: &Rejection) {
    let said = rejection.to_string();
    assert!(!said.contains(TOKEN), "{said}\n{value}");
    assert!(said.len() < 1000, "a refusal is short: {said}");
}

#[test]
fn messages_with_bytes_changed() {
    let good: Vec<String> = messages().iter().map(Value::to_string).collect();
    check!()
        .with_iterations(crate::RUNS)
        .for_each(|input: &[u8]| {
            let text = mutated(&good, input);
            let value = serde_json::from_slice::<Value>(&text).ok();
            let tree = serde_json::from_slice::<Json>(&text).ok();
            assert_eq!(tree.map(Value::from), value, "the tree is the usual tree");
            if let Some(value) = value {
                survives(&value);
            }
        });
}

#[test]
fn messages_with_fields_changed() {
    let good = messages();
    let with_token: Vec<Value> = messages().into_iter().chain([Value::from(TOKEN)]).collect();
    check!()
        .with_iterations(crate::RUNS)
        .with_max_len(64)
        .for_each(|input: &[u8]| {
            survives(&changed(&good, input));
            survives(&with_tokens(changed(&with_token, input), input));
        });
}

/// A token in fields that are for something else: what is refused is told without it.
fn with_tokens(mut message: Value, input: &[u8]) -> Value {
    if let Some(fields) = message.as_object_mut() {
        for field in fields.values_mut().filter(|value| value.is_string()) {
            let meant = std::mem::replace(field, TOKEN.into());
            if input.first().is_some_and(|first| first % 3 == 0) {
                *field = meant;
            }
        }
    }
    message
}
