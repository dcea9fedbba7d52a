//! What a reply says about the move: a JSON value, an object that names it, or its bare word. Pure.

use matchday_core::agent::Decision;
use serde_json::Value;

/// Under which names an object may hold the move.
const NAMES: [&str; 3] = ["move", "choice", "parity_choice"];

/// Reads a reply that must be the move and nothing else.
pub(super) fn whole(reply: &str, options: &[Value]) -> Decision {
    let reply = reply.trim();
    if reply.is_empty() {
        return Err("the reply is empty".to_owned());
    }
    let value = serde_json::from_str(reply).unwrap_or_else(|_| Value::from(reply));
    among(named(value), options).ok_or_else(|| format!("{} is no move", shown(reply)))
}

/// Reads a reply that may have words around the move: as a whole, or else by the one object in it that names a move, or
/// else by the one option that it mentions.
pub(super) fn loose(reply: &str, options: &[Value]) -> Decision {
    if let Ok(value) = whole(reply, options) {
        return Ok(value);
    }
    if let Some(value) = object_in(reply).and_then(|object| among(named(object), options)) {
        return Ok(value);
    }
    let mut mentioned = options.iter().filter(|option| mentions(reply, option));
    match (mentioned.next(), mentioned.next()) {
        (Some(option), None) => Ok(option.clone()),
        (None, _) => Err(format!("{} names no move", shown(reply))),
        (Some(_), Some(_)) => Err(format!("{} names more than one move", shown(reply))),
    }
}

fn named(value: Value) -> Value {
    let found = NAMES.iter().find_map(|name| value.get(name).cloned());
    found.unwrap_or(value)
}

/// The option that is meant: itself, or in other letters, or a number that was written as text or the other way round.
fn among(value: Value, options: &[Value]) -> Option<Value> {
    let text = plain(&value);
    let same = options.iter().find(|option| **option == value);
    same.or_else(|| options.iter().find(|option| plain(option) == text)).cloned()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_lowercase(),
        other => other.to_string(),
    }
}

fn object_in(reply: &str) -> Option<Value> {
    let (from, to) = (reply.find('{')?, reply.rfind('}')?);
    serde_json::from_str(reply.get(from..=to)?).ok()
}

fn mentions(reply: &str, option: &Value) -> bool {
    let wanted = plain(option);
    reply.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word.to_lowercase() == wanted)
}

/// How many characters are shown of a reply.
const SHOWN_MAX: usize = 80;

/// The beginning of a text, on one line.
pub(super) fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_MAX) {
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
        for reply in ["even", " even\n", "\"even\"", "Even", "{\"move\": \"even\"}", "{\"choice\":\"EVEN\"}"]
        {
            assert_eq!(whole(reply, &parities()), Ok(json!("even")), "{reply}");
        }
        let cells = [json!(0), json!(4)];
        for reply in ["4", "\"4\"", "{\"move\": 4}"] {
            assert_eq!(whole(reply, &cells), Ok(json!(4)), "{reply}");
        }
    }

    #[test]
    fn a_reply_that_is_more_than_a_move_is_no_move() {
        for reply in ["", "  \n", "even odd", "I say even", "[\"even\"]", "null", "{\"move\": null}", "5"] {
            assert!(whole(reply, &parities()).is_err(), "{reply}");
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
            assert_eq!(loose(reply, &parities()), Ok(json!("odd")), "{reply}");
        }
        assert_eq!(loose("I take cell 4.", &[json!(4), json!(40)]), Ok(json!(4)));
    }

    #[test]
    fn a_reply_that_names_none_or_several_is_not_guessed_at() {
        assert_eq!(
            loose("even or odd, who knows", &parities()),
            Err("\"even or odd, who knows\" names more than one move".into())
        );
        assert_eq!(loose("oddly enough", &parities()), Err("\"oddly enough\" names no move".into()));
        let html = format!("<html>{}</html>", "x".repeat(1_000));
        assert!(loose(&html, &parities()).unwrap_err().len() < 120);
    }
}
