//! Decodes the responses to our calls. A message is searched in every place where agents have been seen to put one;
//! without a message, the response is an acknowledgement, an error, or garbled.

use super::error_text::{reason, shortened, told_in};
use crate::protocol::decode::Limits;
use crate::protocol::json::{Fields, Json};
use crate::protocol::jsonrpc::Fault;
use crate::protocol::message::MessageType;
use serde_json::Number;

/// The response to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum WireAnswer {
    /// A league message, or an object that is meant to be one.
    Message(Json),
    /// A JSON-RPC error with the fields of a LEAGUE_ERROR, by which our players and referees reject a message. Given as
    /// that message, without an envelope.
    Refused(Json),
    /// An acknowledgement.
    Received,
    /// The peer does not know the method: another dialect may work.
    MethodNotFound,
    /// Another JSON-RPC error.
    Error {
        /// As the peer sent it, of JSON-RPC or its own.
        code: i64,
        /// What the peer says went wrong, shortened.
        message: String,
    },
    /// Another report of a failure, by HTTP status or in the body, without a message; a description for people.
    Failed(String),
    /// No valid response; a description for people.
    Garbled(String),
}

impl WireAnswer {
    /// Whether the peer answered with an error that is none of the league's: another dialect may be what it understands.
    pub fn is_not_understood(&self) -> bool {
        matches!(
            self,
            Self::MethodNotFound | Self::Error { .. } | Self::Failed(_)
        )
    }
}

/// Decodes the response to a call, however it is wrapped.
pub fn read_answer(http_status: u16, body: &[u8], limits: &Limits) -> WireAnswer {
    let most = limits.message_bytes_max;
    if body.len() > most {
        let bytes = body.len();
        return WireAnswer::Garbled(format!(
            "the answer has {bytes} bytes and may have {most} at most"
        ));
    }
    if (300..400).contains(&http_status) {
        let what = "a redirect, which is never followed: register the address that it leads to";
        return WireAnswer::Garbled(format!("the agent answered HTTP {http_status}, {what}"));
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return otherwise(http_status, "", "a body that is not UTF-8");
    };
    let text = text.trim_ascii();
    if text.is_empty() && is_success(http_status) {
        return WireAnswer::Received;
    }
    let event = event_data(text);
    let text = event.as_deref().unwrap_or(text);
    match serde_json::from_str(text) {
        Ok(value) => read_value(http_status, text, value),
        Err(_) if text.is_empty() => otherwise(http_status, text, "an empty body"),
        Err(_) if text.starts_with('<') => {
            otherwise(http_status, text, "a page for people instead of JSON")
        }
        // How minimal servers acknowledge.
        Err(_) if text.eq_ignore_ascii_case("ok") && is_success(http_status) => {
            WireAnswer::Received
        }
        Err(error) => otherwise(
            http_status,
            text,
            &format!("a body that is not JSON ({error})"),
        ),
    }
}

/// The JSON of a body that is a stream of server-sent events, which some servers answer every request with: that of the last
/// event that has any.
fn event_data(text: &str) -> Option<String> {
    if !["event:", "data:", "id:", ":"]
        .iter()
        .any(|field| text.starts_with(field))
    {
        return None;
    }
    let normal = text.replace("\r\n", "\n");
    let data_of = |event: &str| {
        let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
        lines.map(str::trim).collect::<Vec<_>>().join("\n")
    };
    let events = normal.split("\n\n").map(data_of);
    events.filter(|data| data.starts_with('{')).last()
}

fn is_success(http_status: u16) -> bool {
    (200..300).contains(&http_status)
}

/// Without a useful body, the status may still mean "method not found".
fn otherwise(http_status: u16, text: &str, what: &str) -> WireAnswer {
    let unknown = matches!(http_status, 404 | 405 | 422);
    if unknown || is_method_unknown(text) {
        return WireAnswer::MethodNotFound;
    }
    let why = format!("the agent answered HTTP {http_status} with {what}");
    match http_status {
        // "Not now" says nothing about the dialect.
        429 | 503 => WireAnswer::Garbled(why),
        400..600 => WireAnswer::Failed(why),
        _ => WireAnswer::Garbled(why),
    }
}

