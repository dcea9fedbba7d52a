//! What stores hold as files for other programs: tables for analysis, every event, and a record of each match. Touches the
//! directory it is told to make, and nothing else.
//!
//! # Layout
//! - [`columns`]: the tables and their columns; `rows`, `moves`, `model_calls`: what is in them; `tables`: their files
//! - `record`: all about one match
//!
//! Whatever would let its reader act in an agent's name is blanked: tokens, the hashes they are derived from, and the
//! secrets of draws to come. Such an event is marked, for its hash is that of the event as it is stored.

pub mod columns;
mod model_calls;
mod moves;
mod record;
mod rows;
mod tables;

pub use record::record;
pub use tables::{Tables, export_tables};

use crate::describe;
use crate::log_set::LogSet;
use matchday_core::protocol::untrusted::escape_output;
use matchday_store::StoreUrl;
use matchday_store::batch::Stored;
use matchday_store::error::StoreError;
use matchday_store::redact::redact_event;
use matchday_store::stream::Stream;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tables::TableWriter;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Exported {
    pub events: u64,
    pub matches: u64,
    /// Whether the tables of a league are among it, which only the manager's store holds.
    pub league: bool,
}

/// Writes everything into a directory, which must be new or empty.
pub fn export(logs: &LogSet, dir: &Path) -> Result<Exported, StoreError> {
    let failed = |error| StoreError::io(dir, error);
    begin(dir)?;
    fs::create_dir_all(dir.join("matches")).map_err(failed)?;
    let events = write_events(logs, dir)?;
    if let Some(league_log) = &logs.league {
        let mut tables = TableWriter::begin(dir).map_err(failed)?;
        tables.add(league_log.league.settings.league_id.as_str(), logs)?;
        tables.finish()?;
    }
    let matches = logs.matches();
    for (number, match_id) in (1_u64..).zip(&matches) {
        let record = record(logs, match_id)?;
        let name = file_name(match_id.as_str(), number);
        let mut file = create(&dir.join("matches").join(name)).map_err(failed)?;
        let text = serde_json::to_string_pretty(&record).map_err(|error| failed(error.into()))?;
        writeln!(file, "{}", escape_output(&text))
            .and_then(|()| file.flush())
            .map_err(failed)?;
    }
    Ok(Exported {
        events,
        matches: matches.len() as u64,
        league: logs.league.is_some(),
    })
}

/// The directory must be new or empty.
fn begin(dir: &Path) -> Result<(), StoreError> {
    if fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some()) {
        return Err(StoreError::NotEmpty(dir.to_owned()));
    }
    fs::create_dir_all(dir).map_err(|error| StoreError::io(dir, error))
}

fn write_events(logs: &LogSet, dir: &Path) -> Result<u64, StoreError> {
    let failed = |error| StoreError::io(dir, error);
    let several = logs.readers().len() > 1;
    let mut events = 0;
    let mut file = create(&dir.join("events.jsonl")).map_err(failed)?;
    for reader in logs.readers() {
        // The streams of two machines may have the same name.
        let of_store = several.then(|| reader.url());
        for stream in reader.streams()? {
            for stored in reader.load(&stream)? {
                let line = event(of_store, &stream, &stored).to_string();
                writeln!(file, "{}", escape_output(&line)).map_err(failed)?;
                events += 1;
            }
        }
    }
    file.flush().map_err(failed)?;
    Ok(events)
}

/// A player's store may hold matches that a foreign manager has named in any way, also as a path to somewhere else.
fn file_name(match_id: &str, number: u64) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if match_id.chars().all(is_plain) && !match_id.is_empty() {
        return format!("{match_id}.json");
    }
    let plain: String = match_id
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .take(64)
        .collect();
    format!(
        "{}.{number}.json",
        if plain.is_empty() { "match" } else { &plain }
    )
}

fn create(path: &Path) -> io::Result<BufWriter<File>> {
    File::create_new(path).map(BufWriter::new)
}

fn event(store: Option<&StoreUrl>, stream: &Stream, stored: &Stored) -> Value {
    let mut line: Value = serde_json::from_str(&stored.line).unwrap_or_default();
    let mut event = line.get_mut("event").map(Value::take).unwrap_or_default();
    let redacted = redact_event(&mut event);
    let mut row = json!({
        "stream": stream.0,
        "seq": stored.seq,
        "at": stored.at.as_micros(),
        "time": describe::time(stored.at),
        "hash": stored.hash.to_string(),
        "event": event,
    });
    if let Some(row) = row.as_object_mut() {
        if let Some(store) = store {
            row.insert("file".into(), store.to_string().into());
        }
        if redacted {
            row.insert("redacted".into(), true.into());
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_match_with_any_name_becomes_a_file_in_its_folder() {
        assert_eq!(file_name("R1M1", 1), "R1M1.json");
        assert_eq!(file_name("../../etc/passwd", 2), "______etc_passwd.2.json");
        assert_eq!(file_name("", 3), "match.3.json");
    }
}
