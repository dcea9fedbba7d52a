//! A table of all matches of a simulation, in the columns of an experiment's `matches.csv`. Writes a file.

use crate::match_row::{Check, DUELS, HEADER, Row, RowSource};
use matchday_core::league::format::Format;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Rows are written as matches end, so that a table may be larger than memory.
#[derive(Debug)]
pub struct MatchTable {
    file: BufWriter<File>,
    check: Check,
    game: &'static str,
    format: &'static str,
    seed: u64,
    /// Of the entrants.
    names: Vec<String>,
    failed: Option<io::Error>,
}

impl MatchTable {
    /// Replaces the file. `format` is that of the leagues, if leagues are played.
    pub fn create(
        path: &Path,
        game: &'static str,
        format: Option<Format>,
        seed: u64,
        names: Vec<String>,
    ) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "{HEADER}")?;
        Ok(Self {
            file,
            check: Check::FIRST,
            game,
            format: format.map_or(DUELS, |format| format.name()),
            seed,
            names,
            failed: None,
        })
    }

    /// Whether all could be written so far.
    pub fn append(&mut self, rows: &[Row]) -> bool {
        let source = RowSource {
            game: self.game,
            format: self.format,
            seed: self.seed,
            names: &self.names,
        };
        for row in rows {
            let (line, check) = row.write(source, self.check);
            if let Err(error) = self.file.write_all(line.as_bytes()) {
                self.failed.get_or_insert(error);
                return false;
            }
            self.check = check;
        }
        true
    }

    /// Fails if anything could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.file.flush(),
        }
    }
}