fn read_value(http_status: u16, text: &str, value: Json) -> WireAnswer {
    let mut object = match value {
        Json::Object(object) => object,
        _ if is_success(http_status) => return WireAnswer::Received,
        _ => return otherwise(http_status, text, "JSON that is not an object"),
    };
    if let Some(refusal) = error_message_in(&mut object) {
        return WireAnswer::Refused(refusal);
    }
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
    let result = object
        .get("result")
        .and_then(Json::as_object)
        .unwrap_or(&object);
    match told_in(result) {
        Some(told) if is_method_unknown(&told) => WireAnswer::MethodNotFound,
        Some(told) => WireAnswer::Failed(format!(
            "the agent says that it failed: {}",
            shortened(&told)
        )),
        None => WireAnswer::Received,
    }
}

/// The LEAGUE_ERROR in an error or in its `data`, in the structured content of a failed tool result, or in the body itself or
/// its `detail`, where web frameworks put it.
fn refusal_in(object: &mut Fields) -> Option<Json> {
    fn has_code(fields: &Fields) -> bool {
        fields
            .get("error_code")
            .is_some_and(|code| code.as_str().is_some())
    }
    fn within<'f>(fields: &'f mut Fields, path: &[&str]) -> Option<&'f mut Fields> {
        path.iter().try_fold(fields, |fields, place| {
            fields.get_mut(place)?.as_object_mut()
        })
    }
    let result = object.get("result").and_then(Json::as_object);
    let tool_failed =
        result.is_some_and(|it| it.get("isError").and_then(Json::as_bool) == Some(true));
    let tool: &[&str] = if tool_failed {
        &["result", "structuredContent"]
    } else {
        &["error"]
    };
    let places: [&[&str]; 5] = [&["error", "data"], tool, &["error"], &["detail"], &[]];
    let place = places
        .into_iter()
        .find(|path| within(object, path).is_some_and(|fields| has_code(fields)))?;
    let outer = object.get("error").and_then(reason);
    let mut fields = std::mem::take(within(object, place)?);
    // The words of the error stand outside its data.
    if let (Some(said), false) = (outer, fields.contains_key("error_message")) {
        fields.insert("error_message", said);
    }
    fields.insert("message_type", MessageType::LeagueError.name());
    Some(Json::Object(fields))
}

/// A message whose type says that it is an error, and that the protocol does not have: `ERROR`, `REGISTRATION_ERROR`. As a
/// LEAGUE_ERROR, with the text that it has under any of the usual names.
fn error_message_in(object: &mut Fields) -> Option<Json> {
    fn is_error(fields: &Fields) -> bool {
        let named = fields.get("message_type").and_then(Json::as_str);
        named.is_some_and(|named| {
            let upper = named.to_ascii_uppercase();
            MessageType::parse(&upper).is_none() && upper.rsplit('_').next() == Some("ERROR")
        })
    }
    let places: [&[&str]; 5] = [
        &[],
        &["result"],
        &["params"],
        &["result", "message"],
        &["result", "response"],
    ];
    let fields = places.into_iter().find_map(|path| {
        let found = path
            .iter()
            .try_fold(&*object, |fields, place| fields.get(place)?.as_object());
        found.filter(|fields| is_error(fields)).cloned()
    })?;
    let mut refusal = fields.clone();
    let text = |key: &str| fields.get(key).and_then(Json::as_str).map(str::to_owned);
    if text("error_code").is_none() {
        let code = text("code")
            .or_else(|| text("error"))
            .unwrap_or_else(|| "ERROR".to_owned());
        refusal.insert("error_code", code);
    }
    if let (None, Some(said)) = (text("error_message"), reason(&Json::Object(fields.clone()))) {
        refusal.insert("error_message", said);
    }
    refusal.insert("message_type", MessageType::LeagueError.name());
    Some(Json::Object(refusal))
}

/// Some agents put an empty `error` beside every result.
fn says_something(error: &Json) -> bool {
    !matches!(error, Json::Null | Json::Bool(false)) && error.as_str() != Some("")
}

