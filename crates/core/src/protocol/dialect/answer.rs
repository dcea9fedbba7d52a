//! Reading what peers answer to our calls. Agents answer in many ways, so a message is looked for in every place where
//! one has been seen; where there is none, what is left is an acknowledgement, an error, or nothing of use.

use super::told::{reason, shortened, told_in};
use crate::protocol::decode::Limits;
use crate::protocol::json::{Fields, Json};
use crate::protocol::jsonrpc::Fault;
use crate::protocol::message::MessageType;
use std::borrow::Cow;

/// What a peer made of a call of ours.
#[derive(Debug, Clone, PartialEq)]
pub enum WireAnswer<'a> {
    /// A league message, or what can only be meant for one.
    Message(Json<'a>),
    /// An error of JSON-RPC that holds the fields of a LEAGUE_ERROR: how our players and referees refuse. Given as that
    /// message, without an envelope.
    Refused(Json<'a>),
    /// It was taken note of, no more.
    Received,
    /// The peer does not know this way of calling: another dialect may fare better.
    MethodNotFound,
    /// JSON-RPC failed in another way.
    Error { code: i64, message: String },
    /// Nothing that could be an answer, in words for people.
    Garbled(String),
}

impl WireAnswer<'_> {
    /// The same, for whoever keeps it for longer than the body.
    pub fn into_owned(self) -> WireAnswer<'static> {
        match self {
            Self::Message(message) => WireAnswer::Message(message.into_owned()),
            Self::Refused(message) => WireAnswer::Refused(message.into_owned()),
            Self::Received => WireAnswer::Received,
            Self::MethodNotFound => WireAnswer::MethodNotFound,
            Self::Error { code, message } => WireAnswer::Error { code, message },
            Self::Garbled(why) => WireAnswer::Garbled(why),
        }
    }
}

/// Reads the response to a call of ours, however it is wrapped.
pub fn read_answer<'a>(http_status: u16, body: &'a [u8], limits: &Limits) -> WireAnswer<'a> {
    let most = limits.message_bytes_max;
    if body.len() > most {
        let bytes = body.len();
        return WireAnswer::Garbled(format!("the answer has {bytes} bytes and may have {most} at most"));
    }
    if (300..400).contains(&http_status) {
        let what = "a redirect, which is never followed: it must be registered where it really is";
        return WireAnswer::Garbled(format!("the agent answered HTTP {http_status}, {what}"));
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return otherwise(http_status, "", "a body that is not UTF-8");
    };
    let text = text.trim_ascii();
    if text.is_empty() && is_success(http_status) {
        return WireAnswer::Received;
    }
    match Json::read(text) {
        Ok(value) => read_value(http_status, text, value),
        Err(_) if text.is_empty() => otherwise(http_status, text, "an empty body"),
        Err(_) if text.starts_with('<') => otherwise(http_status, text, "a page for people instead of JSON"),
        // What the simplest of servers say when they mean "received".
        Err(_) if text.eq_ignore_ascii_case("ok") && is_success(http_status) => WireAnswer::Received,
        Err(error) => otherwise(http_status, text, &format!("a body that is not JSON ({error})")),
    }
}

fn is_success(http_status: u16) -> bool {
    (200..300).contains(&http_status)
}

/// Where the body is of no use, the status may still say that the call was not understood.
fn otherwise(http_status: u16, text: &str, what: &str) -> WireAnswer<'static> {
    let unknown = matches!(http_status, 404 | 405 | 422);
    if unknown || is_method_unknown(text) {
        return WireAnswer::MethodNotFound;
    }
    WireAnswer::Garbled(format!("the agent answered HTTP {http_status} with {what}"))
}

