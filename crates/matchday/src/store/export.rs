//! A stored league as files for other programs: every event, the matches and the table for a spreadsheet, and a record
//! of each match. Touches the directory it is told to make, and nothing else.
//!
//! Whatever would let its reader act in an agent's name is blanked: tokens, the hashes they are derived from, and the
//! secrets of draws to come. Such an event is marked, for its hash is that of the event as it is stored.

use super::error::StoreError;
use super::history::History;
use super::{Exchange, Reader, Stored, Stream, words};
use matchday_core::league::DecidedBy;
use matchday_core::league::fixture::{Decision, Match};
use matchday_core::protocol::messages::{GameDetails, StandingRow};
use matchday_core::protocol::{MatchId, PlayerId, RefereeId};
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Exported {
    pub events: u64,
    pub matches: u64,
}

/// Writes everything into a directory, which must be new or empty.
pub fn export(reader: &Reader, dir: &Path) -> Result<Exported, StoreError> {
    let history = History::load(reader)?;
    let failed = |error| StoreError::io(dir, error);
    if fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some()) {
        return Err(StoreError::NotEmpty(dir.to_owned()));
    }
    fs::create_dir_all(dir.join("matches")).map_err(failed)?;
    let mut events = 0;
    let mut file = create(&dir.join("events.jsonl")).map_err(failed)?;
    for stream in reader.streams()? {
        for stored in reader.load(&stream)? {
            writeln!(file, "{}", event(&stream, &stored)).map_err(failed)?;
            events += 1;
        }
    }
    file.flush().map_err(failed)?;
    write_csv(&dir.join("matches.csv"), matches(&history)).map_err(failed)?;
    write_csv(&dir.join("standings.csv"), standings(&history)).map_err(failed)?;
    for (match_id, game) in &history.league.matches {
        let record = record(&history, match_id, game, &reader.exchanges_of(match_id)?);
        let mut file = create(&dir.join("matches").join(format!("{match_id}.json"))).map_err(failed)?;
        serde_json::to_writer_pretty(&mut file, &record).map_err(|error| failed(error.into()))?;
        writeln!(file).and_then(|()| file.flush()).map_err(failed)?;
    }
    Ok(Exported { events, matches: history.league.matches.len() as u64 })
}

fn create(path: &Path) -> io::Result<BufWriter<File>> {
    File::create_new(path).map(BufWriter::new)
}

fn event(stream: &Stream, stored: &Stored) -> Value {
    let mut line: Value = serde_json::from_str(&stored.line).unwrap_or_default();
    let mut event = line.get_mut("event").map(Value::take).unwrap_or_default();
    let redacted = redact(&mut event, false);
    let mut row = json!({
        "stream": stream.0,
        "seq": stored.seq,
        "at": stored.at.as_micros(),
        "time": words::of_time(stored.at),
        "hash": stored.hash.to_string(),
        "event": event,
    });
    if let (true, Some(row)) = (redacted, row.as_object_mut()) {
        row.insert("redacted".into(), true.into());
    }
    row
}

const BLANK: &str = "(left out)";

/// The fields that hold tokens, or what tokens are derived from.
const TOKENS: &[&str] = &["token", "auth_token", "operator_token", "registration_key", "shows", "expects"];

/// Blanks what is secret; says whether there was anything. The secret of a draw is one only in an assignment: once
/// revealed with a result, it is the proof.
fn redact(value: &mut Value, assignment: bool) -> bool {
    let mut any = false;
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if (TOKENS.contains(&key.as_str()) || assignment && key == "secret") && !value.is_null() {
                    *value = BLANK.into();
                    any = true;
                } else {
                    any |= redact(value, key == "assignment");
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| any |= redact(value, false)),
        _ => {}
    }
    any
}

fn write_csv<R: Serialize>(path: &Path, rows: impl Iterator<Item = R>) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(create(path)?);
    for row in rows {
        csv.serialize(row)?;
    }
    csv.flush()
}

#[derive(Serialize)]
struct MatchRow<'a> {
    match_id: &'a str,
    round: u32,
    player_a: &'a str,
    player_b: &'a str,
    status: String,
    winner: Option<&'a str>,
    score_a: Option<u32>,
    score_b: Option<u32>,
    choice_a: Option<&'static str>,
    choice_b: Option<&'static str>,
    drawn_number: Option<u8>,
    draw: Option<String>,
    answer_ms_a: Option<u32>,
    answer_ms_b: Option<u32>,
    decided_by: Option<&'a str>,
    attempts: usize,
    decided_at: Option<String>,
    reason: Option<&'a str>,
}

fn decider(decision: &Decision) -> &str {
    match &decision.by {
        DecidedBy::Referee(referee) => RefereeId::as_str(referee),
        DecidedBy::Manager => "manager",
    }
}

fn matches(history: &History) -> impl Iterator<Item = MatchRow<'_>> {
    let rounds = history.league.rounds.iter();
    let in_order = rounds.flat_map(|round| history.league.matches_of(round));
    in_order.map(|(match_id, game)| {
        let decision = game.decision.as_ref();
        let result = decision.map(|decision| &decision.result);
        let parity = result.and_then(|result| match &result.details.game {
            GameDetails::Parity(details) => Some(details),
            GameDetails::Other(_) => None,
        });
        let score = |player| result?.score.get(player).copied();
        let choice = |player| parity?.choices.get(player).copied().flatten().map(|parity| parity.as_str());
        let answer_ms = |player| result?.details.answer_ms.as_ref()?.get(player).copied().flatten();
        let (a, b) = (&game.a, &game.b);
        MatchRow {
            match_id: match_id.as_str(),
            round: game.round_id.0,
            player_a: a.as_str(),
            player_b: b.as_str(),
            status: decision.map_or_else(|| "OPEN".into(), |decision| name_of(&decision.status)),
            winner: result.and_then(|result| result.winner.as_ref()).map(PlayerId::as_str),
            score_a: score(a),
            score_b: score(b),
            choice_a: choice(a),
            choice_b: choice(b),
            drawn_number: parity.and_then(|details| details.drawn_number),
            draw: history.proof(match_id),
            answer_ms_a: answer_ms(a),
            answer_ms_b: answer_ms(b),
            decided_by: decision.map(decider),
            attempts: game.attempts.len(),
            decided_at: decision.map(|decision| words::of_time(decision.at)),
            reason: result.and_then(|result| result.reason.as_deref()),
        }
    })
}

/// How a value calls itself on the wire.
fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn standings(history: &History) -> impl Iterator<Item = StandingRow> {
    history.league.rows().to_vec().into_iter().map(|mut row| {
        // A row has all its columns, also where there is nothing to say.
        row.rank_reason.get_or_insert_default();
        row
    })
}

fn record(history: &History, match_id: &MatchId, game: &Match, exchanges: &[Exchange]) -> Value {
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
        "match_id": match_id,
        "league_id": history.league.settings.league_id,
        "game_type": history.league.settings.game_type,
        "round_id": game.round_id,
        "player_a": game.a,
        "player_b": game.b,
        "referees": game.attempts,
        "lifecycle": lifecycle,
        "transcript": exchanges,
        "status": game.decision.as_ref().map(|decision| decision.status),
        "decided_by": game.decision.as_ref().map(decider),
        "draw": history.proof(match_id),
        "result": game.decision.as_ref().map(|decision| &decision.result),
    })
}
