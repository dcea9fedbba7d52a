//! What the commands say of leagues whose results are proven, unproven, or forged.

use matchday_core::league::ProofRule;
use matchday_core::protocol::messages::{DRAW_2, MATCH_TOKENS};
use matchday_store::Store;
use matchday_testkit::cli::{Cli, Output};
use matchday_testkit::event_lines::append;
use matchday_testkit::instant_league::{InstantLeague, Referee, plain_referee, played};
use matchday_testkit::proving_referee::proving_referee;
use serde_json::Value;

/// Four players that sign, and referees with these capabilities; played to its end.
fn signing(capabilities: &[&str], referee: Referee) -> Vec<String> {
    let mut league = InstantLeague::signing(ProofRule::Required, 4, capabilities, referee);
    while league.is_running() {
        league.play_one();
    }
    league.lines
}

fn proven() -> Vec<String> {
    signing(&[MATCH_TOKENS, DRAW_2], proving_referee)
}

/// A store with this log, whose chain fits.
fn store(lines: Vec<String>) -> Cli {
    let cli = Cli::new(crate::MATCHDAY);
    let store = Store::open(cli.path().join("league.db")).unwrap();
    append(&store, "league", lines).unwrap();
    store.close().unwrap();
    cli
}

fn verified(cli: &Cli) -> Output {
    cli.run(&["verify", "league.db"])
}

#[test]
fn verify_ends_with_0_where_everything_is_proven_or_nobody_had_a_key() {
    for lines in [proven(), played(4, plain_referee)] {
        let done = verified(&store(lines));
        assert_eq!(done.code, 0, "{done:?}");
        assert!(
            done.out.ends_with("Verified: no contradictions.\n"),
            "{done:?}"
        );
    }
}

#[test]
fn verify_ends_with_1_and_names_the_match_whose_proof_was_stripped_from_the_log() {
    let stripped = proven().into_iter().map(|line| {
        let mut line: Value = serde_json::from_str(&line).unwrap();
        if line["event"]["type"] == "match_decided" {
            line["event"]["result"]["details"]
                .as_object_mut()
                .unwrap()
                .remove("fairness")
                .unwrap();
        }
        line.to_string()
    });
    let done = verified(&store(stripped.collect()));
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.out.contains("CONTRADICTION: ") && done.out.contains("R1M1: "),
        "{done:?}"
    );
}

#[test]
fn verify_ends_with_3_and_names_the_results_that_are_a_referees_word() {
    let cli = store(signing(&[MATCH_TOKENS], plain_referee));
    let done = verified(&cli);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(
        done.out
            .contains("results  0 proven, 6 unproven: R1M1, R1M2, "),
        "{done:?}"
    );
    let all = cli.run(&["verify", "league.db", "--all"]);
    assert!(
        all.code == 3 && all.out.contains(", 6 results unproven: R1M1, "),
        "{all:?}"
    );
    let found = cli.run(&["verify", "league.db", "--json"]).json();
    assert_eq!(found["unproven"].as_array().unwrap().len(), 6);
    let report = cli.run(&["report", "league.db", "--format", "md", "--out", "-"]);
    assert!(
        report.out.contains("Unproven results: 6 of R1M1, R1M2"),
        "{report:?}"
    );
}

#[test]
fn the_table_of_a_league_says_how_many_of_its_results_are_unproven() {
    let cli = store(signing(&[MATCH_TOKENS], plain_referee));
    let _manager = cli.manager(&["--store", "league.db"]);
    let remark = "6 results are unproven: reported by the referee alone, although a player of the match has a key";
    for command in ["standings", "status"] {
        let done = cli.ask(&[command]);
        assert!(done.out.contains(remark), "{command}: {done:?}");
    }
    assert_eq!(
        cli.ask(&["standings", "--json"]).json()["results_unproven"],
        6
    );
}
