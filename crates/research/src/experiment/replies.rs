//! `replies.jsonl`: every turn of a model, with what it was told and what it said. It is appended to as turns end, so that after
//! a crash no model is asked twice; in the end its lines are in the order of play.

use anyhow::{Context, Result, bail};
use matchday_runtime::decider::FailureKind;
use matchday_runtime::deciders::llm::LlmCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const FILE: &str = "replies.jsonl";

#[derive(Debug)]
pub struct Replies {
    path: PathBuf,
    cells: Vec<Names>,
    /// Whether nothing can be added: a tournament is played again from its record.
    closed: bool,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    file: Option<File>,
    turns: BTreeMap<Key, TurnRecord>,
    /// Turns that came to no end: they are asked again.
    unfinished: Vec<(Key, TurnRecord)>,
}

/// Which turn of the experiment it is, in the order of play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) cell: usize,
    /// Counted from 0.
    pub(super) repetition: u64,
    /// Of the match, counted from 1 within the repetition.
    pub(super) number: u32,
    pub(super) attempt: u32,
    pub(super) turn: u32,
    /// Among the entrants.
    pub(super) player: usize,
}

/// What came of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TurnRecord {
    #[serde(rename = "move")]
    pub(super) made: Option<Value>,
    /// Why there is no move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<FailureKind>,
    pub(super) calls: Vec<LlmCall>,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    game: String,
    format: String,
    seed: u64,
    repetition: u64,
    #[serde(rename = "match")]
    number: u32,
    attempt: u32,
    turn: u32,
    player: String,
    /// As the plan names it.
    model: String,
    #[serde(flatten)]
    record: TurnRecord,
}

/// The names of a cell, for which a key has numbers.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) game: &'static str,
    pub(super) format: &'static str,
    pub(super) seed: u64,
    /// With their models.
    pub(super) players: Vec<(String, String)>,
}

impl Key {
    fn line(self, cells: &[Names], record: &TurnRecord) -> Option<Line> {
        let names = cells.get(self.cell)?;
        let (player, model) = names.players.get(self.player)?.clone();
        Some(Line {
            game: names.game.to_owned(),
            format: names.format.to_owned(),
            seed: names.seed,
            repetition: self.repetition + 1,
            number: self.number,
            attempt: self.attempt,
            turn: self.turn,
            player,
            model,
            record: record.clone(),
        })
    }

    fn of(line: &Line, cells: &[Names]) -> Option<Self> {
        let cell = cells.iter().position(|names| {
            (names.game, names.format, names.seed) == (&*line.game, &*line.format, line.seed)
        })?;
        let players = &cells.get(cell)?.players;
        Some(Self {
            cell,
            repetition: line.repetition.checked_sub(1)?,
            number: line.number,
            attempt: line.attempt,
            turn: line.turn,
            player: players.iter().position(|(name, _)| *name == line.player)?,
        })
    }
}

impl Log {
    fn add(&mut self, key: Key, record: TurnRecord) {
        if record.failure == Some(FailureKind::NotAsked) {
            self.unfinished.push((key, record));
        } else {
            self.turns.insert(key, record);
        }
    }
}

impl Replies {
    /// Reads what was recorded in the folder before; or, with `from`, in another one, and then nothing is added. `writes` is
    /// whether models play at all.
    pub(super) fn open(
        folder: &Path,
        cells: Vec<Names>,
        writes: bool,
        from: Option<&Path>,
    ) -> Result<Self> {
        let path = folder.join(FILE);
        let read = from.map_or_else(|| path.clone(), file_of);
        let (log, whole) = match fs::read(&read) {
            Ok(bytes) => read_turns(&bytes, &cells).with_context(|| read.display().to_string())?,
            Err(error) if from.is_some() => {
                return Err(error).with_context(|| format!("{} cannot be read", read.display()));
            }
            Err(_) => Default::default(),
        };
        let file = if writes && from.is_none() {
            let mut options = OpenOptions::new();
            let file = options.create(true).append(true).open(&path);
            let file = file.with_context(|| format!("{} cannot be written", path.display()))?;
            // A torn line is cut off.
            file.set_len(whole)?;
            Some(file)
        } else {
            None
        };
        Ok(Self {
            path,
            cells,
            closed: from.is_some(),
            log: Mutex::new(Log { file, ..log }),
        })
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn find(&self, key: Key) -> Option<TurnRecord> {
        self.log().turns.get(&key).cloned()
    }

    pub(super) fn append(&self, key: Key, record: &TurnRecord) -> Result<(), String> {
        let line = key.line(&self.cells, record);
        let line = line.and_then(|line| serde_json::to_string(&line).ok());
        let mut log = self.log();
        let written = match (&mut log.file, line) {
            (Some(file), Some(line)) => file.write_all(format!("{line}\n").as_bytes()),
            _ => Ok(()),
        };
        log.add(key, record.clone());
        written.map_err(|error| format!("{} cannot be written: {error}", self.path.display()))
    }

    /// Every turn for which calls were made.
    pub(super) fn all(&self) -> Vec<(Key, TurnRecord)> {
        let mut all = self.of_played(|_| true);
        all.extend(self.log().unfinished.iter().cloned());
        all
    }

    /// The turns of the matches that were played, in the order of play.
    pub(super) fn of_played(&self, played: impl Fn(Key) -> bool) -> Vec<(Key, TurnRecord)> {
        let log = self.log();
        let turns = log.turns.iter().filter(|(key, _)| played(**key));
        turns.map(|(key, record)| (*key, record.clone())).collect()
    }

    /// The file as it is published.
    pub(super) fn text(&self, turns: &[(Key, TurnRecord)]) -> Result<String> {
        let mut text = String::new();
        for (key, record) in turns {
            if let Some(line) = key.line(&self.cells, record) {
                text.push_str(&serde_json::to_string(&line)?);
                text.push('\n');
            }
        }
        Ok(text)
    }
}

/// The file may be named, or the folder that it is in.
fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join(FILE)
    } else {
        path.to_owned()
    }
}

/// Returns how many bytes hold whole lines, too.
fn read_turns(bytes: &[u8], cells: &[Names]) -> Result<(Log, u64)> {
    let mut log = Log::default();
    let mut whole = 0;
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let Some(text) = line.strip_suffix(b"\n") else {
            break;
        };
        let line_read: Line =
            serde_json::from_slice(text).with_context(|| format!("line {number} is no turn"))?;
        let Some(key) = Key::of(&line_read, cells) else {
            bail!("line {number} is of another plan");
        };
        log.add(key, line_read.record);
        whole += line.len() as u64;
    }
    Ok((log, whole))
}
