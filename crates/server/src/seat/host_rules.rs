//! What the known hosts of models refuse in the input of a tool: the functions of OpenAI (with `strict` too), VS Code, Anthropic
//! and Gemini. One such tool makes a host refuse all tools of a server. The tools of agents take messages, with objects that no
//! `strict` function can have: they are held against the rules of the others.

use super::tools;
use crate::mcp::tool;
use matchday_core::protocol::methods::Party;
use rmcp::model::Tool;
use serde_json::{Map, Value};

/// All that Gemini takes; the others take more.
const KEYWORDS: [&str; 7] = [
    "type",
    "description",
    "properties",
    "required",
    "items",
    "anyOf",
    "enum",
];

fn is_name(text: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    (1..=64).contains(&text.len()) && text.chars().all(fits)
}

/// What is wrong with a tool. `for_models`: whether a model is to call it, whatever its host.
fn check_tool(tool: &Tool, for_models: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let about = tool.description.as_deref().unwrap_or_default();
    if !is_name(&tool.name) {
        wrong.push("OpenAI: this is no name of a function".to_owned());
    }
    if !(1..=1024).contains(&about.chars().count()) {
        wrong.push("OpenAI: a description has 1 to 1024 characters".to_owned());
    }
    let input = &tool.input_schema;
    if input.get("type") != Some(&"object".into()) || input.contains_key("anyOf") {
        wrong
            .push("Anthropic, OpenAI: the input is an object, and no choice of several".to_owned());
    }
    check(input, "input", true, &mut wrong);
    wrong.retain(|why| for_models || !why.contains("strict: "));
    wrong
        .iter()
        .map(|why| format!("{}: {why}", tool.name))
        .collect()
}

fn check(schema: &Map<String, Value>, at: &str, is_root: bool, wrong: &mut Vec<String>) {
    let mut found = |why: &str| wrong.push(format!("{at}: {why}"));
    for keyword in schema
        .keys()
        .filter(|name| !KEYWORDS.contains(&name.as_str()))
    {
        found(&format!("Gemini: {keyword} is not known"));
    }
    let kind = schema.get("type").and_then(Value::as_str);
    let variants = schema.get("anyOf").and_then(Value::as_array);
    if kind.is_none() == variants.is_none() {
        found("Gemini: one type, or anyOf");
    }
    let words = schema.get("enum").and_then(Value::as_array);
    let is_word = |word: &Value| word.as_str().is_some_and(|word| !word.is_empty());
    if words.is_some_and(|words| kind != Some("string") || !words.iter().all(is_word)) {
        found("Gemini: only a string has an enum, of texts that are not empty");
    }
    let items = schema.get("items");
    if (kind == Some("array")) != items.is_some() {
        found("VS Code, OpenAI: an array has items, and nothing else has");
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let no_object = kind != Some("object");
    if no_object && (properties.is_some() || schema.contains_key("required")) {
        found("Gemini: only an object has properties");
    }
    // OpenAI's strict mode closes every object, so one without properties would take nothing.
    if !no_object && !is_root && properties.is_none_or(Map::is_empty) {
        found("Gemini, OpenAI strict: an object has properties");
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !properties.is_some_and(|properties| properties.contains_key(name)) {
            found(&format!("Gemini: {name} is required and not a property"));
        }
    }
    for name in properties.into_iter().flat_map(Map::keys) {
        if !is_name(name) {
            found(&format!("Anthropic: {name} cannot be a property"));
        }
    }
    let of_properties = properties.into_iter().flatten();
    let parts = of_properties
        .map(|(name, part)| (name.clone(), part))
        .chain(items.map(|items| ("items".to_owned(), items)))
        .chain(
            variants
                .into_iter()
                .flatten()
                .map(|one| ("anyOf".to_owned(), one)),
        );
    for (name, part) in parts {
        match part.as_object() {
            Some(part) => check(part, &format!("{at}.{name}"), false, wrong),
            None => wrong.push(format!("{at}.{name}: this is no schema")),
        }
    }
}

#[test]
fn no_host_refuses_a_tool() {
    let of_agents = [Party::Manager, Party::Referee, Party::Player]
        .into_iter()
        .flat_map(tool::list);
    let for_models = tools::list().iter().chain(tool::beside_seats());
    let wrong: Vec<_> = for_models
        .flat_map(|tool| check_tool(tool, true))
        .chain(of_agents.flat_map(|tool| check_tool(tool, false)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
