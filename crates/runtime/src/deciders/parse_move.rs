//! Parses the move from a reply: a JSON value, an object that names it, or a bare word. Pure.

use crate::decider::{Failure, FailureKind};
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
pub(super) fn parse_model_reply(reply: &str, options: &[Value]) -> Result<Value, Failure> {
    let answer = after_thinking(reply);
    if let Ok(value) = parse_exact(answer, options) {
        return Ok(value);
    }
    let Some(value) = last_named_move(answer) else {
        let why = format!("{} holds no JSON object with a \"move\"", excerpt(answer));
        return Err(FailureKind::Unreadable.because(why));
    };
    let said = excerpt(&value.to_string());
    matching_option(value, options)
        .ok_or_else(|| FailureKind::Illegal.because(format!("{said} is not one of the options")))
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

    /// A reply as a model gives it, and what it is: the move, or why it is none.
    #[derive(serde::Deserialize)]
    struct Example {
        about: String,
        options: Vec<Value>,
        reply: String,
        #[serde(rename = "move")]
        made: Option<Value>,
        failure: Option<FailureKind>,
    }

    #[test]
    fn every_reply_of_the_collection_is_read_as_it_says() {
        let examples: Vec<Example> =
            serde_json::from_str(include_str!("model_replies.json")).unwrap();
        assert!(examples.len() > 40);
        for Example {
            about,
            options,
            reply,
            made,
            failure,
        } in examples
        {
            let read = parse_model_reply(&reply, &options);
            let (read, why) = match read {
                Ok(value) => (Some(value), None),
                Err(failure) => (None, Some(failure.kind)),
            };
            assert_eq!((read, why), (made, failure), "{about}: {reply}");
        }
    }

    #[test]
    fn what_was_wrong_is_told_in_few_words() {
        let prose = "The opponent threatens 0, so I must block: {\"move\": 99}";
        let failure = parse_model_reply(prose, &[json!(0), json!(4)]).unwrap_err();
        assert_eq!(failure.why, "\"99\" is not one of the options");
        let html = format!("<html>{}</html>", "x".repeat(1_000));
        assert!(read(&html).unwrap_err().why.len() < 150);
    }

    fn read(reply: &str) -> Result<Value, Failure> {
        parse_model_reply(reply, &parities())
    }

    #[test]
    fn only_the_end_of_a_long_reply_is_searched() {
        let long = format!("{}{{\"move\": \"odd\"}}", "{\"ä".repeat(200_000));
        assert_eq!(read(&long), Ok(json!("odd")));
        let early = format!("{{\"move\": \"odd\"}}{}", "ä".repeat(200_000));
        assert!(read(&early).is_err());
    }
}
