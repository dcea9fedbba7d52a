//! A recorded message in a few words, however it is wrapped. Pure.

use matchday_core::protocol::untrusted::is_deceptive;
use serde_json::{Map, Value};

/// The fields that a summary shows.
const SUMMARY_FIELDS: &[&str] = &[
    "accept",
    "parity_choice",
    "move_data",
    "drawn_number",
    "winner",
    "winner_player_id",
    "status",
    "error_code",
    "reason",
    "rejection_reason",
    "duplicate",
];

#[derive(Debug, Default, PartialEq, Eq)]
pub struct MessageSummary {
    pub message_type: Option<String>,
    /// As the message names it: `player:P01`.
    pub sender: Option<String>,
    /// `parity_choice even`.
    pub details: String,
}

/// Looks for the league message in a recorded body: in JSON-RPC, in an MCP envelope, or bare.
pub fn summarize(body: &str) -> MessageSummary {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let Some(message) = find(&value, DEPTH_MAX) else {
        let answer = value.get("result").or_else(|| value.get("error"));
        let details = answer.map_or_else(|| shorten(body), |answer| shorten(&answer.to_string()));
        return MessageSummary {
            details,
            ..MessageSummary::default()
        };
    };
    let text = |key: &str| message.get(key).and_then(Value::as_str).map(shorten);
    let mut details = Vec::new();
    for key in SUMMARY_FIELDS {
        if let Some(value) = lookup(&message, key).filter(|value| !value.is_null()) {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            details.push(format!("{} {}", key.replace('_', " "), shorten(&value)));
        }
    }
    MessageSummary {
        message_type: text("message_type"),
        sender: text("sender"),
        details: details.join(", "),
    }
}

/// The league message in a recorded body, however it is wrapped.
pub fn league_message(body: &str) -> Option<Map<String, Value>> {
    find(&serde_json::from_str(body).ok()?, DEPTH_MAX)
}

/// Deeper than any envelope wraps, and shallow enough for anything that peers send.
const DEPTH_MAX: u32 = 12;

fn find(value: &Value, depth: u32) -> Option<Map<String, Value>> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Object(fields) if fields.contains_key("message_type") => Some(fields.clone()),
        Value::Object(fields) => fields.values().find_map(|value| find(value, depth)),
        Value::Array(values) => values.iter().find_map(|value| find(value, depth)),
        Value::String(text) if text.starts_with('{') => {
            find(&serde_json::from_str(text).ok()?, depth)
        }
        _ => None,
    }
}

/// In the message itself, or one level down, where results and details stand.
fn lookup<'a>(message: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    message
        .get(key)
        .or_else(|| message.values().find_map(|inner| inner.get(key)))
}

fn shorten(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let mut line: String = text
        .chars()
        .map(|c| if is_deceptive(c) { ' ' } else { c })
        .take(CHARS_MAX)
        .collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        line.push_str("...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_found_in_any_wrapping() {
        let message = r#"{"message_type":"GAME_JOIN_ACK","sender":"player:P01","accept":true}"#;
        let quoted = serde_json::to_string(message).unwrap();
        for body in [
            message.to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{message}}}"#),
            format!(r#"{{"result":{{"content":[{{"type":"text","text":{quoted}}}]}}}}"#),
        ] {
            let summary = summarize(&body);
            assert_eq!(
                summary.message_type.as_deref(),
                Some("GAME_JOIN_ACK"),
                "{body}"
            );
            assert_eq!(summary.sender.as_deref(), Some("player:P01"));
            assert_eq!(summary.details, "accept true");
        }
    }

    #[test]
    fn what_is_no_message_is_shown_as_it_came_but_shortened() {
        let page = format!("<html>\n{}", "x".repeat(100));
        assert_eq!(
            summarize(&page).details,
            format!("<html> {}...", "x".repeat(53))
        );
        assert_eq!(summarize(&"[".repeat(10_000)).message_type, None);
    }
}
