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

/// How much of a model's reply is searched for the move: the end, where the answer stands.
const SEARCHED_BYTES_MAX: usize = 64 * 1024;

/// Parses the reply of a language model: the move and nothing else, or the last complete JSON object in it that has `move`.
/// What the model thinks aloud is no answer, and nothing is guessed from prose. The error says what was wrong, to people and to
/// the model.
pub(super) fn parse_model_reply(reply: &str, options: &[Value]) -> ExternalResult {
    let answer = after_thinking(reply);
    if let Ok(value) = parse_exact(answer, options) {
        return Ok(value);
    }
    let Some(value) = last_named_move(answer) else {
        return Err(format!(
            "{} holds no JSON object with a \"move\"",
            excerpt(answer)
        ));
    };
    let said = excerpt(&value.to_string());
    matching_option(value, options).ok_or_else(|| format!("{said} is not one of the options"))
}

/// What follows the last block of thinking; a block that does not end holds no answer.
fn after_thinking(reply: &str) -> &str {
    let answer = reply
        .rsplit_once("</think>")
        .map_or(reply, |(_, answer)| answer);
    answer
        .split_once("<think>")
        .map_or(answer, |(before, _)| before)
}

/// The `move` of the last complete object that has one. An object within another belongs to the outer one.
fn last_named_move(text: &str) -> Option<Value> {
    let from = text.len().saturating_sub(SEARCHED_BYTES_MAX);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at))?;
    let mut rest = text.get(from..)?;
    let mut found = None;
    while let Some(at) = rest.find('{') {
        rest = rest.get(at..)?;
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let object = objects.next().and_then(Result::ok);
        let end = object.as_ref().map_or(1, |_| objects.byte_offset());
        if let Some(value) = object.as_ref().and_then(|object| object.get("move")) {
            found = Some(value.clone());
        }
        rest = rest.get(end..)?;
    }
    found
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

    fn read(reply: &str) -> ExternalResult {
        parse_model_reply(reply, &parities())
    }

    #[test]
    fn the_last_object_with_a_move_is_what_the_model_says() {
        for reply in [
            "odd",
            "\"odd\"",
            "{\"move\": \"odd\"}",
            "```json\n{\"move\": \"odd\"}\n```",
            "Even numbers are as likely as odd ones, so: {\"move\": \"odd\"}",
            "First I thought {\"move\": \"even\"}, but it is {\"move\": \"odd\"}.",
            "The set {1, 2} has an even number. {\"move\": \"odd\"}",
            "{\"move\": \"odd\"} {\"confidence\": 0.9}",
            "{\"reasoning\": {\"move\": \"even\"}, \"move\": \"odd\"}",
            "<think>{\"move\": \"even\"}? or {x</think>\n{\"move\": \"odd\"}",
            "a {{{ \"move\": {\"move\":\"odd\"}",
        ] {
            assert_eq!(read(reply), Ok(json!("odd")), "{reply}");
        }
    }

    #[test]
    fn nothing_is_guessed_from_prose() {
        for reply in [
            "I choose **odd**.",
            "I can't even consider this.",
            "even or odd, who knows",
            "<think>{\"move\": \"odd\"}",
            "<think>odd</think>",
            "{\"move\": \"odd\"",
            "{\"choice\": \"perhaps\"}",
        ] {
            assert!(read(reply).is_err(), "{reply}");
        }
        let prose = "The opponent threatens 0, so I must block: {\"move\": 99}";
        let cells = [json!(0), json!(4)];
        assert_eq!(
            parse_model_reply(prose, &cells),
            Err("\"99\" is not one of the options".to_owned())
        );
        let html = format!("<html>{}</html>", "x".repeat(1_000));
        assert!(read(&html).unwrap_err().len() < 150);
    }

    #[test]
    fn only_the_end_of_a_long_reply_is_searched() {
        let long = format!("{}{{\"move\": \"odd\"}}", "{\"ä".repeat(200_000));
        assert_eq!(read(&long), Ok(json!("odd")));
        let early = format!("{{\"move\": \"odd\"}}{}", "ä".repeat(200_000));
        assert!(read(&early).is_err());
    }
}
