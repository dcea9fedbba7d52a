//! `matchday schema`: what it writes, and what it leaves alone.

use matchday_testkit::cli::Cli;
use serde_json::Value;
use std::fs;

#[test]
fn every_document_is_written_and_may_be_written_again() {
    let cli = Cli::new(crate::MATCHDAY);
    let all = cli.run(&["schema", "--json"]).json();
    let all = all.as_object().unwrap();
    for _ in 0..2 {
        let done = cli.run(&["schema", "--out", "new/schemas"]);
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(
            done.out,
            format!(
                "{} documents written to new/schemas: begin with index.json\n",
                all.len()
            )
        );
    }
    for (path, document) in all {
        let text = fs::read_to_string(cli.path().join("new/schemas").join(path)).unwrap();
        assert_eq!(
            &serde_json::from_str::<Value>(&text).unwrap(),
            document,
            "{path}"
        );
    }
    assert_eq!(
        all["messages/GAME_INVITATION.json"]["title"],
        "GAME_INVITATION"
    );
    assert_eq!(
        all["openrpc/player.json"]["info"]["title"],
        "league.v2 player"
    );
}

#[test]
fn an_older_edition_is_replaced() {
    let cli = Cli::new(crate::MATCHDAY);
    assert_eq!(cli.run(&["schema", "--out", "."]).code, 0);
    let file = cli.path().join("messages/GAME_OVER.json");
    let whole = fs::read_to_string(&file).unwrap();
    let mut older: Value = serde_json::from_str(&whole).unwrap();
    older["required"] = Value::Null;
    fs::write(&file, older.to_string()).unwrap();
    assert_eq!(cli.run(&["schema", "--out", "."]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
}

#[test]
fn a_foreign_file_in_the_way_is_left_alone_and_nothing_is_written() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::create_dir(cli.path().join("openrpc")).unwrap();
    let mine = cli.path().join("openrpc/player.json");
    fs::write(&mine, "{\"openrpc\": \"mine\"}").unwrap();
    let done = cli.run(&["schema", "--out", "."]);
    let line = done.failed(1);
    assert!(
        line.contains("./openrpc/player.json") && line.contains("--out"),
        "{line}"
    );
    assert_eq!(
        fs::read_to_string(&mine).unwrap(),
        "{\"openrpc\": \"mine\"}"
    );
    assert!(!cli.path().join("index.json").exists());
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::write(cli.path().join("taken"), "a file").unwrap();
    let done = cli.run(&["schema", "--out", "taken"]);
    assert!(done.failed(1).contains("taken/data"), "{done:?}");
}

#[test]
fn without_a_place_to_write_to_it_says_what_is_missing() {
    let done = Cli::new(crate::MATCHDAY).run(&["schema"]);
    assert_eq!(done.code, 2);
    assert!(
        done.err.contains("--out <DIR>") && done.err.contains("--json"),
        "{done:?}"
    );
}
