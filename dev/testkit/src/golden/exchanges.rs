//! Whole exchanges, request and answer, as the page about the protocol shows them. For tests alone.

use matchday_core::protocol::methods::Method;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// One question and its answer. The name is the method's, and after a dash what tells it from others of that method.
pub struct Exchanged {
    pub name: String,
    /// `params` as it is written in the golden file, to the last space.
    pub params: String,
    /// `result`, likewise.
    pub result: String,
}

impl Exchanged {
    pub fn method(&self) -> Method {
        let name = self.name.split('-').next().unwrap();
        Method::named(name).unwrap_or_else(|| panic!("no method {name}"))
    }

    /// The request as it goes over the wire, laid out for people.
    pub fn request(&self, id: usize) -> String {
        let method = self.method().name;
        let params = indented(&self.params);
        format!(
            "{{\n  \"jsonrpc\": \"2.0\",\n  \"id\": {id},\n  \"method\": \"{method}\",\n  \"params\": {params}\n}}\n"
        )
    }

    /// The response to it.
    pub fn response(&self, id: usize) -> String {
        let result = indented(&self.result);
        format!("{{\n  \"jsonrpc\": \"2.0\",\n  \"id\": {id},\n  \"result\": {result}\n}}\n")
    }

    pub fn parsed(&self, id: usize) -> (Value, Value) {
        let read = |text: String| {
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
        };
        (read(self.request(id)), read(self.response(id)))
    }
}

fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n  ")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/core/tests/golden/exchanges")
}

pub fn all() -> Vec<Exchanged> {
    let mut names: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".request.json").map(str::to_owned)
        })
        .collect();
    names.sort();
    names.into_iter().map(|name| named(&name)).collect()
}

pub fn named(name: &str) -> Exchanged {
    let read = |part: &str| {
        let file = folder().join(format!("{name}.{part}.json"));
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    Exchanged {
        name: name.to_owned(),
        params: read("request"),
        result: read("answer"),
    }
}
