//! Parses the manager's reply to a command: the expected message, a refusal, or something else.

use anyhow::Result;
use matchday_core::protocol::Query;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use matchday_store::redact::redact_tokens;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

const EXCERPT_CHARS_MAX: usize = 200;

/// The manager was reached and does not do what the command asks; a retry does not help. One line for people.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(pub(super) String);

#[derive(Debug)]
pub(super) enum ManagerReply {
    /// A league message, or its equivalent.
    Message(Value),
    /// LEAGUE_ERROR, or LEAGUE_QUERY_RESPONSE without success.
    Refusal(LeagueRefusal),
    /// An HTTP error, a JSON-RPC error, or no JSON: what came, in short.
    NotUnderstood(String),
}

/// An error that the manager returned.
#[derive(Debug)]
pub(super) struct LeagueRefusal {
    pub(super) code: String,
    pub(super) why: String,
    /// LEAGUE_ERROR about the message itself: it lacks something that only a league message has.
    pub(super) is_about_form: bool,
    /// It came as the answer to a query, not as LEAGUE_ERROR.
    pub(super) answers_query: bool,
}

impl LeagueRefusal {
    /// `told` holds `error_code`, and the reason in one of the fields that the sources name.
    fn read(told: Option<&Value>, is_league_error: bool) -> Self {
        let text = |key: &str| told.and_then(|told| told.get(key)).and_then(Value::as_str);
        let prose = [
            "error_message",
            "error_description",
            "error_name",
            "message",
        ]
        .into_iter()
        .find_map(text);
        let why = prose
            .or_else(|| told.and_then(Value::as_str))
            .unwrap_or("it does not say why");
        let code = text("error_code").unwrap_or("no code").to_owned();
        let is_about_form =
            is_league_error && matches!(code.as_str(), "E002" | "E003" | "E018" | "E021");
        Self {
            code,
            why: excerpt(why.as_bytes()),
            is_about_form,
            answers_query: !is_league_error,
        }
    }
}

/// Reads the HTTP response to a request of ours, in whichever way the manager wraps its answers.
pub(super) fn read(status: u16, body: &[u8]) -> ManagerReply {
    let limits = Limits {
        message_bytes_max: body.len(),
        ..Limits::AGENT
    };
    let message = match read_answer(status, body, &limits) {
        WireAnswer::Message(message) | WireAnswer::Refused(message) => Some(message.into()),
        WireAnswer::Received => Some(without_type(status, body)),
        WireAnswer::MethodNotFound
        | WireAnswer::Error { .. }
        | WireAnswer::Failed(_)
        | WireAnswer::Garbled(_) => None,
    };
    match message {
        Some(error)
            if error
                .get("message_type")
                .is_some_and(|kind| kind == "LEAGUE_ERROR") =>
        {
            ManagerReply::Refusal(LeagueRefusal::read(Some(&error), true))
        }
        Some(answer) if answer.get("success") == Some(&Value::Bool(false)) => {
            ManagerReply::Refusal(LeagueRefusal::read(answer.get("error"), false))
        }
        Some(message) if (200..300).contains(&status) => ManagerReply::Message(message),
        _ => ManagerReply::NotUnderstood(describe_response(status, body)),
    }
}

/// Some managers leave the message type out: their answer is the `result`, or the body itself. Of a mere "received" there
/// is nothing to read, and it is kept to be shown.
fn without_type(status: u16, body: &[u8]) -> Value {
    let mut whole: Value = serde_json::from_slice(body).unwrap_or_default();
    let answer = whole.get_mut("result").map(Value::take).unwrap_or(whole);
    if answer.is_object() {
        answer
    } else {
        describe_response(status, body).into()
    }
}

/// What a query asked for, if the answer holds it: `data`, or for GET_STANDINGS the table at the top level.
pub(super) fn data_of(query_type: Query, answer: &Value) -> Option<Value> {
    if answer
        .get("query_type")
        .is_some_and(|echoed| echoed.as_str() != query_type.spec().query_type)
    {
        return None;
    }
    let data = answer.get("data").unwrap_or(&Value::Null);
    if query_type == Query::Standings {
        let table = data.get("standings").or(answer.get("standings"))?;
        let is_row = |row: &Value| row.get("player_id").is_some_and(Value::is_string);
        let is_table = table.as_array().is_some_and(|rows| rows.iter().all(is_row));
        let unproven = data.get("results_unproven").filter(|count| count.is_u64());
        let fields = [("standings", Some(table)), ("results_unproven", unproven)];
        let told = fields
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?.clone())));
        return is_table.then(|| told.collect::<Map<_, _>>().into());
    }
    let is_empty = data.as_object().is_none_or(Map::is_empty);
    (!is_empty).then(|| data.clone())
}

/// Data in the form that Matchday's own managers give it.
pub(crate) fn in_our_form<T: DeserializeOwned>(what: &str, data: Value) -> Result<T> {
    serde_json::from_value(data).map_err(|error| {
        let why = format!("the manager tells its {what} in another form than Matchday's ({error})");
        Refused(format!(
            "{why} - see what it tells with `standings --json` and `schedule --json`"
        ))
        .into()
    })
}

/// A response in short: its HTTP status, and how its body begins.
fn describe_response(status: u16, body: &[u8]) -> String {
    if body.trim_ascii().is_empty() {
        format!("HTTP {status} without a body")
    } else {
        format!("HTTP {status} {}", excerpt(body))
    }
}

/// A text of the manager's as it may be shown: one line, no tokens, not too long.
pub(super) fn excerpt(text: &[u8]) -> String {
    // Tokens are cut before the text is, so that half of one cannot be left at the end.
    let text = redact_tokens(text.get(..EXCERPT_CHARS_MAX * 8).unwrap_or(text));
    let mut line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(EXCERPT_CHARS_MAX)
        .collect();
    if text.chars().nth(EXCERPT_CHARS_MAX).is_some() {
        line.push_str("...");
    }
    line
}
