//! The golden files: every JSON example of the sources, and what we say beyond them. Read from disk, for tests alone.

pub mod exchanges;

use matchday_core::protocol::decode::{Conformance, Incoming, Limits, Reading, Rejection, decode};
use matchday_core::protocol::{Body, Message, Timestamp};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// When the tests read their messages: 2025-01-15T10:30:00Z.
pub const NOW: Timestamp = Timestamp::from_micros(1_736_937_000_000_000);

pub struct Golden {
    pub name: String,
    pub value: Value,
}

impl Golden {
    pub fn has_whole_envelope(&self) -> bool {
        ["protocol", "sender", "timestamp", "conversation_id"]
            .iter()
            .all(|key| self.value.get(key).is_some())
    }
}

/// The examples of the sources, by file name: source, section, message.
pub fn of_the_sources() -> Vec<Golden> {
    load("")
}

/// What no source shows: messages and fields of our own.
pub fn of_our_own() -> Vec<Golden> {
    load("ours")
}

/// Shapes that are not messages.
pub fn templates() -> Vec<Golden> {
    load("templates")
}

/// All that the strict reading takes.
pub fn strict() -> Vec<Golden> {
    let mut all = of_the_sources();
    all.extend(of_our_own());
    all.retain(Golden::has_whole_envelope);
    all
}

pub fn named(name: &str) -> Value {
    let mut all = of_the_sources();
    all.extend(of_our_own());
    let found = all.into_iter().find(|golden| golden.name == name);
    found
        .unwrap_or_else(|| panic!("no golden file {name}"))
        .value
}

fn load(folder: &str) -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../crates/core/tests/golden")
        .join(folder);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    let read = |path: &Path| Golden {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        value: serde_json::from_slice(&fs::read(path).unwrap()).unwrap(),
    };
    files.iter().map(|path| read(path)).collect()
}

pub fn reading(conformance: Conformance) -> Reading<'static> {
    Reading {
        conformance,
        now: NOW,
        limits: Limits::AGENT,
        exchange: None,
        about: None,
    }
}

pub fn read(value: &Value, conformance: Conformance) -> Result<Incoming, Rejection> {
    decode(value, &reading(conformance))
}

/// The body, or the first thing that is wrong with the message, wherever.
pub fn read_body(value: &Value, conformance: Conformance) -> Result<Body, Rejection> {
    read(value, conformance)?.body
}

pub fn encode(incoming: Incoming) -> Value {
    let message = Message::new(incoming.envelope, incoming.body.unwrap());
    serde_json::to_value(&message).unwrap()
}
