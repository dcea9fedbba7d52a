//! A log file with rotation: when it is full it becomes FILE.1, the one before FILE.2, and the oldest is removed. Writes these
//! files.

use super::notice;
use super::settings::{self, Config};
use anyhow::{Result, anyhow};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How large the file may be before it is put aside, and how many that were put aside are kept.
pub(super) const BYTES_MAX: u64 = 100 << 20;
pub(super) const ROTATED_MAX: usize = 5;

/// What the log is written to, if it is a file.
pub(super) fn open(config: &Config) -> Result<Option<LogFile>> {
    let Some(path) = config.text(&settings::LOG_FILE) else { return Ok(None) };
    let opened = LogFile::open(path.into(), BYTES_MAX, ROTATED_MAX);
    let file = opened.map_err(|error| {
        anyhow!("cannot write the log to {path} ({error}) - name another file with --log-file")
    })?;
    Ok(Some(file))
}

#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    bytes_max: u64,
    rotated_max: usize,
    /// Whether a warning has been printed that lines are lost.
    warned: bool,
}

impl LogFile {
    fn open(path: PathBuf, bytes_max: u64, rotated_max: usize) -> io::Result<Self> {
        let file = append_to(&path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path, file, bytes, bytes_max, rotated_max, warned: false })
    }

    /// One line more. What cannot be written is lost, and the league goes on.
    pub(super) fn write(&mut self, line: &str) {
        match self.try_write(line) {
            Ok(()) => self.warned = false,
            Err(error) if !self.warned => {
                self.warned = true;
                notice(&format!(
                    "the log {} cannot be written, and lines are lost: {error}",
                    self.path.display()
                ));
            }
            Err(_) => {}
        }
    }

    fn try_write(&mut self, line: &str) -> io::Result<()> {
        let line = format!("{line}\n");
        let more = line.len() as u64;
        if self.bytes > 0 && self.bytes.saturating_add(more) > self.bytes_max {
            self.rotate()?;
        }
        self.file.write_all(line.as_bytes())?;
        self.bytes += more;
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        let aside = |number: usize| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        for number in (1..self.rotated_max).rev() {
            move_if_there(&aside(number), &aside(number + 1))?;
        }
        move_if_there(&self.path, &aside(1))?;
        self.file = append_to(&self.path)?;
        self.bytes = 0;
        Ok(())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

fn move_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        moved => moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Vec<String> {
        fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_full_log_is_rotate_and_the_oldest_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        let mut log = LogFile::open(path.clone(), 6, 2).unwrap();
        for line in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"] {
            log.write(line);
        }
        assert_eq!(lines(&path), ["10"]);
        assert_eq!(lines(&dir.path().join("a.log.1")), ["7", "8", "9"]);
        assert_eq!(lines(&dir.path().join("a.log.2")), ["4", "5", "6"]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_log_goes_on_where_it_was_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        LogFile::open(path.clone(), 6, 2).unwrap().write("1");
        let mut log = LogFile::open(path.clone(), 6, 2).unwrap();
        log.write("2");
        assert_eq!(lines(&path), ["1", "2"]);
        log.write("34");
        assert_eq!(lines(&path), ["34"]);
    }

    #[test]
    fn a_line_longer_than_a_whole_file_is_written_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        let mut log = LogFile::open(path.clone(), 4, 1).unwrap();
        log.write("123456789");
        log.write("1");
        assert_eq!(lines(&path), ["1"]);
        assert_eq!(lines(&dir.path().join("a.log.1")), ["123456789"]);
    }
}
