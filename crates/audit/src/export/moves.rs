//! The moves of matches as rows: from the results, with the times of the messages and what the players wrote down. Pure, but
//! for reading the exchanges.

use super::model_calls::{self, ModelCallRow};
use super::rows::rounded;
use crate::describe::on_one_line;
use crate::log_set::LogSet;
use matchday_core::agent::Usage;
use matchday_core::league::fixture::{Decision, Match};
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::GameDetails;
use matchday_core::protocol::{Attempt, MatchId, PlayerId};
use matchday_store::error::StoreError;
use matchday_store::exchange::{Direction, Exchange};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(super) struct MoveRow<'a> {
    league: &'a str,
    #[serde(rename = "match")]
    match_id: &'a str,
    turn: u32,
    player: String,
    #[serde(rename = "move")]
    choice: String,
    answer_ms: Option<f64>,
    fallback: Option<bool>,
    fallback_reason: Option<String>,
    model_calls: Option<u32>,
    model_input_tokens: Option<u64>,
    model_output_tokens: Option<u64>,
    model_cost: Option<f64>,
}

/// What a player wrote down of a move.
#[derive(Debug)]
struct Note<'a> {
    turn: Option<u32>,
    value: &'a Value,
    fallback: Option<&'a str>,
    usage: Option<Usage>,
}

type Notes<'a> = BTreeMap<(String, &'a MatchId, Attempt), Vec<Note<'a>>>;

/// The moves of all matches of the league with a result, match by match, and the calls of models in all matches.
pub(super) fn moves<'a>(
    name: &'a str,
    logs: &'a LogSet,
) -> Result<(Vec<MoveRow<'a>>, Vec<ModelCallRow<'a>>), StoreError> {
    let Some(league_log) = &logs.league else {
        return Ok(Default::default());
    };
    let notes = notes(logs);
    let mut all = Vec::new();
    let mut calls = Vec::new();
    let rounds = league_log.league.rounds.iter();
    for (match_id, game) in rounds.flat_map(|round| league_log.league.matches_of(round)) {
        if game.attempts.is_empty() {
            continue;
        }
        let exchanges = logs.exchanges_of(match_id)?;
        if let Some(decision) = &game.decision {
            let times = answer_times(&exchanges, match_id, decision.attempt);
            all.extend(of_match(name, match_id, game, decision, &notes, &times));
        }
        calls.extend(model_calls::rows(name, match_id, &exchanges));
    }
    Ok((all, calls))
}

fn of_match<'a>(
    league: &'a str,
    match_id: &'a MatchId,
    game: &Match,
    decision: &Decision,
    notes: &Notes<'_>,
    times: &BTreeMap<(String, u32), f64>,
) -> Vec<MoveRow<'a>> {
    let of_player =
        |player: &PlayerId| notes.get(&(player.to_string(), match_id, decision.attempt));
    let played = match told(game, decision) {
        Some(played) => played,
        None => [&game.a, &game.b]
            .into_iter()
            .flat_map(|player| {
                let notes = of_player(player).map(Vec::as_slice).unwrap_or_default();
                let turns = (1..).zip(notes);
                turns.map(|(nth, note)| {
                    (note.turn.unwrap_or(nth), player.clone(), note.value.clone())
                })
            })
            .collect(),
    };
    let mut counts = BTreeMap::<PlayerId, usize>::new();
    let mut rows: Vec<MoveRow<'a>> = Vec::with_capacity(played.len());
    for (turn, player, value) in played {
        let nth = counts.entry(player.clone()).or_default();
        let own = of_player(&player);
        // Where the referee numbers no turns, the player's moves are in order.
        let note = own.and_then(|notes| {
            let by_turn = notes.iter().find(|note| note.turn == Some(turn));
            by_turn.or_else(|| notes.get(*nth).filter(|note| note.turn.is_none()))
        });
        *nth += 1;
        let usage = note.and_then(|note| note.usage);
        rows.push(MoveRow {
            league,
            match_id: match_id.as_str(),
            turn,
            choice: value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
            answer_ms: times.get(&(player.to_string(), turn)).copied(),
            player: player.to_string(),
            fallback: note.map(|note| note.fallback.is_some()),
            fallback_reason: note.and_then(|note| note.fallback).map(on_one_line),
            model_calls: usage.map(|usage| usage.calls),
            model_input_tokens: usage.map(|usage| usage.input_tokens),
            model_output_tokens: usage.map(|usage| usage.output_tokens),
            model_cost: usage.map(|usage| usage.cost_micros as f64 / 1e6),
        });
    }
    rows.sort_by_key(|row| row.turn);
    rows
}

/// The moves that the result tells; `None` if its referee told none.
fn told(game: &Match, decision: &Decision) -> Option<Vec<(u32, PlayerId, Value)>> {
    let details = &decision.result.details;
    if let GameDetails::Parity(parity) = &details.game {
        let choice = |player: &PlayerId| {
            let choice = parity.choices.get(player).copied().flatten()?;
            Some((1, player.clone(), choice.as_str().into()))
        };
        return Some([&game.a, &game.b].into_iter().filter_map(choice).collect());
    }
    let turns = (1..).zip(details.turn_log.as_ref()?);
    let moves = turns.flat_map(|(turn, moves)| {
        moves
            .iter()
            .map(move |(player, value)| (turn, player.clone(), value.clone()))
    });
    Some(moves.collect())
}

fn notes(logs: &LogSet) -> Notes<'_> {
    let mut notes = Notes::new();
    for log in &logs.players {
        for entry in &log.entries {
            if let PlayerEvent::Chosen {
                match_id,
                choice,
                fallback,
                attempt,
                turn,
                usage,
                ..
            } = &entry.event
            {
                let of_match = notes
                    .entry((log.id().to_owned(), match_id, *attempt))
                    .or_default();
                of_match.push(Note {
                    turn: *turn,
                    value: &choice.value,
                    fallback: fallback.as_deref(),
                    usage: *usage,
                });
            }
        }
    }
    notes
}

/// What a question says of itself, in whichever wrapping it was sent.
#[derive(Debug, Deserialize)]
struct QuestionFields {
    player_id: Option<String>,
    turn: Option<u32>,
    params: Option<Box<Self>>,
    arguments: Option<Box<Self>>,
}

impl QuestionFields {
    fn innermost(self) -> Self {
        match self.params.or(self.arguments) {
            Some(inner) => inner.innermost(),
            None => Self {
                params: None,
                arguments: None,
                ..self
            },
        }
    }
}

/// How long each answer took that came, by player and turn, in milliseconds. Of a question that was repeated, the last time.
fn answer_times(
    exchanges: &[Exchange],
    match_id: &MatchId,
    attempt: Attempt,
) -> BTreeMap<(String, u32), f64> {
    let asked = exchanges.iter().filter(|exchange| {
        exchange.direction == Direction::Out
            && matches!(
                exchange.message_type.raw(),
                "CHOOSE_PARITY_CALL" | "GAME_MOVE_CALL"
            )
            && exchange.conversation_id.attempt_of(match_id) == Some(attempt)
            && exchange.answer.is_some()
    });
    let times = asked.filter_map(|exchange| {
        let asked = serde_json::from_str::<QuestionFields>(&exchange.request)
            .ok()?
            .innermost();
        let took = exchange.done_at?.since(exchange.at).as_secs_f64() * 1e3;
        Some(((asked.player_id?, asked.turn.unwrap_or(1)), rounded(took)))
    });
    times.collect()
}
