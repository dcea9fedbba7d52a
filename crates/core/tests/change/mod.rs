//! One thing changed in a golden message, and what the strict reading makes of it. For tests alone.
#![allow(dead_code, reason = "each test program uses a part of this")]

use matchday_core::protocol::decode::Conformance::Strict;
use matchday_testkit::golden::{named, read_body};
use serde_json::Value;

pub(crate) fn changed(name: &str, pointer: &str, value: Value) -> Value {
    let mut message = named(name);
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match message.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        fields => fields[key] = value,
    }
    message
}

#[track_caller]
pub(crate) fn assert_refused(name: &str, pointer: &str, value: &Value, code: &str) {
    let path = path_of(pointer);
    let rejection = read_body(&changed(name, pointer, value.clone()), Strict)
        .expect_err(&format!("{name}{pointer} = {value}"));
    assert_eq!(
        (rejection.code.code(), rejection.path),
        (code, path),
        "{name}{pointer} = {value}"
    );
}

/// `/matches/0/match_id` is `matches[0].match_id`.
pub(crate) fn path_of(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        match step.parse::<usize>() {
            Ok(index) => path.push_str(&format!("[{index}]")),
            Err(_) if path.is_empty() => path.push_str(step),
            Err(_) => path.push_str(&format!(".{step}")),
        }
    }
    path
}

#[track_caller]
pub(crate) fn assert_taken(name: &str, pointer: &str, value: &Value) {
    if let Err(rejection) = read_body(&changed(name, pointer, value.clone()), Strict) {
        panic!("{name}{pointer} = {value}: {rejection}");
    }
}
