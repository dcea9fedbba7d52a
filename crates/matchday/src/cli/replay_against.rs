//! `matchday replay --against URL`: the requests of a stored match, sent to an agent under development, and what it answers
//! beside what was answered then. Calls the agent, one request after the other.

use anyhow::Result;
use matchday_audit::log_set::LogSet;
use matchday_audit::request_replay::{self, PlayerRequests, RecordedRequest};
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use matchday_core::protocol::{MatchId, Token};
use matchday_core::timing::Timing;
use matchday_net::client::{CallError, Client};
use matchday_runtime::entropy_from_system;
use matchday_terminal::{headed, say, table};
use serde::Serialize;
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// Whom to ask, and as whom.
#[derive(Debug)]
pub(super) struct Against<'a> {
    pub(super) url: &'a str,
    pub(super) player: Option<&'a str>,
    /// How long each answer may take; otherwise what the rules allow for it.
    pub(super) timeout: Option<Duration>,
    pub(super) json: bool,
    pub(super) client: &'a Client,
}

/// One request: what was answered then, and what is answered now.
#[derive(Debug, Serialize)]
struct Row {
    request: String,
    then: String,
    then_ms: Option<f64>,
    now: String,
    now_ms: Option<f64>,
    same: bool,
    #[serde(skip)]
    answered: bool,
}