fn read_value<'a>(http_status: u16, text: &str, value: Json<'a>) -> WireAnswer<'a> {
    let mut object = match value {
        Json::Object(object) => object,
        Json::String(_) | Json::Bool(_) | Json::Null if is_success(http_status) => {
            return WireAnswer::Received;
        }
        _ => return otherwise(http_status, text, "JSON that is not an object"),
    };
    if let Some(message) = find_message(&mut object) {
        return WireAnswer::Message(message);
    }
    if let Some(refusal) = refusal_in(&mut object) {
        return WireAnswer::Refused(refusal);
    }
    if let Some(error) = object.get("error").filter(|error| says_something(error)) {
        return read_error(http_status, text, error);
    }
    if !is_success(http_status) {
        return otherwise(http_status, text, "JSON that holds no league message");
    }
    let result = object.get("result").and_then(Json::as_object).unwrap_or(&object);
    match told_in(result) {
        Some(told) if is_method_unknown(&told) => WireAnswer::MethodNotFound,
        Some(told) => WireAnswer::Garbled(format!("the agent says that it failed: {}", shortened(&told))),
        None => WireAnswer::Received,
    }
}

/// The LEAGUE_ERROR whose fields the `data` of an error holds, or the structure of a tool's result that is an error.
fn refusal_in<'a>(object: &mut Fields<'a>) -> Option<Json<'a>> {
    let is_error = |place: &str, object: &Fields<'_>| object.get(place).and_then(Json::as_object).is_some();
    let (outer, inner) =
        if is_error("error", object) { ("error", "data") } else { ("result", "structuredContent") };
    let held = object.get_mut(outer)?.as_object_mut()?;
    if outer == "result" && held.get("isError").and_then(Json::as_bool) != Some(true) {
        return None;
    }
    let data = held.get_mut(inner)?.as_object_mut()?;
    data.get("error_code")?.as_str()?;
    let mut fields = std::mem::take(data);
    fields.insert("message_type", Json::String(Cow::Borrowed(MessageType::LeagueError.name())));
    Some(Json::Object(fields))
}

/// Some agents put an empty `error` beside every result.
fn says_something(error: &Json<'_>) -> bool {
    !matches!(error, Json::Null | Json::Bool(false)) && error.as_str() != Some("")
}

fn read_error(http_status: u16, text: &str, error: &Json<'_>) -> WireAnswer<'static> {
    let said = reason(error).unwrap_or_default();
    match error.get("code").and_then(Json::as_i64) {
        Some(code) if code == Fault::MethodNotFound.code() => WireAnswer::MethodNotFound,
        _ if is_method_unknown(&said) => WireAnswer::MethodNotFound,
        Some(code) => WireAnswer::Error { code, message: shortened(&said) },
        None => otherwise(http_status, text, &format!("an error: {}", shortened(&said))),
    }
}

fn is_method_unknown(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["unknown method", "method not found", "unknown tool"].iter().any(|phrase| text.contains(phrase))
}

/// The message in a body: bare, as the `result` of a response, or as the `params` of a request.
fn find_message<'a>(object: &mut Fields<'a>) -> Option<Json<'a>> {
    if is_message(object) {
        return Some(Json::Object(std::mem::take(object)));
    }
    for place in ["result", "params"] {
        if let Some(message) = object.get_mut(place).and_then(Json::as_object_mut).and_then(message_within) {
            return Some(message);
        }
    }
    message_within(object)
}

/// The message that an object is, or that it holds one level down.
fn message_within<'a>(object: &mut Fields<'a>) -> Option<Json<'a>> {
    if is_message(object) {
        return Some(Json::Object(std::mem::take(object)));
    }
    for place in ["response", "message", "structuredContent"] {
        let held = object.get_mut(place);
        if held.as_deref().and_then(Json::as_object).is_some_and(is_message) {
            return held.map(|held| std::mem::replace(held, Json::Null));
        }
    }
    message_in_text(object)
}

/// A tool of an older Model Context Protocol server returns its result as text alone.
fn message_in_text(object: &Fields<'_>) -> Option<Json<'static>> {
    let items = object.get("content")?.as_array()?;
    let texts = items.iter().filter_map(|item| item.get("text")?.as_str());
    let mut values = texts.filter_map(|text| Json::read(text).ok());
    values.find(|value| value.as_object().is_some_and(is_message)).map(Json::into_owned)
}

/// Whether an object is a league message, or a player's answer that lacks its type: the reader of messages can then say
/// what is missing, where a mere acknowledgement would leave the player waiting for its own loss.
fn is_message(object: &Fields<'_>) -> bool {
    let telling = ["message_type", "accept", "parity_choice", "choice", "move_data"];
    telling.iter().any(|&field| object.contains_key(field))
}
