//! Agents that fail: the report says in which matches, why, and how to see it.

use crate::fake_player::{Behaviour, fake_player};
use crate::report::{Practice, Report as _, run};
use matchday_testkit::address::free_address;
use matchday_testkit::cli::{Output, Process};
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::fake_peer::Answer;
use serde_json::{Value, json};
use std::time::Duration;

async fn practise(practice: &Practice, behaviour: Behaviour, args: &[&str]) -> Output {
    let stub = fake_player(behaviour).await;
    let mut command = practice.practice(&["--against", &stub.url(), "--quiet"]);
    command.args(["--join-timeout", "0.5"]).args(args);
    run(command).await
}

fn is_choice(message: &Value) -> bool {
    message["message_type"] == "CHOOSE_PARITY_CALL"
}

/// All technical losses, as match and reason.
fn losses(report: &Value) -> Vec<(String, String)> {
    let losses = report["technical_losses"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    losses
        .iter()
        .map(|lost| (text(&lost["match_id"]), text(&lost["reason"])))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_chooses_garbage_is_named_with_the_command_to_see_it() {
    let practice = Practice::new();
    let garbage: Behaviour = |message, right| {
        if is_choice(message) {
            Answer::new(200, "}{")
        } else {
            right
        }
    };
    let done = practise(&practice, garbage, &["--choice-timeout", "0.5"]).await;
    assert_eq!(done.code, 1, "{done:?}");
    insta::assert_snapshot!(done.steady());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_too_slow_is_seen_to_be_late() {
    let practice = Practice::new();
    let slow: Behaviour = |message, right| {
        let after = if is_choice(message) {
            Duration::from_millis(700)
        } else {
            Duration::ZERO
        };
        Answer { after, ..right }
    };
    // A late answer to the first try would still count in the second.
    let done = practise(&practice, slow, &["--json", "--choice-timeout", "0.1"]).await;
    let report = done.json();
    assert_eq!(
        (done.code, &report["passed"]),
        (1, &json!(false)),
        "{report:#}"
    );
    assert!(
        losses(&report)
            .iter()
            .any(|(_, why)| why.contains("P01 failed to respond within timeout"))
    );
    let choices = report["answer_times"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["question"] == "choice");
    let row = choices.unwrap();
    assert!(
        row["late"].as_u64().unwrap() + row["unanswered"].as_u64().unwrap() > 0,
        "{row:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_changes_its_mind_when_asked_again_loses_nothing_and_is_told() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static ODD: AtomicBool = AtomicBool::new(false);
    let practice = Practice::new();
    let fickle: Behaviour = |message, right| {
        let even = is_choice(message) && ODD.fetch_xor(true, Ordering::SeqCst);
        if even {
            Answer::new(200, right.body.replace("\"odd\"", "\"even\""))
        } else {
            right
        }
    };
    let done = practise(&practice, fickle, &["--json", "--choice-timeout", "1"]).await;
    assert_eq!((done.code, losses(&done.json()).len()), (0, 0), "{done:?}");
    let oddities = done.json()["oddities"].to_string();
    assert!(
        oddities.contains("it answered the same CHOOSE_PARITY_CALL with"),
        "{oddities}"
    );
    assert!(
        oddities.contains("the first answer was lost, and the second counted"),
        "{oddities}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_choice_under_another_name_is_read_as_a_referee_reads_it() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static ODD: AtomicBool = AtomicBool::new(false);
    let practice = Practice::new();
    let fickle: Behaviour = |message, right| {
        let body = right.body.replace("parity_choice", "choice");
        let even = is_choice(message) && ODD.fetch_xor(true, Ordering::SeqCst);
        Answer::new(
            200,
            if even {
                body.replace("\"odd\"", "\"even\"")
            } else {
                body
            },
        )
    };
    let done = practise(&practice, fickle, &["--json", "--choice-timeout", "1"]).await;
    assert_eq!((done.code, losses(&done.json()).len()), (0, 0), "{done:?}");
    let oddities = done.json()["oddities"].to_string();
    assert!(
        oddities.contains(r#"\"odd\""#) && oddities.contains(r#"\"even\""#),
        "{oddities}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_cannot_know_its_id_and_token_is_given_both() {
    let practice = Practice::new();
    let nameless: Behaviour = |_, right| {
        let body = right
            .body
            .replace(r#""player_id":"P01""#, r#""player_id":null"#);
        Answer::new(
            200,
            body.replace("player:P01", "player:me")
                .replace("tok_p01_of_the_tests", ""),
        )
    };
    let args = ["--json", "--choice-timeout", "1", "--conformance", "strict"];
    let done = practise(&practice, nameless, &args).await;
    assert_eq!((done.code, losses(&done.json()).len()), (0, 0), "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_departs_from_the_rules_plays_on_and_is_told_how() {
    let practice = Practice::new();
    let short: Behaviour = |_, right| Answer::new(200, right.body.replace("Z\"", "+00:00Z\""));
    let done = practise(&practice, short, &["--json", "--choice-timeout", "1"]).await;
    let report = done.json();
    assert_eq!((done.code, losses(&report).len()), (0, 0), "{report:#}");
    assert!(
        report["deviations"].to_string().contains("timestamp"),
        "{report:#}"
    );
    assert!(
        report["verdict"]
            .as_str()
            .unwrap()
            .contains("a strict league would refuse"),
        "{report:#}"
    );
}

#[test]
fn one_that_dies_after_it_has_registered_loses_and_is_named() {
    let practice = Practice::new();
    let listen = free_address().to_string();
    let mut command = practice.practice(&["--listen", &listen, "--json"]);
    command.args(["--join-timeout", "0.3", "--choice-timeout", "0.3"]);
    let running = command.spawn().unwrap();
    let dead = free_address();
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "register_player", "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:ada",
            "timestamp": "2026-03-02T08:55:00Z", "conversation_id": "conv-register-ada-1",
            "player_meta": {
                "display_name": "Ada", "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": format!("http://{dead}/mcp"),
            },
        },
    });
    let answer = tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(register(&listen, &request));
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
    let done = Output::from(running.wait_with_output().unwrap());
    let report = done.json();
    assert_eq!((done.code, losses(&report).len()), (1, 18), "{report:#}");
    assert!(
        report["verdict"]
            .as_str()
            .unwrap()
            .starts_with("Ada lost all 18 matches"),
        "{report:#}"
    );
}

/// Registers as soon as someone listens.
async fn register(listen: &str, request: &Value) -> Value {
    use matchday_net::client::{CallError, Client};
    let url = format!("http://{listen}/mcp");
    let received = eventually_async("the practice listens", async || {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        match Client::new()
            .post(&url, request.to_string().into(), deadline, 1 << 20)
            .await
        {
            Err(CallError::NoConnection(_)) => None,
            answered => Some(answered.unwrap()),
        }
    })
    .await;
    serde_json::from_slice(&received.body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_wants_tokens_and_was_fetched_is_told_to_register() {
    let practice = Practice::new();
    let listen = free_address().to_string();
    let nobody = format!("http://{}/mcp", free_address());
    let _player =
        Process::start(practice.program(&["player", "--listen", &listen, "--manager", &nobody]));
    let url = format!("http://{listen}/mcp");
    let done = loop {
        let _ = std::fs::remove_file(practice.store());
        let done = run(practice.practice(&["--against", &url])).await;
        // Until the player listens nobody is there.
        if !done.err.contains("nothing listens") {
            break done;
        }
    };
    assert_eq!(done.code, 1, "{done:?}");
    let said = done.complaint();
    assert!(
        said.contains("answers an invitation with E0") && said.contains("without --against"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_for_people_is_no_agent() {
    let practice = Practice::new();
    let done = practise(
        &practice,
        |_, _| Answer::new(200, "<html>It works!</html>"),
        &[],
    )
    .await;
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.complaint().contains("answers with a page for people"),
        "{done:?}"
    );
}
