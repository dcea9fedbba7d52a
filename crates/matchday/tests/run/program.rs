//! The program under test, in a directory of its own.

use matchday_testkit::cli::{Cli, Output};
use matchday_testkit::recorded::assert_store_fits;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Program {
    cli: Cli,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self {
            cli: Cli::new(env!("CARGO_BIN_EXE_matchday")),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.cli.path().join(name)
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        self.cli.command(words)
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.cli.run(words)
    }

    /// A league that must end well, kept in `league.db`.
    pub(crate) fn league(&self, more: &[&str]) -> Output {
        let words = [&["run", "--port-base", "0", "--store", "league.db"], more].concat();
        let ran = self.run(&words);
        assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        // Without exchanges in the store, as some tests want it, there is nothing to judge.
        assert_store_fits(self.path("league.db"));
        ran
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.cli.path()).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        files.map(|file| name(&file.unwrap().path())).collect()
    }
}
