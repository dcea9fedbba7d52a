//! Join codes from the operator's file to the table, and in nothing that anyone else can read.

use crate::wire::post;
use matchday_testkit::cli::{Cli, TOKEN, free_address};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A manager that lets in whom `class.csv` names; and their codes by their names.
fn codes(cli: &Cli) -> Vec<(String, String)> {
    let text = fs::read_to_string(cli.path().join("class.codes.csv")).unwrap();
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let lines = lines.records().map(Result::unwrap);
    lines
        .map(|line| (line[0].to_owned(), line[3].to_owned()))
        .collect()
}

fn code(cli: &Cli, name: &str) -> String {
    codes(cli)
        .into_iter()
        .find(|(known, _)| known == name)
        .unwrap()
        .1
}

const CLASS: &str =
    "name,role,mail\nAnn Lee,player,ann@example.org\nBob Roy,player\nThe Referee,referee\n";

fn registration(fields: Value) -> Value {
    let mut message = matchday_testkit::cli::registration();
    message
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    message
}

fn roster(cli: &Cli, args: &[&str]) -> matchday_testkit::cli::Output {
    cli.ask(&[&["roster"], args, &["--operator-token", TOKEN]].concat())
}

#[test]
fn whom_the_roster_names_registers_with_its_code_under_its_name_and_nobody_else() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::write(cli.path().join("class.csv"), CLASS).unwrap();
    let manager = cli.manager(&[
        "--roster",
        "class.csv",
        "--endpoint-check",
        "off",
        "--log",
        "json",
    ]);
    let file = fs::metadata(cli.path().join("class.codes.csv")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);

    let mut stranger = cli.agent(&["player"]);
    assert!(
        !stranger.wait().success(),
        "a player without a code gives up"
    );
    stranger.until("Join code missing");
    let ann = cli.agent(&[
        "player",
        "--name",
        "Whatever",
        "--code",
        &code(&cli, "Ann Lee"),
    ]);
    let referee = cli.agent(&["referee", "--code", &code(&cli, "The Referee")]);
    [&ann, &referee]
        .iter()
        .for_each(|agent| agent.until("registered as"));

    // An agent of another make, which knows nothing of codes, is given another URL.
    let bob = code(&cli, "Bob Roy");
    let url = cli.manager.replace("/mcp", &format!("/join/{bob}/mcp"));
    let answer = post(&url, &registration(json!({}))).json();
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    let token = answer["auth_token"].as_str().unwrap();
    let query = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": "player:P02", "auth_token": token,
        "timestamp": "2026-03-02T09:00:00Z", "conversation_id": "conv-q", "league_id": "league_2025_even_odd",
        "query_type": "GET_STANDINGS", "query_params": {},
    });
    assert_eq!(
        post(&url, &query).json()["success"],
        true,
        "all else is as at /mcp"
    );
    let wrong = post(
        &cli.manager,
        &registration(json!({"join_code": "tok_join_0123456789abcdef"})),
    )
    .json();
    assert_eq!(
        (&wrong["status"], &wrong["error_code"]),
        (&json!("REJECTED"), &json!("E012"))
    );

    let shown = roster(&cli, &[]).out;
    for words in [
        "Ann Lee",
        "Bob Roy",
        "The Referee",
        "P01",
        "P02",
        "REF01",
        "registered",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
    let table = cli.ask(&["standings"]).out;
    assert!(
        table.contains("Ann Lee") && table.contains("Bob Roy") && !table.contains("Whatever"),
        "{table}"
    );

    let rotated = roster(&cli, &["rotate", "Bob Roy", "--json"]).json();
    let new = rotated["join_code"].as_str().unwrap().to_owned();
    assert_ne!(new, bob);
    let added = roster(&cli, &["add", "Cas Day", "--json"]).json();
    assert_eq!(added["name"], "Cas Day", "without its role");
    let twice = roster(&cli, &["add", "Cas Day"]);
    assert!(
        twice
            .failed(1)
            .contains("refuses: Cas Day is on the roster already"),
        "{twice:?}"
    );
    drop((ann, referee));
    let said = format!("{}{}", manager.out(), manager.err());
    drop(manager);
    let export = cli.run(&["export", "matchday.db", "--out", "exported"]);
    assert_eq!(export.code, 0, "{export:?}");
    let mut secret: Vec<String> = codes(&cli).into_iter().map(|(_, code)| code).collect();
    secret.extend([new, added["join_code"].as_str().unwrap().to_owned()]);
    for code in secret {
        assert!(!said.contains(&code), "in what the manager says");
        for file in files(cli.path())
            .iter()
            .filter(|path| !path.ends_with("class.codes.csv"))
        {
            let bytes = fs::read(file).unwrap();
            let found = bytes
                .windows(code.len())
                .any(|window| window == code.as_bytes());
            assert!(!found, "in {}", file.display());
        }
    }
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn where_others_can_reach_the_manager_referees_need_a_code_which_is_shown_once() {
    let cli = Cli::new(crate::MATCHDAY);
    let listen = free_address().replace("127.0.0.1", "0.0.0.0");
    let manager = cli.start(&[
        "manager",
        "--listen",
        &listen,
        "--operator-token",
        TOKEN,
        "--endpoints",
        "any",
    ]);
    manager.until("listening on");
    let said = manager.err();
    let at = said.find("tok_join_").unwrap_or_else(|| panic!("{said}"));
    let code: String = said[at..]
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    let url = format!("http://{}/mcp", listen.replace("0.0.0.0", "127.0.0.1"));
    let mut refused = cli.start(&["referee", "--listen", &free_address(), "--manager", &url]);
    assert!(!refused.wait().success());
    let taken = cli.start(&[
        "referee",
        "--listen",
        &free_address(),
        "--manager",
        &url,
        "--code",
        &code,
    ]);
    taken.until("registered as");
    let player = cli.start(&["player", "--listen", &free_address(), "--manager", &url]);
    player.until("registered as");
}

#[test]
fn a_renewed_registration_is_a_warning_in_the_log() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--endpoint-check", "off"]);
    let message = registration(json!({}));
    assert_eq!(post(&cli.manager, &message).json()["status"], "ACCEPTED");
    let mut again = message;
    again["conversation_id"] = json!("conv-restarted");
    assert_eq!(post(&cli.manager, &again).json()["player_id"], "P01");
    manager.until("warning: P01 registered again from 127.0.0.1, known by its address alone");
}
