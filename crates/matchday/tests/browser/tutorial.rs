//! The pictures of docs/tutorial.md, from the league that the tutorial plays. The headings that they show are kept beside them, so that a
//! page that has changed is found. To take them anew:
//! `UPDATE_DOCS=1 cargo test -p matchday --test browser tutorial`

use crate::script::{can_be_run, plays};
use matchday_testkit::cli::Cli;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures")
}

pub(crate) fn is_update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

pub(crate) fn keep(taken: &Path) {
    fs::create_dir_all(kept()).unwrap();
    for file in fs::read_dir(taken).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), kept().join(file.file_name())).unwrap();
    }
}

/// The pictures that a scenario takes of a league that was run with these settings.
pub(crate) fn taken_from(settings: &[&str], scenario: &str) -> tempfile::TempDir {
    let cli = Cli::new(crate::MATCHDAY);
    let league = [
        "run",
        "--store",
        "first.db",
        "--players",
        "6",
        "--seed",
        "3",
        "--port-base",
        "0",
        "--quiet",
    ];
    let played = cli.run(&[&league[..], settings].concat());
    assert_eq!(played.code, 0, "{played:?}");
    let dashboard = cli.start(&["dashboard", "first.db", "--listen", "127.0.0.1:0"]);
    dashboard.until("http://127.0.0.1:");
    let said = format!("{}{}", dashboard.out(), dashboard.err());
    let address = said.split("http://127.0.0.1:").nth(1).unwrap();
    let port: String = address.chars().take_while(char::is_ascii_digit).collect();
    let taken = tempfile::tempdir().unwrap();
    plays(
        scenario,
        &format!("http://127.0.0.1:{port}/"),
        &[taken.path().to_str().unwrap()],
    );
    taken
}

#[test]
fn the_pictures_of_the_tutorial_show_the_pages_as_they_are() {
    if !can_be_run() {
        return;
    }
    let taken = taken_from(&[], "pictures");
    if is_update() {
        keep(taken.path());
        return;
    }
    let words = |folder: &Path| fs::read_to_string(folder.join("pictures.txt")).unwrap_or_default();
    let anew = "UPDATE_DOCS=1 cargo test -p matchday --test browser tutorial";
    assert_eq!(
        words(&kept()),
        words(taken.path()),
        "a page of the tutorial has changed: {anew}"
    );
    for name in ["table", "round", "match", "player", "cross"] {
        assert!(
            kept().join(format!("{name}.png")).exists(),
            "{name}: {anew}"
        );
    }
}
