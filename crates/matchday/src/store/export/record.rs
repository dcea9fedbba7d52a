//! All about one match, as data: what became of it, what its agents wrote down, what was said, how it ended. Pure, but for
//! reading the exchanges.

use super::redact::redact;
use super::rows::decider;
use crate::store::chronicle::Chronicle;
use crate::store::diary::{Diary, Own};
use crate::store::error::StoreError;
use crate::store::timeline::decided;
use crate::store::verify::result::{self, Played};
use crate::store::words::{self, status_of};
use matchday_core::protocol::MatchId;
use serde_json::{Value, json};

/// The record of a match. What only the manager knows is null if its store is not at hand.
pub fn record(chronicle: &Chronicle, match_id: &MatchId) -> Result<Value, StoreError> {
    let mut record = match &chronicle.league {
        Some(_) => by_manager(chronicle, match_id),
        None => by_referee(chronicle, match_id),
    };
    let referees = chronicle.referees.iter().flat_map(|diary| notes(diary, match_id));
    let players = chronicle.players.iter().flat_map(|diary| notes(diary, match_id));
    let mut notes: Vec<Value> = referees.chain(players).collect();
    notes.sort_by_key(|note| note.get("at").and_then(Value::as_i64));
    let transcript = serde_json::to_value(chronicle.exchanges_of(match_id)?).unwrap_or_default();
    if let Some(fields) = record.as_object_mut() {
        fields.insert("match_id".into(), match_id.as_str().into());
        fields.insert("notes".into(), notes.into());
        fields.insert("transcript".into(), transcript);
    }
    Ok(record)
}

fn by_manager(chronicle: &Chronicle, match_id: &MatchId) -> Value {
    let Some(history) = &chronicle.league else { return json!({}) };
    let Some(game) = history.league.matches.get(match_id) else { return json!({}) };
    let decision = game.decision.as_ref();
    let lifecycle: Vec<Value> = history
        .of_match(match_id)
        .map(|entry| {
            json!({
                "seq": entry.seq,
                "at": entry.at.as_micros(),
                "time": words::of_time(entry.at),
                "event": entry.event,
            })
        })
        .collect();
    json!({
        "league_id": history.league.settings.league_id,
        "game_type": history.league.settings.game_type,
        "round_id": game.round_id,
        "player_a": game.a,
        "player_b": game.b,
        "referees": game.attempts,
        "lifecycle": lifecycle,
        "status": decision.map(|decision| decision.status),
        "decided_by": decision.map(decider),
        "draw": history.proof(match_id),
        "result": decision.map(|decision| &decision.result),
    })
}

fn by_referee(chronicle: &Chronicle, match_id: &MatchId) -> Value {
    let mut decisions =
        chronicle.referees.iter().filter_map(|diary| Some((diary, decided(diary, match_id)?)));
    let Some((diary, (assignment, result))) = decisions.next_back() else {
        return json!({"lifecycle": null, "status": null, "decided_by": null, "draw": null, "result": null});
    };
    let [a, b] = assignment.player_ids();
    json!({
        "league_id": assignment.league_id,
        "game_type": assignment.game_type,
        "round_id": assignment.round_id,
        "player_a": a,
        "player_b": b,
        "referees": [diary.id()],
        "lifecycle": null,
        "status": status_of(result),
        "decided_by": diary.id(),
        "draw": result::proof(&Played::as_assigned(assignment), status_of(result), result),
        "result": result,
    })
}

/// What an agent wrote down of a match, without its secrets.
fn notes<'a, E: Own>(diary: &'a Diary<E>, match_id: &'a MatchId) -> impl Iterator<Item = Value> {
    diary.of_match(match_id).map(|note| {
        let mut event = serde_json::to_value(&note.event).unwrap_or_default();
        redact(&mut event, false);
        json!({
            "agent": diary.id(),
            "seq": note.seq,
            "at": note.at.as_micros(),
            "time": words::of_time(note.at),
            "event": event,
        })
    })
}
