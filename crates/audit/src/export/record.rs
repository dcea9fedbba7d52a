//! All about one match, as data: what became of it, what its agents wrote down, what was said, how it ended. Pure, but for
//! reading the exchanges.

use super::rows::decider;
use crate::agent_log::{AgentEvent, AgentLog};
use crate::describe::{self, status_of};
use crate::log_set::LogSet;
use crate::timeline::decided;
use crate::verify::draw_proof;
use crate::verify::result::{self, Played};
use matchday_core::protocol::MatchId;
use matchday_store::error::StoreError;
use matchday_store::redact::redact_event;
use serde_json::{Value, json};

/// The record of a match. What only the manager knows is null if its store is not at hand.
pub fn record(logs: &LogSet, match_id: &MatchId) -> Result<Value, StoreError> {
    let mut record = match &logs.league {
        Some(_) => by_manager(logs, match_id),
        None => by_referee(logs, match_id),
    };
    let referees = logs.referees.iter().flat_map(|log| notes(log, match_id));
    let players = logs.players.iter().flat_map(|log| notes(log, match_id));
    let mut notes: Vec<Value> = referees.chain(players).collect();
    notes.sort_by_key(|entry| entry.get("at").and_then(Value::as_i64));
    let transcript = serde_json::to_value(logs.exchanges_of(match_id)?).unwrap_or_default();
    if let Some(fields) = record.as_object_mut() {
        fields.insert("match_id".into(), match_id.as_str().into());
        fields.insert("notes".into(), notes.into());
        fields.insert("transcript".into(), transcript);
    }
    Ok(record)
}

fn by_manager(logs: &LogSet, match_id: &MatchId) -> Value {
    let Some(league_log) = &logs.league else {
        return json!({});
    };
    let Some(game) = league_log.league.matches.get(match_id) else {
        return json!({});
    };
    let decision = game.decision.as_ref();
    let lifecycle: Vec<Value> = league_log
        .of_match(match_id)
        .map(|entry| {
            json!({
                "seq": entry.seq,
                "at": entry.at.as_micros(),
                "time": describe::time(entry.at),
                "event": entry.event,
            })
        })
        .collect();
    json!({
        "league_id": league_log.league.settings.league_id,
        "game_type": league_log.league.settings.game_type,
        "round_id": game.round_id,
        "player_a": game.a,
        "player_b": game.b,
        "referees": game.attempts,
        "lifecycle": lifecycle,
        "status": decision.map(|decision| decision.status),
        "decided_by": decision.map(decider),
        "draw": draw_proof(&league_log.league, match_id),
        "result": decision.map(|decision| &decision.result),
    })
}

fn by_referee(logs: &LogSet, match_id: &MatchId) -> Value {
    let mut decisions = logs
        .referees
        .iter()
        .filter_map(|log| Some((log, decided(log, match_id)?)));
    let Some((log, (assignment, result))) = decisions.next_back() else {
        return json!({"lifecycle": null, "status": null, "decided_by": null, "draw": null, "result": null});
    };
    let [a, b] = assignment.player_ids();
    json!({
        "league_id": assignment.league_id,
        "game_type": assignment.game_type,
        "round_id": assignment.round_id,
        "player_a": a,
        "player_b": b,
        "referees": [log.id()],
        "lifecycle": null,
        "status": status_of(result),
        "decided_by": log.id(),
        "draw": result::proof(&Played::as_assigned(assignment), status_of(result), result),
        "result": result,
    })
}

/// What an agent wrote down of a match, without its secrets.
fn notes<'a, E: AgentEvent>(
    log: &'a AgentLog<E>,
    match_id: &'a MatchId,
) -> impl Iterator<Item = Value> {
    log.of_match(match_id).map(|entry| {
        let mut event = serde_json::to_value(&entry.event).unwrap_or_default();
        redact_event(&mut event);
        json!({
            "agent": log.id(),
            "seq": entry.seq,
            "at": entry.at.as_micros(),
            "time": describe::time(entry.at),
            "event": event,
        })
    })
}
