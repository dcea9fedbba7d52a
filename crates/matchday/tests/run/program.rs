//! The program under test, in a directory of its own.

use crate::recorded::assert_store_fits;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) struct Program {
    folder: tempfile::TempDir,
}

pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_matchday"));
        command.current_dir(self.folder.path()).args(words);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }

    /// A league that must end well, kept in `league.db`.
    pub(crate) fn league(&self, more: &[&str]) -> Ran {
        let words = [&["run", "--port-base", "0", "--store", "league.db"], more].concat();
        let ran = self.run(&words);
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
        // Without exchanges in the store, as some tests want it, there is nothing to judge.
        assert_store_fits(&self.path("league.db"));
        ran
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        files.map(|file| name(&file.unwrap().path())).collect()
    }
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
