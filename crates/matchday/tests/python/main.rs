//! The Python package, its documentation and its notebook, with the built program. The tests themselves are in Python, in
//! `python/tests`.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use matchday_testkit::tools;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a file of `python/tests` by an interpreter that knows the package, in a folder of its own.
fn run(python: &Path, file: &str) {
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new(python)
        .arg(
            root()
                .join("python/tests")
                .canonicalize()
                .unwrap()
                .join(file),
        )
        .current_dir(folder.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MPLBACKEND", "agg")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{file}: {said}");
}

/// A fresh virtual environment with the package and the program in it, as the wheel installs them, and the packages of these
/// environments.
fn environment(folder: &Path, further: &[&Path]) -> PathBuf {
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(folder)
        .status();
    assert!(made.unwrap().success());
    let python = folder.join("bin/python");
    let packages = Command::new(&python)
        .args([
            "-c",
            "import sysconfig; print(sysconfig.get_path('purelib'), end='')",
        ])
        .output()
        .unwrap();
    let packages = PathBuf::from(String::from_utf8(packages.stdout).unwrap());
    copy(&root().join("python/matchday"), &packages.join("matchday"));
    std::os::unix::fs::symlink(MATCHDAY, folder.join("bin/matchday")).unwrap();
    let found = further.iter().flat_map(|environment| {
        let libraries = fs::read_dir(environment.join("lib")).unwrap();
        libraries.map(|library| library.unwrap().path().join("site-packages"))
    });
    let paths: Vec<String> = found.map(|path| path.display().to_string()).collect();
    fs::write(packages.join("further.pth"), paths.join("\n")).unwrap();
    python
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let name = entry.file_name().unwrap();
        if entry.is_file() {
            fs::copy(&entry, to.join(name)).unwrap();
        } else if name != "__pycache__" {
            copy(&entry, &to.join(name));
        }
    }
}

fn in_a_bare_environment(file: &str) {
    if tools::require("python3") {
        let folder = tempfile::tempdir().unwrap();
        run(&environment(&folder.path().join("v"), &[]), file);
    }
}

fn with_pandas(file: &str) {
    let script = "crates/matchday/tests/python/install";
    if let Some(tools) = tools::require_installed("python", script) {
        let folder = tempfile::tempdir().unwrap();
        let installed = tools.join("python");
        let python = environment(&folder.path().join("v"), &[installed.as_path()]);
        run(&python, file);
    }
}

#[test]
fn the_package_has_the_agent_of_the_starter() {
    if tools::require("python3") {
        let done = Command::new("python3")
            .arg(root().join("python/sync"))
            .arg("--check")
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}

#[test]
fn players_play_whole_leagues() {
    in_a_bare_environment("test_player.py");
}

#[test]
fn leagues_simulations_and_experiments_are_played_with_functions() {
    in_a_bare_environment("test_research.py");
}

#[test]
fn tables_are_read_with_the_types_that_are_documented() {
    with_pandas("test_tables.py");
}

#[test]
fn the_queries_of_the_documentation_run() {
    with_pandas("test_sql.py");
}

#[test]
fn the_notebook_runs_from_the_first_cell_to_the_last() {
    with_pandas("test_notebook.py");
}
