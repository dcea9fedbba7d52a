//! What an answer comes to, as a league reads it.

use super::exchange::Outcome;
use super::probe::Reply;
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::protocol::json::Json;
use serde_json::Value;

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A league message, or what is meant for one.
    Message(Value),
    /// It refuses to talk to us, in the form in which one refuses: with this code and these words.
    Refused { code: String, words: String },
    /// It took note, and no more.
    Received,
    /// Something that is no answer, in words.
    Garbled(String),
    /// Nothing came.
    Nothing,
    /// It is not known what would have come, and why.
    Unknown(String),
}

impl Heard {
    /// What an answer comes to, as a league reads it.
    pub(crate) fn of(reply: &Reply) -> Self {
        match &reply.wire {
            Some(WireAnswer::Message(message) | WireAnswer::Refused(message)) => match refusal(message) {
                Some((code, words)) => Heard::Refused { code, words },
                None => Heard::Message(message.to_value()),
            },
            Some(WireAnswer::Received) => Heard::Received,
            Some(WireAnswer::MethodNotFound) => Heard::Garbled("it does not know the method".to_owned()),
            Some(WireAnswer::Error { code, message }) => {
                Heard::Garbled(format!("it answered with JSON-RPC error {code}: {message}"))
            }
            Some(WireAnswer::Garbled(why)) => Heard::Garbled(why.clone()),
            None => match &reply.exchange.outcome {
                Outcome::Unknown(why) => Heard::Unknown(why.clone()),
                _ => Heard::Nothing,
            },
        }
    }
}

/// Code and words of a LEAGUE_ERROR, or of an error of JSON-RPC with its fields.
fn refusal(message: &Json<'_>) -> Option<(String, String)> {
    let text = |key: &str| message.get(key).and_then(Json::as_str);
    (text("message_type") == Some("LEAGUE_ERROR")).then_some(())?;
    let words = text("error_message").or(text("error_description")).unwrap_or_default();
    Some((text("error_code").unwrap_or("no code").to_owned(), words.to_owned()))
}
