//! The one change to a registration on its way to the league: `contact_endpoint` becomes the mailbox. Every other byte stays.

use serde_json::Value;

const FIELD: &str = "\"contact_endpoint\"";

/// Whether a body registers a player or a referee, in any wrapping.
pub(super) fn is_registration(json: &Value) -> bool {
    let Some(object) = json.as_object() else {
        return false;
    };
    match object.get("message_type").and_then(Value::as_str) {
        Some(kind) => matches!(kind, "LEAGUE_REGISTER_REQUEST" | "REFEREE_REGISTER_REQUEST"),
        None => ["params", "message", "arguments"]
            .iter()
            .any(|key| object.get(*key).is_some_and(is_registration)),
    }
}

/// The endpoint that a registration names.
pub(super) fn contact_of(json: &Value) -> Option<&str> {
    match json.get("contact_endpoint") {
        Some(contact) => contact.as_str(),
        None => json.as_object()?.values().find_map(contact_of),
    }
}

/// `body` with the value of every `contact_endpoint` replaced.
pub(super) fn with_contact(body: &str, contact: &str) -> String {
    let mut out = String::with_capacity(body.len() + contact.len());
    let mut rest = body;
    while let Some((before, after)) = rest.split_once(FIELD) {
        out.push_str(before);
        out.push_str(FIELD);
        rest = after;
        // Within a text the quote would be escaped: then it is not the field.
        if before.ends_with('\\') {
            continue;
        }
        let value = after.trim_start();
        let Some(value) = value.strip_prefix(':').map(str::trim_start) else {
            continue;
        };
        let Some(end) = end_of_text(value) else {
            continue;
        };
        out.push_str(after.get(..after.len() - value.len()).unwrap_or_default());
        out.push_str(&Value::from(contact).to_string());
        rest = value.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Where a JSON text ends that `value` begins with.
fn end_of_text(value: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in value.bytes().enumerate() {
        match byte {
            b'"' if at == 0 => {}
            _ if at == 0 => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_changes_and_nothing_else() {
        let body = r#"{ "jsonrpc":"2.0", "params": {"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"a \"contact_endpoint\": \"x\"", "contact_endpoint" : "http://localhost:8101/mcp\"x" ,"n":1.50}}}"#;
        let expected = body.replace(
            r#""http://localhost:8101/mcp\"x""#,
            r#""https://l/relay/ab/mcp""#,
        );
        assert_eq!(with_contact(body, "https://l/relay/ab/mcp"), expected);
        assert!(is_registration(&serde_json::from_str(body).unwrap()));
    }

    #[test]
    fn what_has_no_such_field_stays() {
        for body in [
            "{}",
            "",
            r#"{"contact_endpoint":7}"#,
            r#"{"contact_endpoint":"unended"#,
        ] {
            assert_eq!(with_contact(body, "x"), body);
        }
    }
}
