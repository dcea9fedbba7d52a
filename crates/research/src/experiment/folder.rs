//! The folder of an experiment's results. `matches.csv` is its log: rows are appended in the order of the plan, and after a
//! crash what follows the last whole repetition is cut off, to be played again. A row that was changed is found.

use super::plan::{Cell, Plan, format_name};
use super::results::{Fold, Results};
use crate::match_row::{Check, HEADER, Row, RowSource};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long rows may wait in memory: what a crash costs.
const FLUSH_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    matches: File,
    waiting: String,
    /// Of the last row.
    check: Check,
    /// The first rows are written at once, so that a run that is killed again and again gets on.
    flushed: Option<Instant>,
}

/// Which experiment a folder belongs to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    version: String,
    plan: String,
}

impl Folder {
    /// Opens or creates it, and folds what was played before. Fails if it belongs to another plan or version, or is in use.
    pub fn open<'a>(path: &Path, plan: &'a Plan) -> Result<(Self, Fold<'a>)> {
        let in_folder = || format!("{} cannot be used", path.display());
        fs::create_dir_all(path).with_context(in_folder)?;
        let mut options = OpenOptions::new();
        let matches = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path.join("matches.csv"));
        let mut matches = matches.with_context(in_folder)?;
        match matches.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{} is in use by another experiment", path.display())
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(in_folder),
        }
        identify(path, plan)?;
        let mut fold = Fold::new(plan);
        let (whole, check) = read_back(&matches, plan, &mut fold).with_context(in_folder)?;
        matches
            .set_len(whole)
            .and_then(|()| matches.seek(SeekFrom::End(0)))
            .with_context(in_folder)?;
        let waiting = if whole == 0 {
            format!("{HEADER}\n")
        } else {
            String::new()
        };
        Ok((
            Self {
                path: path.to_owned(),
                matches,
                waiting,
                check,
                flushed: None,
            },
            fold,
        ))
    }

    pub(super) fn append(&mut self, cell: &Cell<'_>, names: &[String], rows: &[Row]) -> Result<()> {
        let source = source(cell, names);
        for row in rows {
            let (line, check) = row.write(source, self.check);
            self.waiting.push_str(&line);
            self.check = check;
        }
        let due = self
            .flushed
            .is_none_or(|flushed| flushed.elapsed() >= FLUSH_INTERVAL);
        if due { self.flush() } else { Ok(()) }
    }

    pub fn flush(&mut self) -> Result<()> {
        let written = self.matches.write_all(self.waiting.as_bytes());
        written.with_context(|| {
            format!(
                "{} cannot be written",
                self.path.join("matches.csv").display()
            )
        })?;
        self.waiting.clear();
        self.flushed = Some(Instant::now());
        Ok(())
    }

    pub fn finish(mut self, results: &Results, page: &str) -> Result<()> {
        self.flush()?;
        self.matches.sync_all()?;
        replace(
            &self.path.join("results.json"),
            &(serde_json::to_string_pretty(results)? + "\n"),
        )?;
        replace(&self.path.join("report.html"), page)?;
        for (name, text) in results.players.iter().flat_map(|players| players.files()) {
            replace(&self.path.join(name), &text)?;
        }
        Ok(())
    }

    /// Publishes the turns of models.
    pub fn finish_replies(&self, text: &str) -> Result<()> {
        replace(&self.path.join("replies.jsonl"), text)
    }
}

/// Writes a file as a whole: after a crash it is the old one or the new one.
fn replace(path: &Path, text: &str) -> Result<()> {
    let partial = path.with_extension("partial");
    let write = || {
        let mut file = File::create(&partial)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, path)
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}

fn identify(path: &Path, plan: &Plan) -> Result<()> {
    let file = path.join("experiment.json");
    let own = Identity {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        plan: plan.text.clone(),
    };
    let Ok(text) = fs::read_to_string(&file) else {
        return replace(&file, &(serde_json::to_string_pretty(&own)? + "\n"));
    };
    let known: Identity = serde_json::from_str(&text).with_context(|| {
        format!(
            "{} was not written by Matchday; choose another --out",
            file.display()
        )
    })?;
    if known.version != own.version {
        bail!(
            "{} was begun by matchday {}, and this is {}: results could differ. Finish it with that version, or choose \
             another --out",
            path.display(),
            known.version,
            own.version
        );
    }
    if known.plan != own.plan {
        bail!(
            "{} holds results of another plan (its experiment.json has it). Choose another --out, or delete the folder",
            path.display()
        );
    }
    Ok(())
}

fn source<'a>(cell: &Cell<'a>, names: &'a [String]) -> RowSource<'a> {
    RowSource {
        game: cell.tournament.game.name,
        format: format_name(cell.competition),
        seed: cell.seed,
        names,
    }
}

/// Folds all repetitions but the last, which may not be whole. Returns how many bytes hold them, 0 without a header, and the
/// check of their last row.
fn read_back(file: &File, plan: &Plan, fold: &mut Fold<'_>) -> Result<(u64, Check)> {
    let cells = plan.cells().into_iter();
    let cells: Vec<(Cell<'_>, Vec<String>)> =
        cells.map(|cell| (cell, cell.tournament.names())).collect();
    let cells = cells.iter().map(|(cell, names)| source(cell, names));
    let cells: Vec<RowSource<'_>> = cells.collect();
    let mut lines = BufReader::new(file);
    let mut next = || -> Result<(usize, Option<String>)> {
        let mut bytes = Vec::new();
        let length = lines.read_until(b'\n', &mut bytes)?;
        let line = bytes.strip_suffix(b"\n");
        // A line without an end was being written when the run was killed: it is cut off.
        let line = line.map(|line| String::from_utf8_lossy(line).into_owned());
        Ok((length, line))
    };
    let (mut read, header) = next()?;
    let Some(header) = header else {
        return Ok((0, Check::FIRST));
    };
    if header != HEADER {
        bail!("matches.csv, line 1: these are not the columns of this version");
    }
    let mut whole = (read as u64, Check::FIRST);
    let mut check = Check::FIRST;
    let mut rows: Vec<Row> = Vec::new();
    for number in 2_u64.. {
        let (length, line) = next()?;
        let Some(line) = line else { break };
        let from = rows.last().map_or(0, |row| row.cell);
        let Some((row, own)) = Row::read(&line, &cells, from, check) else {
            bail!(
                "matches.csv, line {number}: it was changed after it was written, or one before it is missing. Put back the \
                 file, or delete the folder to play it all again"
            );
        };
        if let Some(before) = rows
            .last()
            .filter(|before| (before.cell, before.repetition) != (row.cell, row.repetition))
        {
            fold.repetition(before.cell, &rows);
            whole = (read as u64, check);
            rows.clear();
        }
        check = own;
        read += length;
        rows.push(row);
    }
    Ok(whole)
}
