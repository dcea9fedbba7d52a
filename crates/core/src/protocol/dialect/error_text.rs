//! Error texts of peers, made safe to show: short, one line, without tokens.

use crate::protocol::json::{Fields, Json};
use crate::protocol::token::TOKEN_PREFIX;
use crate::protocol::untrusted::is_deceptive;

const SHOWN_CHARS: usize = 160;

/// The reason in an error: a text, or an object with a text in one of the usual fields.
pub(super) fn reason(error: &Json) -> Option<String> {
    match error {
        Json::String(text) => Some(text.to_string()),
        Json::Object(fields) => prose(fields),
        _ => None,
    }
}

/// The reason in a result that reports a failure; `None` if it does not.
pub(super) fn told_in(result: &Fields) -> Option<String> {
    let status = result
        .get("status")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let failed = status.eq_ignore_ascii_case("error")
        || result.get("success").and_then(Json::as_bool) == Some(false)
        || result.get("isError").and_then(Json::as_bool) == Some(true);
    failed.then(|| prose(result).unwrap_or_default())
}

fn prose(fields: &Fields) -> Option<String> {
    let named = ["message", "error", "detail", "reason"];
    let text = named.iter().find_map(|&name| fields.get(name)?.as_str());
    let tool_text = || {
        fields
            .get("content")?
            .as_array()?
            .first()?
            .get("text")?
            .as_str()
    };
    text.or_else(tool_text).map(str::to_owned)
}

/// A peer's text for logs, truncated and with tokens redacted.
pub(super) fn shortened(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|c| if is_deceptive(c) { ' ' } else { c })
        .take(SHOWN_CHARS)
        .collect();
    let mut shown = String::new();
    for (n, piece) in line.split(TOKEN_PREFIX).enumerate() {
        let is_secret = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        match n {
            0 => shown.push_str(piece),
            _ => {
                shown.push_str(TOKEN_PREFIX);
                shown.push_str("...");
                shown.push_str(piece.trim_start_matches(is_secret));
            }
        }
    }
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push_str("...");
    }
    shown
}
