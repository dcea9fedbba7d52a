//! The requests that a player was sent in a stored match, ready to be sent to another. Pure, but for reading them.

use crate::log_set::LogSet;
use crate::timeline::{EndpointNames, no_match, paired, summarize_answer};
use matchday_core::protocol::{ConversationId, MatchId, Timestamp, Token, Untrusted};
use matchday_store::error::StoreError;
use matchday_store::exchange::Exchange;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// What referees ask of players and tell them.
const TO_PLAYERS: &[&str] = &[
    "GAME_INVITATION",
    "CHOOSE_PARITY_CALL",
    "GAME_MOVE_CALL",
    "GAME_ERROR",
    "GAME_OVER",
];

/// One player's part in a match.
#[derive(Debug)]
pub struct PlayerRequests {
    pub player: String,
    /// Who else was asked in this match.
    pub others: Vec<String>,
    pub asked: Vec<RecordedRequest>,
}

#[derive(Debug)]
pub struct RecordedRequest {
    pub message_type: String,
    pub conversation_id: ConversationId,
    /// The request as it is kept: with the beginning of its token, and truncated if it was very long.
    request: String,
    /// What was answered then, in brief, and how long that took.
    pub answer: String,
    /// The answer as it is kept.
    pub answer_body: Option<String>,
    pub took_ms: Option<f64>,
}

/// A message of a match that is decided, as the page of the match publishes it.
#[derive(Debug, Deserialize)]
pub struct PublishedMessage {
    to: String,
    #[serde(rename = "type")]
    message_type: String,
    conversation_id: ConversationId,
    request: Option<String>,
    answer: Option<String>,
    outcome: String,
    sent_at: String,
    answered_at: Option<String>,
}

/// The requests to a player in a stored match, in order: to this player, or to the first that was asked.
pub fn player_requests(
    logs: &LogSet,
    match_id: &MatchId,
    player: Option<&str>,
) -> Result<PlayerRequests, StoreError> {
    if !logs.matches().contains(match_id) {
        return Err(no_match(logs, match_id));
    }
    let exchanges = logs.exchanges_of(match_id)?;
    let names = EndpointNames::of(logs);
    let mut told: Vec<&Exchange> = paired(&exchanges)
        .into_iter()
        .map(|(told, _)| told)
        .collect();
    told.sort_by_key(|exchange| exchange.at);
    let told = told
        .into_iter()
        .map(|told| (names.route(told).1, recorded(told)));
    of_player(told, match_id, player)
}

/// The same from the messages that the page of a match shows.
pub fn published_requests(
    messages: Vec<PublishedMessage>,
    match_id: &MatchId,
    player: Option<&str>,
) -> Result<PlayerRequests, StoreError> {
    let told = messages
        .into_iter()
        .map(|told| (told.to.clone(), published(told)));
    of_player(told, match_id, player)
}

fn of_player(
    told: impl Iterator<Item = (String, RecordedRequest)>,
    match_id: &MatchId,
    player: Option<&str>,
) -> Result<PlayerRequests, StoreError> {
    let told: Vec<_> = told
        .filter(|(_, request)| TO_PLAYERS.contains(&request.message_type.as_str()))
        .collect();
    let mut players: BTreeSet<String> = told.iter().map(|(to, _)| to.clone()).collect();
    let Some(first) = players.first().cloned() else {
        return Err(StoreError::NothingAsked(match_id.clone()));
    };
    let wanted = match player {
        None => first,
        Some(wanted) => match players
            .iter()
            .find(|known| known.eq_ignore_ascii_case(wanted))
        {
            Some(known) => known.clone(),
            None => {
                let known = players.into_iter().collect::<Vec<_>>().join(" and ");
                return Err(StoreError::NotAsked {
                    player: wanted.into(),
                    match_id: match_id.clone(),
                    known,
                });
            }
        },
    };
    players.remove(&wanted);
    let own = told.into_iter().filter(|(to, _)| *to == wanted);
    let asked = own.map(|(_, request)| request).collect();
    Ok(PlayerRequests {
        player: wanted,
        others: players.into_iter().collect(),
        asked,
    })
}

fn recorded(exchange: &Exchange) -> RecordedRequest {
    let took = exchange
        .done_at
        .map(|done| done.as_micros().saturating_sub(exchange.at.as_micros()));
    RecordedRequest {
        message_type: exchange.message_type.escaped().to_string(),
        conversation_id: exchange.conversation_id.clone(),
        request: exchange.request.clone(),
        answer: summarize_answer(exchange.answer.as_deref(), exchange.outcome.untrusted()),
        answer_body: exchange.answer.as_deref().map(str::to_owned),
        took_ms: took.map(|micros| micros as f64 / 1000.0),
    }
}

fn published(told: PublishedMessage) -> RecordedRequest {
    let at = |text: &str| Timestamp::parse(text).map(|(at, _)| at.as_micros());
    let took = at(&told.sent_at)
        .zip(told.answered_at.as_deref().and_then(at))
        .map(|(sent, answered)| answered.saturating_sub(sent) as f64 / 1000.0);
    RecordedRequest {
        message_type: Untrusted::new(&told.message_type).escaped().to_string(),
        conversation_id: told.conversation_id,
        request: told.request.unwrap_or_default(),
        answer: summarize_answer(told.answer.as_deref(), Untrusted::new(&told.outcome)),
        answer_body: told.answer,
        took_ms: took,
    }
}

impl RecordedRequest {
    /// The request as it was sent, with this token in the place of its own; `None` if it was recorded truncated.
    pub fn with_token(&self, token: &Token) -> Option<String> {
        with_token(&self.request, token)
    }

    /// A field of the message.
    pub fn field(&self, name: &str) -> Option<String> {
        let request: Value = serde_json::from_str(&self.request).ok()?;
        let value = request.pointer("/params")?.get(name)?;
        value.as_str().map(str::to_owned)
    }
}

/// A request with `token` where the store has only the beginning of one; every other letter is as it was sent.
fn with_token(request: &str, token: &Token) -> Option<String> {
    let value: Value = serde_json::from_str(request).ok()?;
    let mut cut = BTreeSet::new();
    find_cut(&value, &mut cut);
    let fresh = Value::from(token.reveal()).to_string();
    Some(cut.into_iter().fold(request.to_owned(), |text, token| {
        text.replace(&token, &fresh)
    }))
}

/// The tokens that were cut, as they stand in the text.
fn find_cut(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_cut =
                    key == "auth_token" && value.as_str().is_some_and(|text| text.ends_with("..."));
                if is_cut {
                    found.insert(value.to_string());
                } else {
                    find_cut(value, found);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| find_cut(value, found)),
        _ => {}
    }
}

/// An answer in brief.
pub fn summarize_answer_body(answer: &str) -> String {
    summarize_answer(Some(answer), Untrusted::new("received"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_was_cut_is_replaced_and_nothing_else_changes() {
        let token = Token::new("tok_new");
        let request = r#"{"id":7, "params":{"z":1,"auth_token":"tok_r1m1...","a":"tok_r1m1"}}"#;
        let sent = with_token(request, &token).unwrap();
        assert_eq!(
            sent,
            r#"{"id":7, "params":{"z":1,"auth_token":"tok_new","a":"tok_r1m1"}}"#
        );
        let whole = r#"{"auth_token":"short"}"#;
        assert_eq!(with_token(whole, &token).as_deref(), Some(whole));
        assert_eq!(
            with_token("{\"a\":\"bc... (9000 bytes)", &token),
            None,
            "kept in part"
        );
    }
}
