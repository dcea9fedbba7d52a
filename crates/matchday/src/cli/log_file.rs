//! The log as a file that cannot fill the disk: when it is full it is put aside as FILE.1, the one before as FILE.2, and the
//! oldest goes. Touches these files.

use super::config::Config;
use super::network::within;
use super::notice;
use super::settings::{Setting, optional, setting};
use anyhow::{Result, anyhow};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(super) const LOG_FILE: Setting =
    optional("log-file", "FILE", "Write the log to this file [default: the standard output]");
pub(super) const LOG_BYTES_MAX: Setting = setting(
    "log-bytes-max",
    "BYTES",
    "104857600",
    "How large that file may be before it is put aside as FILE.1 and another begun",
);
pub(super) const LOG_FILES_MAX: Setting =
    setting("log-files-max", "N", "5", "How many files that were put aside are kept");

/// What the log is written to, if it is a file.
pub(super) fn open(config: &Config) -> Result<Option<LogFile>> {
    let bytes_max = within(config, "log-bytes-max", 4096, usize::MAX)?.unwrap_or(100 << 20) as u64;
    let aside_max = within(config, "log-files-max", 0, 1000)?.unwrap_or(5);
    let Some(path) = config.text("log-file").filter(|path| !path.is_empty()) else { return Ok(None) };
    let opened = LogFile::open(path.into(), bytes_max, aside_max);
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
    aside_max: usize,
    /// Whether it has been told that lines are lost.
    told: bool,
}

impl LogFile {
    fn open(path: PathBuf, bytes_max: u64, aside_max: usize) -> io::Result<Self> {
        let file = append_to(&path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path, file, bytes, bytes_max, aside_max, told: false })
    }

    /// One line more. What cannot be written is lost, and the league goes on.
    pub(super) fn write(&mut self, line: &str) {
        match self.try_write(line) {
            Ok(()) => self.told = false,
            Err(error) if !self.told => {
                self.told = true;
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
            self.put_aside()?;
        }
        self.file.write_all(line.as_bytes())?;
        self.bytes += more;
        Ok(())
    }

    fn put_aside(&mut self) -> io::Result<()> {
        let aside = |number: usize| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        match self.aside_max {
            0 => self.file.set_len(0)?,
            most => {
                for number in (1..most).rev() {
                    move_if_there(&aside(number), &aside(number + 1))?;
                }
                move_if_there(&self.path, &aside(1))?;
                self.file = append_to(&self.path)?;
            }
        }
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
    fn a_full_log_is_put_aside_and_the_oldest_goes() {
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
    fn without_files_aside_a_full_log_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        let mut log = LogFile::open(path.clone(), 4, 0).unwrap();
        for line in ["1", "2", "3"] {
            log.write(line);
        }
        assert_eq!(lines(&path), ["3"]);
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