fn read_error(http_status: u16, text: &str, error: &Json) -> WireAnswer {
    let said = reason(error).unwrap_or_default();
    match error
        .get("code")
        .and_then(Json::as_number)
        .and_then(Number::as_i64)
    {
        Some(code) if code == Fault::MethodNotFound.code() => WireAnswer::MethodNotFound,
        _ if is_method_unknown(&said) => WireAnswer::MethodNotFound,
        Some(code) => WireAnswer::Error {
            code,
            message: shortened(&said),
        },
        None if is_success(http_status) => WireAnswer::Failed(format!(
            "the agent answered with an error: {}",
            shortened(&said)
        )),
        None => otherwise(
            http_status,
            text,
            &format!("an error: {}", shortened(&said)),
        ),
    }
}

fn is_method_unknown(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["unknown method", "method not found", "unknown tool"]
        .iter()
        .any(|phrase| text.contains(phrase))
}

/// The message in a body: bare, as the `result` of a response, or as the `params` of a request.
fn find_message(object: &mut Fields) -> Option<Json> {
    if is_message(object) {
        return Some(Json::Object(std::mem::take(object)));
    }
    for place in ["result", "params"] {
        if let Some(message) = object
            .get_mut(place)
            .and_then(Json::as_object_mut)
            .and_then(message_within)
        {
            return Some(message);
        }
    }
    message_within(object)
}

/// The message that an object is, or contains one level down.
fn message_within(object: &mut Fields) -> Option<Json> {
    if is_message(object) {
        return Some(Json::Object(std::mem::take(object)));
    }
    for place in ["response", "message", "structuredContent"] {
        let held = object.get_mut(place);
        if held
            .as_deref()
            .and_then(Json::as_object)
            .is_some_and(is_message)
        {
            return held.map(std::mem::take);
        }
    }
    message_in_text(object)
}

/// A tool of an older MCP server returns its result as text only.
fn message_in_text(object: &Fields) -> Option<Json> {
    let items = object.get("content")?.as_array()?;
    let texts = items.iter().filter_map(|item| item.get("text")?.as_str());
    let mut values = texts.filter_map(|text| serde_json::from_str::<Json>(text).ok());
    values.find(|value| value.as_object().is_some_and(is_message))
}

/// Whether an object is a league message, or a player's answer without its type: decoding then reports what is missing,
/// whereas an acknowledgement would make the player lose by timeout.
fn is_message(object: &Fields) -> bool {
    let telling = ["accept", "parity_choice", "choice", "move_data"];
    let named = object.get("message_type");
    let acknowledges = named.and_then(Json::as_str).is_some_and(|named| {
        is_acknowledgement(named) || (is_notice(named) && says_received(object))
    });
    (named.is_some() && !acknowledges) || telling.iter().any(|&field| object.contains_key(field))
}

/// Whether a message of this type is never an answer.
fn is_notice(message_type: &str) -> bool {
    use MessageType as M;
    matches!(
        MessageType::parse(message_type),
        Some(
            M::RoundAnnouncement
                | M::RoundCompleted
                | M::LeagueCompleted
                | M::LeagueStandingsUpdate
                | M::MatchAssignment
                | M::GameInvitation
                | M::ChooseParityCall
                | M::GameMoveCall
                | M::GameOver
                | M::GameError
        )
    )
}

/// Some agents acknowledge under the type of the notice itself.
fn says_received(object: &Fields) -> bool {
    let status = object.get("status").and_then(Json::as_str);
    let words = [
        "received",
        "acknowledged",
        "acknowledge",
        "ack",
        "ok",
        "success",
    ];
    status.is_some_and(|status| words.iter().any(|word| status.eq_ignore_ascii_case(word)))
}

/// Whether a message type that the protocol does not have says "received": `ACK`, `ROUND_ANNOUNCEMENT_ACK`.
fn is_acknowledgement(message_type: &str) -> bool {
    let upper = message_type.to_ascii_uppercase();
    let says_so = ["ACK", "ACKNOWLEDGED", "ACKNOWLEDGEMENT", "RECEIVED", "OK"];
    let last_word = upper.rsplit('_').next().unwrap_or_default();
    MessageType::parse(&upper).is_none() && says_so.contains(&last_word)
}
