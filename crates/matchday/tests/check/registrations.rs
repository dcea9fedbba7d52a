//! `--wait`: how an agent registers is judged as a manager judges it, and it is let in if any manager would.

use crate::fake_player::fake_player;
use crate::report::{Report as _, program};
use matchday_net::client::{CallError, Client};
use matchday_testkit::address::free_address;
use matchday_testkit::cli::Output;
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::fake_peer::FakePeer;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

fn registration(stub: &FakePeer) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "register_player", "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:ada",
            "timestamp": "2026-03-02T08:55:00Z", "conversation_id": "conv-register-ada-1",
            "player_meta": {
                "display_name": "Ada", "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": stub.url(),
            },
        },
    })
}

/// Registers as soon as the check listens; the manager's answer.
async fn register(manager: &str, request: &Value) -> Value {
    let client = Client::new();
    let received = eventually_async("the check listens", async || {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        match client
            .post(manager, request.to_string().into(), deadline, 1 << 20)
            .await
        {
            Err(CallError::NoConnection(_)) => None,
            answered => Some(answered.unwrap()),
        }
    })
    .await;
    serde_json::from_slice(&received.body).unwrap()
}

/// Checks a right player that registers with what `spoil` leaves of a right registration.
async fn check(spoil: impl Fn(&mut Value)) -> (Output, Value) {
    let stub = fake_player(|_, _, right| right).await;
    let listen = free_address().to_string();
    let check = program(&[
        "check", "player", "--wait", "--listen", &listen, "--json", "--quick",
    ])
    .spawn()
    .unwrap();
    let mut request = registration(&stub);
    spoil(&mut request);
    let answer = register(&format!("http://{listen}/mcp"), &request).await;
    let output = tokio::task::spawn_blocking(move || check.wait_with_output().unwrap())
        .await
        .unwrap();
    (Output::from(output), answer)
}

fn broken(done: &Output) -> BTreeSet<String> {
    done.losing()
        .into_iter()
        .filter(|id| id.starts_with("register."))
        .collect()
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_registration_is_let_in() {
    let (done, answer) = check(|_| {}).await;
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
    // This player shows a token of its own making, and not the one that it was given.
    assert_eq!(
        broken(&done),
        set(&["register.identity"]),
        "{}",
        done.troubles()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_a_lenient_manager_takes_is_let_in_and_reported() {
    let (done, answer) =
        check(|request| request["params"]["timestamp"] = json!("20260302T085500Z")).await;
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
    let wanted = set(&[
        "register.accepted",
        "register.envelope",
        "register.identity",
    ]);
    assert_eq!(broken(&done), wanted, "{}", done.troubles());
    let note = done.rule("register.envelope")["note"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        note.contains("E021") && note.contains("timestamp form timestamp"),
        "{note}"
    );
    let accepted = done.rule("register.accepted");
    let shown = accepted["exchange"]["answer"].as_str().unwrap();
    assert!(
        shown.contains("E021") && !shown.contains("ACCEPTED"),
        "the strict manager's answer: {shown}"
    );
    assert!(
        accepted["note"]
            .to_string()
            .contains("a strict one refuses it: timestamp"),
        "{accepted}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_leaves_after_it_was_refused_is_told_why() {
    let gone = format!("http://{}/mcp", free_address());
    let (done, answer) = check(|request| {
        request["params"]["player_meta"]["version"] = json!(1);
        request["params"]["player_meta"]["contact_endpoint"] = json!(gone);
    })
    .await;
    assert_eq!(answer["result"]["error_code"], "E002", "{answer}");
    let stopped = done.json()["stopped"].as_str().unwrap().to_owned();
    assert!(
        stopped.contains("refused and is gone: player_meta.version"),
        "{stopped}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_manager_takes_is_refused_and_the_player_is_checked_all_the_same() {
    let (done, answer) =
        check(|request| request["params"]["player_meta"]["version"] = json!(1)).await;
    assert_eq!(answer["result"]["error_code"], "E002", "{answer}");
    assert_eq!(
        broken(&done),
        set(&["register.accepted", "register.meta"]),
        "{}",
        done.troubles()
    );
    assert_eq!(
        done.rule("choice.parity")["verdict"],
        "pass",
        "{}",
        done.troubles()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_dialect_is_named() {
    let (done, answer) = check(|request| *request = request["params"].take()).await;
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    let rule = done.rule("register.form");
    assert_eq!(rule["verdict"], "warning");
    assert!(
        rule["note"].as_str().unwrap().contains("\"bare\""),
        "{rule}"
    );
    // It understands the standard dialect all the same.
    assert_eq!(
        done.rule("rpc.dialect")["verdict"],
        "pass",
        "{}",
        done.troubles()
    );
}
