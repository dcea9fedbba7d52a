//! A referee whose reports are false: a real one, with a proxy before the manager that changes what it reports.

use crate::other_manager::OtherManager;
use crate::wire::post;
use matchday_testkit::cli::Cli;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Plays one match, whose first report `lie` changes, and which an honest referee plays again. The false report is refused
/// by naming `path`, its referee is blamed, and the store stays sound.
fn refused(lie: fn(&mut Value), path: &str) {
    let cli = Cli::new(crate::MATCHDAY);
    let mut manager = cli.manager(&["--lead", "0", "--store", "league.db"]);
    let answers = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&answers);
    let behind = cli.manager.clone();
    let proxy = OtherManager::start(move |request| {
        let mut request = request.clone();
        let is_report = request["params"]["message_type"] == "MATCH_RESULT_REPORT";
        if is_report {
            lie(&mut request["params"]["result"]);
        }
        let answer = post(&behind, &request);
        if is_report {
            seen.lock().unwrap().push(answer.json()["result"].clone());
        }
        (answer.status, answer.body)
    });
    let behind_proxy = proxy.cli();
    let mut cheat = behind_proxy.agent(&["referee"]);
    cheat.until("registered as referee:REF01");
    let mut agents = cli.agents(1, 2);
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");

    let answer = answers
        .lock()
        .unwrap()
        .first()
        .cloned()
        .expect("the cheat played the match first");
    assert_eq!(
        (&answer["error_code"], &answer["context"]["path"]),
        (&json!("E002"), &json!(path)),
        "{answer}"
    );
    let stats = cli.ask(&["stats", "REF01", "--json"]).json();
    assert_eq!(
        (&stats["attempts_lost"], &stats["attempts"]),
        (&json!(1), &json!(1)),
        "{stats}"
    );
    for agent in [&mut manager, &mut cheat].into_iter().chain(&mut agents) {
        agent.signal("TERM");
        assert!(agent.wait().success());
    }
    let replay = cli.run(&["replay", "league.db"]);
    let blamed = replay
        .out
        .lines()
        .find(|line| line.contains("REF01") && line.contains(path));
    assert!(
        blamed.is_some_and(|line| line.contains("R1M1")),
        "{replay:?}"
    );
    let report = cli.run(&["report", "league.db", "--format", "md", "--out", "-"]);
    assert!(report.out.contains("1 of 1 by REF01"), "{report:?}");
    let verified = cli.run(&["verify", "league.db"]);
    assert!(
        verified.code == 0 && verified.out.contains("1 of 1 decided"),
        "{verified:?}"
    );
    let copied = cli.run(&["backup", "league.db", "--to", "copy.db"]);
    assert_eq!(copied.code, 0, "{copied:?}");
    assert_eq!(
        cli.run(&["verify", "copy.db"]).out,
        verified.out.replace("league.db", "copy.db")
    );
}

/// Gives the points to `winner`, or one to each.
fn award(result: &mut Value, winner: Option<&str>) {
    let points = |player| winner.map_or(1, |winner| if winner == player { 3 } else { 0 });
    result["score"] = json!({"P01": points("P01"), "P02": points("P02")});
    result["status"] = if winner.is_some() {
        json!("WIN")
    } else {
        json!("DRAW")
    };
    result["winner"] = json!(winner);
}

#[test]
fn a_winner_whom_the_number_contradicts_is_refused() {
    let lie = |result: &mut Value| {
        let other = if result["winner"] == "P01" {
            "P02"
        } else {
            "P01"
        };
        award(result, Some(other));
    };
    refused(lie, "result.winner");
}

#[test]
fn a_commitment_that_does_not_fit_the_secret_is_refused() {
    let lie =
        |result: &mut Value| result["details"]["fairness"]["commitment"] = json!("0".repeat(64));
    refused(lie, "result.details.fairness.commitment");
}

#[test]
fn a_choice_that_is_reported_reversed_is_refused() {
    let lie = |result: &mut Value| {
        let details = &mut result["details"];
        let reversed = if details["choices"]["P01"] == "even" {
            "odd"
        } else {
            "even"
        };
        details["choices"]["P01"] = json!(reversed);
        let right = |player: &str| details["choices"][player] == details["number_parity"];
        let winner = match (right("P01"), right("P02")) {
            (true, false) => Some("P01"),
            (false, true) => Some("P02"),
            _ => None,
        };
        award(result, winner);
    };
    refused(lie, "result.details.fairness.signatures.P01");
}
