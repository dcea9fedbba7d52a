//! `replies.jsonl`: every turn of a model, with what it was told and what it said. It is appended to as turns end, so that after
//! a crash no model is asked twice; in the end its lines are in the order of play.

use super::plan::{Plan, format_name};
use anyhow::{Context, Result, bail};
use matchday_core::agent::Usage;
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
    names: Names,
    /// Whether nothing can be added: a tournament is played again from its record.
    closed: bool,
    log: Mutex<Log>,
}

#[derive(Debug)]
struct Log {
    file: Option<File>,
    turns: BTreeMap<Key, TurnRecord>,
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

/// The names that stand for the numbers of a key.
#[derive(Debug)]
struct Names {
    /// Game, format and seed of each cell, and its entrants with their models.
    cells: Vec<(String, String, u64, Vec<(String, String)>)>,
}

impl Names {
    fn of(plan: &Plan) -> Self {
        let cells = plan.cells().into_iter().map(|cell| {
            let models = &cell.tournament.entrants.models;
            let names = cell.tournament.names().into_iter().enumerate();
            let names = names.map(|(place, name)| {
                let model = models.iter().find(|(of, _)| *of == place);
                (
                    name,
                    model.map_or_else(String::new, |(_, player)| player.model.clone()),
                )
            });
            (
                cell.tournament.game.name.to_owned(),
                format_name(cell.competition).to_owned(),
                cell.seed,
                names.collect(),
            )
        });
        Self {
            cells: cells.collect(),
        }
    }

    fn line(&self, key: Key, record: &TurnRecord) -> Option<Line> {
        let (game, format, seed, names) = self.cells.get(key.cell)?;
        let (player, model) = names.get(key.player)?.clone();
        Some(Line {
            game: game.clone(),
            format: format.clone(),
            seed: *seed,
            repetition: key.repetition + 1,
            number: key.number,
            attempt: key.attempt,
            turn: key.turn,
            player,
            model,
            record: record.clone(),
        })
    }

    fn key(&self, line: &Line) -> Option<Key> {
        let cell = self.cells.iter().position(|(game, format, seed, _)| {
            (game, format, seed) == (&line.game, &line.format, &line.seed)
        })?;
        let (.., names) = self.cells.get(cell)?;
        Some(Key {
            cell,
            repetition: line.repetition.checked_sub(1)?,
            number: line.number,
            attempt: line.attempt,
            turn: line.turn,
            player: names.iter().position(|(name, _)| *name == line.player)?,
        })
    }
}

impl Replies {
    /// Reads what was recorded in the folder before; or, with `from`, in another one, and then nothing is added.
    pub fn open(folder: &Path, plan: &Plan, from: Option<&Path>) -> Result<Self> {
        let path = folder.join(FILE);
        let names = Names::of(plan);
        let read = from.map_or_else(|| path.clone(), |from| file_of(from));
        let (turns, whole) = match fs::read(&read) {
            Ok(bytes) => read_turns(&bytes, &names).with_context(|| read.display().to_string())?,
            Err(error) if from.is_some() => {
                return Err(error).with_context(|| format!("{} cannot be read", read.display()));
            }
            Err(_) => Default::default(),
        };
        let file = if from.is_some() || plan.models.is_empty() {
            None
        } else {
            let mut options = OpenOptions::new();
            let file = options.create(true).append(true).open(&path);
            let file = file.with_context(|| format!("{} cannot be written", path.display()))?;
            // A torn line is cut off.
            file.set_len(whole)?;
            Some(file)
        };
        let replies = Self {
            path,
            names,
            closed: from.is_some(),
            log: Mutex::new(Log { file, turns }),
        };
        if from.is_none() {
            replies.count_used(plan);
        }
        Ok(replies)
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Budgets hold for the experiment, however often it is started.
    fn count_used(&self, plan: &Plan) {
        let cells = plan.cells();
        for (key, record) in &self.log().turns {
            let models = cells.get(key.cell).map(|cell| &cell.tournament.entrants.models);
            let player = models.and_then(|models| {
                models
                    .iter()
                    .find(|(place, _)| *place == key.player)
                    .map(|(_, player)| player)
            });
            for (player, call) in player.iter().flat_map(|player| {
                record.calls.iter().map(move |call| (player, call))
            }) {
                player.provider.budget.count(Usage {
                    calls: 1,
                    input_tokens: call.input_tokens,
                    output_tokens: call.output_tokens,
                    cost_micros: call.cost_micros,
                });
            }
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn find(&self, key: Key) -> Option<TurnRecord> {
        self.log().turns.get(&key).cloned()
    }

    pub(super) fn append(&self, key: Key, record: &TurnRecord) -> Result<(), String> {
        let line = self.names.line(key, record);
        let line = line.and_then(|line| serde_json::to_string(&line).ok());
        let mut log = self.log();
        let written = match (&mut log.file, line) {
            (Some(file), Some(line)) => file.write_all(format!("{line}\n").as_bytes()),
            _ => Ok(()),
        };
        log.turns.insert(key, record.clone());
        written.map_err(|error| format!("{} cannot be written: {error}", self.path.display()))
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
            if let Some(line) = self.names.line(*key, record) {
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
fn read_turns(bytes: &[u8], names: &Names) -> Result<(BTreeMap<Key, TurnRecord>, u64)> {
    let mut turns = BTreeMap::new();
    let mut whole = 0;
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let Some(text) = line.strip_suffix(b"\n") else {
            break;
        };
        let line_read: Line =
            serde_json::from_slice(text).with_context(|| format!("line {number} is no turn"))?;
        let Some(key) = names.key(&line_read) else {
            bail!("line {number} is of another plan");
        };
        turns.insert(key, line_read.record);
        whole += line.len() as u64;
    }
    Ok((turns, whole))
}
