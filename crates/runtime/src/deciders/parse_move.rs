//! Parses the move from a reply: a JSON value, an object that names it, or a bare word. Pure.

use matchday_core::agent::ExternalResult;
use serde_json::Value;

/// The fields of an object that may hold the move.
const NAMES: [&str; 3] = ["move", "choice", "parity_choice"];

/// Parses a reply that must be the move and nothing else.
pub(super) fn parse_exact(reply: &str, options: &[Value]) -> ExternalResult {
    let reply = reply.trim();
    if reply.is_empty() {
        return Err("the reply is empty".to_owned());
    }
    let value = serde_json::from_str(reply).unwrap_or_else(|_| Value::from(reply));
    matching_option(named(value), options).ok_or_else(|| format!("{} is no move", excerpt(reply)))
}

/// Parses a reply that may have text around the move: the whole reply, else the one object in it, else the one option that it
/// mentions.
pub(super) fn parse_lenient(reply: &str, options: &[Value]) -> ExternalResult {
    if let Ok(value) = parse_exact(reply, options) {
        return Ok(value);
    }
    if let Some(value) =
        embedded_object(reply).and_then(|object| matching_option(named(object), options))
    {
        return Ok(value);
    }
    let mut mentioned = options.iter().filter(|option| mentions(reply, option));
    match (mentioned.next(), mentioned.next()) {
        (Some(option), None) => Ok(option.clone()),
        (None, _) => Err(format!("{} names no move", excerpt(reply))),
        (Some(_), Some(_)) => Err(format!("{} names more than one move", excerpt(reply))),
    }
}

fn named(value: Value) -> Value {
    let found = NAMES.iter().find_map(|name| value.get(name).cloned());
    found.unwrap_or(value)
}

/// The option that equals the value, up to case and to a number written as text.
fn matching_option(value: Value, options: &[Value]) -> Option<Value> {
    let text = normalized(&value);
    let same = options.iter().find(|option| **option == value);
    same.or_else(|| options.iter().find(|option| normalized(option) == text))
        .cloned()
}

fn normalized(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_lowercase(),
        other => other.to_string(),
    }
}

fn embedded_object(reply: &str) -> Option<Value> {
    let from = reply.find('{')?;
    let to = reply.rfind('}')?;
    serde_json::from_str(reply.get(from..=to)?).ok()
}

fn mentions(reply: &str, option: &Value) -> bool {
    let wanted = normalized(option);
    reply
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word.to_lowercase() == wanted)
}

/// How many characters of a reply are quoted.
const EXCERPT_CHARS_MAX: usize = 80;

/// The beginning of a text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => format!("{:?}...", line.get(..end).unwrap_or_default()),
        None => format!("{line:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parities() -> Vec<Value> {
        vec![json!("even"), json!("odd")]
    }

    #[test]
    fn a_reply_that_is_a_move_and_nothing_else_is_read_in_every_form() {
        for reply in [
            "even",
            " even\n",
            "\"even\"",
            "Even",
            "{\"move\": \"even\"}",
            "{\"choice\":\"EVEN\"}",
        ] {
            assert_eq!(
                parse_exact(reply, &parities()),
                Ok(json!("even")),
                "{reply}"
            );
        }
        let cells = [json!(0), json!(4)];
        for reply in ["4", "\"4\"", "{\"move\": 4}"] {
            assert_eq!(parse_exact(reply, &cells), Ok(json!(4)), "{reply}");
        }
    }

    #[test]
    fn a_reply_that_is_more_than_a_move_is_no_move() {
        for reply in [
            "",
            "  \n",
            "even odd",
            "I say even",
            "[\"even\"]",
            "null",
            "{\"move\": null}",
            "5",
        ] {
            assert!(parse_exact(reply, &parities()).is_err(), "{reply}");
        }
    }

    #[test]
    fn among_other_words_the_object_or_the_only_option_is_the_move() {
        for reply in [
            "```json\n{\"move\": \"odd\"}\n```",
            "Even numbers are as likely as odd ones, so: {\"move\": \"odd\"}",
            "I choose **odd**.",
            "ODD!",
        ] {
            assert_eq!(
                parse_lenient(reply, &parities()),
                Ok(json!("odd")),
                "{reply}"
            );
        }
        assert_eq!(
            parse_lenient("I take cell 4.", &[json!(4), json!(40)]),
            Ok(json!(4))
        );
    }

    #[test]
    fn a_reply_that_names_none_or_several_is_not_guessed_at() {
        assert_eq!(
            parse_lenient("even or odd, who knows", &parities()),
            Err("\"even or odd, who knows\" names more than one move".into())
        );
        assert_eq!(
            parse_lenient("oddly enough", &parities()),
            Err("\"oddly enough\" names no move".into())
        );
        let html = format!("<html>{}</html>", "x".repeat(1_000));
        assert!(parse_lenient(&html, &parities()).unwrap_err().len() < 120);
    }
}
