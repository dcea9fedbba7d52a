//! What verification says of results that are proven, that are not, and that were forged so that the chain fits.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_audit::verify::{Verdict, Verification, verify};
use matchday_core::league::ProofRule;
use matchday_core::protocol::messages::{DRAW_2, MATCH_TOKENS, Order};
use matchday_testkit::event_lines::{chained, stream};
use matchday_testkit::instant_league::{InstantLeague, Referee, plain_referee, played};
use matchday_testkit::proving_referee::proving_referee;
use serde_json::{Value, json};

const PROVES: &[&str] = &[MATCH_TOKENS, DRAW_2];
const DOES_NOT: &[&str] = &[MATCH_TOKENS];

fn check(lines: &[String]) -> Verification {
    verify([(stream("league"), chained("league", lines))])
}

/// A league of four players that sign, played to its end.
fn signing(proof: ProofRule, capabilities: &[&str], referee: Referee) -> Vec<String> {
    let mut league = InstantLeague::signing(proof, 4, capabilities, referee);
    while league.is_running() {
        league.play_one();
    }
    league.lines
}

fn proven() -> Vec<String> {
    signing(ProofRule::Required, PROVES, proving_referee)
}

/// The log as somebody could write it who has the store: each event changed like this, and the chain computed anew.
fn forged(lines: &[String], change: impl Fn(&str, &mut Value)) -> Verification {
    let changed = lines.iter().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let kind = line["event"]["type"].as_str().unwrap().to_owned();
        change(&kind, &mut line["event"]);
        line.to_string()
    });
    check(&changed.collect::<Vec<_>>())
}

fn strip(event: &mut Value) {
    event["result"]["details"]
        .as_object_mut()
        .unwrap()
        .remove("fairness")
        .unwrap();
}

#[test]
fn a_league_whose_every_result_is_proven_fits() {
    let found = check(&proven());
    assert_eq!(
        (found.verdict(), found.results_proven),
        (Verdict::Fits, 6),
        "{:?}",
        found.fault
    );
    assert!(
        found
            .to_string()
            .contains("results  6 proven, 0 unproven\n"),
        "{found}"
    );
}

#[test]
fn a_log_from_whose_reports_the_proofs_were_stripped_does_not_fit() {
    let stripped = forged(&proven(), |kind, event| {
        if kind == "match_decided" {
            strip(event)
        }
    });
    let fault = stripped.fault.clone().expect("a fault");
    assert_eq!(stripped.verdict(), Verdict::Contradicted);
    assert!(
        fault
            .why
            .starts_with("R1M1: result.details.fairness: expected the proof"),
        "{fault}"
    );
    // And with the word of the manager that it never was proven.
    let admitted = forged(&proven(), |kind, event| {
        if kind == "match_decided" {
            strip(event);
            event["proof"] = json!("unproven");
        }
    });
    assert_eq!(admitted.verdict(), Verdict::Contradicted);
}

#[test]
fn a_log_that_says_that_no_proofs_were_required_does_not_fit() {
    let denied = forged(&proven(), |kind, event| match kind {
        "league_started" => drop(
            event
                .as_object_mut()
                .unwrap()
                .remove("proofs_required")
                .unwrap(),
        ),
        "match_decided" => strip(event),
        _ => {}
    });
    let fault = denied.fault.expect("a fault");
    assert_eq!(fault.what, "league_started");
    assert!(fault.why.contains("although a referee proves"), "{fault}");
}

#[test]
fn a_log_that_denies_that_anyone_proved_is_not_taken_for_proven() {
    let denied = forged(&proven(), |kind, event| match kind {
        "league_started" => drop(
            event
                .as_object_mut()
                .unwrap()
                .remove("proofs_required")
                .unwrap(),
        ),
        "referee_registered" => event["meta"]["capabilities"] = json!([MATCH_TOKENS]),
        "match_decided" => {
            strip(event);
            event["proof"] = json!("unproven");
        }
        _ => {}
    });
    assert_eq!(denied.fault, None);
    assert_eq!(denied.verdict(), Verdict::NotAllProven);
    assert_eq!(denied.unproven.len(), 6);
}

#[test]
fn what_is_recorded_of_a_proof_must_be_so() {
    let praised = forged(
        &signing(ProofRule::Required, DOES_NOT, plain_referee),
        |kind, event| {
            if kind == "match_decided" {
                event["proof"] = json!("proven");
            }
        },
    );
    let why = praised.fault.expect("a fault").why;
    assert_eq!(why, "R1M1 is recorded as proven, but is unproven");
    let belittled = forged(&proven(), |kind, event| {
        if kind == "match_decided" {
            event["proof"] = json!("unproven");
        }
    });
    assert_eq!(
        belittled.fault.unwrap().why,
        "R1M1 is recorded as unproven, but is proven"
    );
}

#[test]
fn another_choice_than_the_one_that_was_signed_does_not_fit() {
    let turned = forged(&proven(), |kind, event| {
        if kind == "match_decided" {
            event["result"]["details"]["fairness"]["signatures"]["P01"] = json!("00".repeat(64));
        }
    });
    let fault = turned.fault.expect("a fault");
    assert!(
        fault
            .why
            .contains("R1M1: result.details.fairness.signatures.P01"),
        "{fault}"
    );
}

#[test]
fn a_match_of_players_with_keys_that_went_to_a_referee_that_does_not_prove_does_not_fit() {
    let given = forged(&proven(), |kind, event| {
        if kind == "referee_registered" && event["referee_id"] == "REF01" {
            event["meta"]["capabilities"] = json!([MATCH_TOKENS]);
        }
    });
    let fault = given.fault.expect("a fault");
    assert_eq!(fault.what, "match_assigned");
    assert!(
        fault.why.contains("REF01 does not prove results"),
        "{fault}"
    );
}

#[test]
fn results_that_nobody_could_prove_are_named_and_no_contradiction() {
    for (proof, capabilities) in [
        (ProofRule::Required, DOES_NOT),
        (ProofRule::Optional, DOES_NOT),
    ] {
        let found = check(&signing(proof, capabilities, plain_referee));
        assert_eq!(found.fault, None);
        assert_eq!(found.verdict(), Verdict::NotAllProven);
        assert_eq!((found.results_proven, found.unproven.len()), (0, 6));
        let text = found.to_string();
        assert!(
            text.contains("results  0 proven, 6 unproven: R1M1, "),
            "{text}"
        );
        assert!(
            text.ends_with("No contradictions, but not everything is proven."),
            "{text}"
        );
    }
}

#[test]
fn players_without_keys_have_nothing_to_prove() {
    let found = check(&played(4, plain_referee));
    assert_eq!((found.verdict(), found.unproven.len()), (Verdict::Fits, 0));
}

#[test]
fn what_the_operator_allows_fits_and_is_unproven_from_then_on() {
    let mut league = InstantLeague::signing(ProofRule::Required, 4, PROVES, proving_referee);
    league.play_one();
    league.order(Order::AllowUnproven, None, None);
    while league.is_running() {
        league.play_one();
    }
    let found = check(&league.lines);
    assert_eq!(
        (found.verdict(), found.results_proven),
        (Verdict::Fits, 6),
        "{:?}",
        found.fault
    );
    let twice = [&league.lines[..], &league.lines[league.lines.len() - 1..]].concat();
    assert!(check(&twice).fault.is_some());
}
