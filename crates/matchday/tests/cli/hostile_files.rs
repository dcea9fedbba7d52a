//! The file of somebody else may hold anything: each command that reads one ends with one line that says what is wrong.

use matchday_store::{Store, Stream};
use matchday_testkit::cli::Cli;
use matchday_testkit::event_lines::append;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// A folder with the store of a league that was played.
fn played() -> Cli {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&["run", "--port-base", "0", "--store", "league.db", "--quiet"]);
    assert_eq!(done.code, 0, "{done:?}");
    cli
}

/// Every command that reads a store, here one named `hostile.db`.
const COMMANDS: &[&[&str]] = &[
    &["verify", "hostile.db"],
    &["verify", "hostile.db", "--all"],
    &["export", "hostile.db", "--out", "out"],
    &["report", "hostile.db", "--out", "out.html"],
    &["replay", "hostile.db"],
    &["replay", "hostile.db", "--match", "R1M1"],
    &["stats", "hostile.db"],
    &["league", "list", "--store", "hostile.db"],
    &["backup", "hostile.db", "--to", "copy.db"],
    &["dashboard", "hostile.db", "--listen", "127.0.0.1:0"],
];

const ENDLESS: &str = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n)";

#[test]
fn every_command_refuses_a_file_with_another_schema_in_one_line() {
    let cli = played();
    let hostile = cli.path().join("hostile.db");
    let columns = "1 AS league, 'league' AS stream, n AS seq, 0 AS at, zeroblob(32) AS hash";
    for (schema, what) in [
        (
            format!(
                "DROP TABLE events; CREATE VIEW events AS {ENDLESS} SELECT {columns}, '{{}}' AS line FROM n"
            ),
            "it has a view events",
        ),
        (
            format!(
                "DROP TABLE exchanges; CREATE VIEW exchanges AS {ENDLESS} SELECT n AS id, 1 AS league FROM n"
            ),
            "it has a view exchanges",
        ),
        (
            format!(
                "DROP TABLE events; CREATE VIEW events AS SELECT {columns}, hex(zeroblob(400000000)) AS line \
                 FROM (SELECT 1 AS n)"
            ),
            "it has a view events",
        ),
        (
            "CREATE TRIGGER more AFTER INSERT ON exchanges BEGIN DELETE FROM meta; END".to_owned(),
            "it has a trigger more",
        ),
        ("CREATE TABLE more (a)".to_owned(), "it has a table more"),
    ] {
        fs::copy(cli.path().join("league.db"), &hostile).unwrap();
        let db = Connection::open(&hostile).unwrap();
        db.execute_batch(&schema).unwrap();
        db.close().unwrap();
        for command in COMMANDS {
            let ended = cli.run(command);
            let said = ended.failed(1);
            assert!(
                said.contains(what)
                    && said
                        .contains("hostile.db has another format than the stores of this Matchday"),
                "{ended:?}"
            );
            assert_eq!(said.trim_end().lines().count(), 1, "{command:?}: {said}");
        }
    }
}

/// A log that holds up to its chain, in which a league has so many rounds.
fn with_rounds(cli: &Cli, rounds: usize) {
    let played = Store::open_read_only(cli.path().join("league.db")).unwrap();
    let mut lines = Vec::new();
    for event in played.load(&Stream::league()).unwrap() {
        let mut line: Value = serde_json::from_str(&event.line).unwrap();
        if line["event"]["type"] == "league_started" {
            let round = json!({ "pairs": [["P01", "P02"]] });
            line["event"]["rounds"] = vec![round; rounds].into();
            lines.push(line.to_string());
            break;
        }
        lines.push(event.line);
    }
    let store = Store::open(cli.path().join("hostile.db")).unwrap();
    append(&store, "league", lines).unwrap();
    store.close().unwrap();
}

#[test]
fn every_command_ends_at_a_league_of_400_000_rounds() {
    let cli = played();
    with_rounds(&cli, 400_000);
    for command in COMMANDS {
        match command[0] {
            // It copies what is there, and serves a page that says what is wrong.
            "backup" | "dashboard" => continue,
            "verify" => {
                let ended = cli.run(command);
                assert_eq!(ended.code, 1, "{ended:?}");
                assert!(
                    ended.out.contains("a league has 9999 rounds at most"),
                    "{ended:?}"
                );
            }
            _ => {
                let ended = cli.run(command);
                let said = ended.failed(1);
                assert!(
                    said.contains(
                        "it has a league of 400000 rounds, and a league has 9999 at most"
                    ),
                    "{ended:?}"
                );
                assert_eq!(said.trim_end().lines().count(), 1, "{said}");
            }
        }
    }
}

/// A server that answers every request with this.
fn server(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn an_answer_that_the_api_does_not_promise_is_an_error() {
    let cli = Cli::new(crate::MATCHDAY);
    for body in [
        "garbage",
        "",
        "{}",
        "[]",
        r#"{"leagues": 5, "seasons": null, "processes": {}}"#,
        r#"{"leagues": [{}], "seasons": ["a"], "processes": [5]}"#,
    ] {
        let service = server(body);
        for command in [
            &["league", "list"][..],
            &["league", "list", "--json"],
            &["league", "show", "spring"],
            &["league", "archive", "spring"],
            &["league", "delete", "spring", "--yes"],
            &["season", "list"],
            &["season", "show", "spring"],
            &["season", "run", "spring"],
            &["cluster"],
        ] {
            let ended = cli.run(&[command, &["--service", &service]].concat());
            let said = ended.failed(1);
            assert!(
                said.contains("answers with something else than the API of a service"),
                "{command:?}: {ended:?}"
            );
            assert_eq!(
                (said.trim_end().lines().count(), ended.out.as_str()),
                (1, ""),
                "{command:?}: {ended:?}"
            );
        }
    }
}
