//! The pictures of docs/tutorial.md are taken here, from the league that the tutorial plays. Of each picture the headings that it shows
//! are kept beside it, so that a page that has changed is found. To take them anew:
//! `UPDATE_DOCS=1 cargo test -p matchday --test browser tutorial`

use crate::script::{can_be_run, plays};
use matchday_testkit::cli::Cli;
use std::fs;
use std::path::{Path, PathBuf};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures")
}

#[test]
fn the_pictures_of_the_tutorial_show_the_pages_as_they_are() {
    if !can_be_run() {
        return;
    }
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
    let played = cli.run(&league);
    assert_eq!(played.code, 0, "{played:?}");
    let dashboard = cli.start(&["dashboard", "first.db", "--listen", "127.0.0.1:0"]);
    dashboard.until("http://127.0.0.1:");
    let said = format!("{}{}", dashboard.out(), dashboard.err());
    let address = said.split("http://127.0.0.1:").nth(1).unwrap();
    let port: String = address.chars().take_while(char::is_ascii_digit).collect();
    let taken = tempfile::tempdir().unwrap();
    plays(
        "pictures",
        &format!("http://127.0.0.1:{port}/"),
        &[taken.path().to_str().unwrap()],
    );
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(kept()).unwrap();
        for file in fs::read_dir(taken.path()).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), kept().join(file.file_name())).unwrap();
        }
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