pub(super) async fn execute(
    logs: &LogSet,
    match_id: &MatchId,
    how: &Against<'_>,
) -> Result<ExitCode> {
    let token = Token::issue("replay", &mut entropy_from_system()?);
    let part = request_replay::player_requests(logs, match_id, how.player, &token)?;
    let mut rows = Vec::new();
    for asked in &part.asked {
        let row = ask(how, asked).await;
        rows.push(match row {
            // No connection at the first request is an error of the command, a later one a result.
            Err(error) if rows.is_empty() => return Err(unreachable(how.url, &error)),
            Err(error) => Row::unanswered(asked, error.to_string()),
            Ok(row) => row,
        });
    }
    if how.json {
        say(serde_json::to_string_pretty(&rows)?);
    } else {
        say(for_people(match_id, &part, how.url, &rows));
    }
    Ok(if rows.iter().all(|row| row.answered) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn unreachable(url: &str, error: &CallError) -> anyhow::Error {
    match error {
        CallError::Unusable(why) => {
            anyhow::anyhow!("{url} cannot be asked: {why} - check --against")
        }
        _ => anyhow::anyhow!("no agent answers at {url} ({error}) - start it, or check --against"),
    }
}

/// Sends one request. An error only if it could not be delivered.
async fn ask(how: &Against<'_>, asked: &RecordedRequest) -> Result<Row, CallError> {
    let Some(request) = &asked.request else {
        return Ok(Row::unanswered(
            asked,
            "not sent: it was too long to be kept whole".into(),
        ));
    };
    let began = Instant::now();
    let deadline = began + how.timeout.unwrap_or_else(|| allowed(&asked.message_type));
    let body = request.clone().into_bytes().into();
    let received = match how
        .client
        .post(how.url, body, deadline, Limits::AGENT.message_bytes_max)
        .await
    {
        Ok(received) => received,
        Err(error @ (CallError::TimedOut | CallError::TooLarge(_))) => {
            return Ok(Row::unanswered(asked, error.to_string()));
        }
        Err(error) => return Err(error),
    };
    let took = began.elapsed();
    let now = match read_answer(received.status, &received.body, &Limits::AGENT) {
        WireAnswer::Message(message) | WireAnswer::Refused(message) => {
            request_replay::summarize_answer_body(&message.to_string())
        }
        WireAnswer::Received => {
            request_replay::summarize_answer_body(&String::from_utf8_lossy(&received.body))
        }
        WireAnswer::MethodNotFound => "it does not know this method".to_owned(),
        WireAnswer::Error { code, message } => format!("JSON-RPC error {code}: {message}"),
        WireAnswer::Failed(what) | WireAnswer::Garbled(what) => what,
    };
    Ok(Row {
        request: asked.message_type.clone(),
        then: asked.answer.clone(),
        then_ms: asked.took_ms,
        same: now == asked.answer && is_same(asked.answer_body.as_deref(), &received.body),
        now,
        now_ms: Some((took.as_secs_f64() * 10_000.0).round() / 10.0),
        answered: true,
    })
}

impl Row {
    fn unanswered(asked: &RecordedRequest, now: String) -> Self {
        let request = asked.message_type.clone();
        let then = asked.answer.clone();
        Self {
            request,
            then,
            then_ms: asked.took_ms,
            now,
            now_ms: None,
            same: false,
            answered: false,
        }
    }
}

/// What is another in each match, or not kept.
const VOLATILE: &[&str] = &[
    "timestamp",
    "arrival_timestamp",
    "auth_token",
    "nonce",
    "nonce_commitment",
    "signature",
];

/// Whether two answers say the same in every field that could be the same. Without two messages their summaries decide.
fn is_same(then: Option<&str>, now: &[u8]) -> bool {
    let message = |body: &[u8]| match read_answer(200, body, &Limits::AGENT) {
        WireAnswer::Message(message) => Some(comparable(message)),
        _ => None,
    };
    match (then.and_then(|then| message(then.as_bytes())), message(now)) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    }
}

/// A message without what is volatile, and with its aliases under one name.
fn comparable(mut message: Value) -> Value {
    if let Some(fields) = message.as_object_mut() {
        VOLATILE.iter().for_each(|key| {
            fields.remove(*key);
        });
        if let Some(choice) = fields.remove("choice") {
            fields.entry("parity_choice").or_insert(choice);
        }
    }
    message
}

/// What the rules allow for an answer.
fn allowed(message_type: &str) -> Duration {
    let timing = Timing::default();
    match message_type {
        "GAME_INVITATION" => timing.join,
        "CHOOSE_PARITY_CALL" | "GAME_MOVE_CALL" => timing.choice,
        "GAME_OVER" => timing.game_over,
        _ => timing.other,
    }
}

const TOKENS: &str = "A store keeps no tokens, so a made-up one was sent, and the times in the requests are those of \
                      the match: an agent that checks either may refuse.";

/// What an agent says that goes by the tokens.
const REFUSALS: &[&str] = &["E005", "E008", "E011", "E012"];

fn for_people(match_id: &MatchId, part: &PlayerRequests, url: &str, rows: &[Row]) -> String {
    let PlayerRequests { player, others, .. } = part;
    let other = others
        .first()
        .map_or_else(String::new, |other| format!(" (the other: --as {other})"));
    let took = |ms: Option<f64>| ms.map_or_else(String::new, |ms| format!("{ms:.1}"));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let mark = if row.same { "same" } else { "differs" };
            let then = took(row.then_ms);
            let now = took(row.now_ms);
            vec![
                row.request.clone(),
                row.then.clone(),
                then,
                row.now.clone(),
                now,
                mark.to_owned(),
            ]
        })
        .collect();
    let table = table(&["REQUEST", "THEN", "MS", "NOW", "MS", ""], &cells);
    let mut text = format!(
        "{match_id} as {player}{other}, against {url}\n\n{}\n\n{TOKENS}",
        headed(&table)
    );
    if rows
        .iter()
        .any(|row| REFUSALS.iter().any(|code| row.now.contains(code)))
    {
        text.push_str(
            "\nIt did refuse a token. An agent of Matchday takes requests only from its own league: compare it with \
             one that does not check, or play it in a league (`matchday run`, `matchday player`).",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_equal_only_if_every_field_that_could_be_is() {
        let then = r#"{"result": {"message_type": "CHOOSE_PARITY_RESPONSE", "match_id": "R1M1", "player_id": "P01",
            "parity_choice": "odd", "timestamp": "2026-03-02T09:00:00Z", "auth_token": "tok_p01..."}}"#;
        let with = |old: &str, new: &str| is_same(Some(then), then.replace(old, new).as_bytes());
        assert!(
            with("2026-03-02", "2026-03-09")
                && with("tok_p01...", "tok_new")
                && with("parity_choice", "choice")
        );
        assert!(!with("\"P01\"", "\"P02\"") && !with("R1M1", "R2M1") && !with("odd", "even"));
    }
}
