//! The requests that a player was sent in a stored match, ready to be sent to another. Pure, but for reading them.

use super::Exchange;
use super::chronicle::Chronicle;
use super::error::StoreError;
use super::timeline::{Names, answer_gist, no_match, paired};
use matchday_core::protocol::{MatchId, Token, Untrusted};
use serde_json::Value;
use std::collections::BTreeSet;

/// What referees ask of players and tell them.
const TO_PLAYERS: &[&str] =
    &["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_MOVE_CALL", "GAME_ERROR", "GAME_OVER"];

/// One player's part in a match.
#[derive(Debug)]
pub struct Part {
    pub player: String,
    /// Who else was asked in this match.
    pub others: Vec<String>,
    pub asked: Vec<Asked>,
}

#[derive(Debug)]
pub struct Asked {
    pub message_type: String,
    /// The request to the letter, but for its token; `None` if it was too long to be kept whole.
    pub request: Option<String>,
    /// What was answered then, in brief, and how long that took.
    pub answer: String,
    pub took_ms: Option<f64>,
}

/// What a player was asked in a match, in order: this player, or the first of those of whom it is known. Tokens are not
/// kept in a store, so `token` stands in for them.
pub fn part(
    chronicle: &Chronicle,
    match_id: &MatchId,
    player: Option<&str>,
    token: &Token,
) -> Result<Part, StoreError> {
    if !chronicle.matches().contains(match_id) {
        return Err(no_match(chronicle, match_id));
    }
    let exchanges = chronicle.exchanges_of(match_id)?;
    let names = Names::of(chronicle);
    let mut told: Vec<(String, &Exchange)> = paired(&exchanges)
        .into_iter()
        .filter(|(told, _)| TO_PLAYERS.contains(&told.message_type.raw()))
        .map(|(told, _)| (names.route(told).1, told))
        .collect();
    told.sort_by_key(|(_, exchange)| exchange.at);
    let mut players: BTreeSet<String> = told.iter().map(|(to, _)| to.clone()).collect();
    let Some(first) = players.first().cloned() else {
        return Err(StoreError::NothingAsked(match_id.clone()));
    };
    let wanted = match player {
        None => first,
        Some(wanted) => match players.iter().find(|known| known.eq_ignore_ascii_case(wanted)) {
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
    let own = told.iter().filter(|(to, _)| *to == wanted);
    let asked = own.map(|(_, exchange)| asked(exchange, token)).collect();
    Ok(Part { player: wanted, others: players.into_iter().collect(), asked })
}

fn asked(exchange: &Exchange, token: &Token) -> Asked {
    let took = exchange.done_at.map(|done| done.as_micros().saturating_sub(exchange.at.as_micros()));
    Asked {
        message_type: exchange.message_type.escaped().to_string(),
        request: with_token(&exchange.request, token),
        answer: answer_gist(exchange.answer.as_deref(), exchange.outcome.untrusted()),
        took_ms: took.map(|micros| micros as f64 / 1000.0),
    }
}

/// A request with `token` where the store has only the beginning of one; every other letter is as it was sent.
fn with_token(request: &str, token: &Token) -> Option<String> {
    let value: Value = serde_json::from_str(request).ok()?;
    let mut cut = BTreeSet::new();
    find_cut(&value, &mut cut);
    let fresh = Value::from(token.reveal()).to_string();
    Some(cut.into_iter().fold(request.to_owned(), |text, token| text.replace(&token, &fresh)))
}

/// The tokens that were cut, as they stand in the text.
fn find_cut(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_cut = key == "auth_token" && value.as_str().is_some_and(|text| text.ends_with("..."));
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

/// What an answer says, in brief.
pub fn gist_of(answer: &str) -> String {
    answer_gist(Some(answer), Untrusted::new("received"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_was_cut_is_replaced_and_nothing_else_changes() {
        let token = Token::new("tok_new");
        let request = r#"{"id":7, "params":{"z":1,"auth_token":"tok_r1m1...","a":"tok_r1m1"}}"#;
        let sent = with_token(request, &token).unwrap();
        assert_eq!(sent, r#"{"id":7, "params":{"z":1,"auth_token":"tok_new","a":"tok_r1m1"}}"#);
        let whole = r#"{"auth_token":"short"}"#;
        assert_eq!(with_token(whole, &token).as_deref(), Some(whole));
        assert_eq!(with_token("{\"a\":\"bc... (9000 bytes)", &token), None, "kept in part");
    }
}
