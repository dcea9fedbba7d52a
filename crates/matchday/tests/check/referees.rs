//! Referees under check: our own, those of the zoo, and our own behind a proxy that spoils one thing.

use crate::ground::{Done, Running, free_address, program};
use crate::proxy::{Spoil, proxy};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Instant;

/// Starts a check that waits at a port, then whoever registers there.
async fn check(args: &[&str], start: impl FnOnce(&str) -> Running) -> Done {
    let listen = free_address().to_string();
    let began = Instant::now();
    let mut command = program(&["check", "referee", "--wait", "--listen", &listen, "--json"]);
    let check = command.args(args).spawn().unwrap();
    while tokio::net::TcpStream::connect(&listen).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let _referee = start(&format!("http://{listen}/mcp"));
    let ended = tokio::task::spawn_blocking(move || check.wait_with_output().unwrap()).await.unwrap();
    Done::from((ended, began.elapsed()))
}

fn ours(folder: &tempfile::TempDir, manager: &str) -> Running {
    let listen = free_address().to_string();
    let mut command = program(&["referee", "--listen", &listen, "--manager", manager, "--name", "Whistle"]);
    command.current_dir(folder.path());
    Running::start(command)
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_passes_with_nothing_but_passes() {
    let folder = tempfile::tempdir().unwrap();
    let done = check(&[], |manager| ours(&folder, manager)).await;
    for verdict in ["fail", "warning", "not_checked"] {
        assert_eq!(done.rules(verdict), BTreeSet::new(), "{verdict}: {}", done.troubles());
    }
    assert!(done.rules("pass").len() > 40, "{}", done.troubles());
    assert_eq!(done.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quick_check_passes_too() {
    let folder = tempfile::tempdir().unwrap();
    let done = check(&["--quick"], |manager| ours(&folder, manager)).await;
    assert_eq!((done.rules("fail"), done.code), (BTreeSet::new(), 0), "{}", done.troubles());
}

/// What is spoilt on the way from our referee to its manager, and the rules that are broken by it.
type Case = (&'static str, Spoil, &'static [&'static str]);

fn is_report(request: &Value) -> bool {
    request["params"]["message_type"] == "MATCH_RESULT_REPORT"
}

const REPORTS: &[Case] = &[
    ("nothing", Spoil::NOTHING, &[]),
    (
        "the scores",
        Spoil {
            request: |request| {
                if is_report(request) {
                    request["params"]["result"]["score"] = json!({"P01": 2, "P02": 1});
                }
            },
            ..Spoil::NOTHING
        },
        &["report.draw", "report.right"],
    ),
    (
        "the token",
        Spoil {
            request: |request| {
                if is_report(request) {
                    request["params"]["auth_token"] = json!("tok_ref01_of_another");
                }
            },
            ..Spoil::NOTHING
        },
        &["report.whole"],
    ),
    (
        "the conversation",
        Spoil {
            request: |request| {
                if is_report(request) {
                    request["params"]["conversation_id"] = json!("conv-report");
                }
            },
            ..Spoil::NOTHING
        },
        &["envelope.conversation"],
    ),
    (
        "the sender",
        Spoil {
            request: |request| {
                if is_report(request) {
                    request["params"]["sender"] = json!("referee:whistle");
                }
            },
            ..Spoil::NOTHING
        },
        &["envelope.whole"],
    ),
    (
        "the details",
        Spoil {
            request: |request| {
                if is_report(request) {
                    request["params"]["result"].as_object_mut().unwrap().remove("details");
                }
            },
            ..Spoil::NOTHING
        },
        &["report.whole"],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_referee_that_reports_one_thing_wrongly_breaks_that_rule_and_no_other() {
    for (name, spoil, broken) in REPORTS {
        let folder = tempfile::tempdir().unwrap();
        let listen = free_address().to_string();
        let front = proxy(&format!("http://{listen}/mcp"), *spoil).await;
        let mut command = program(&["check", "referee", "--wait", "--listen", &listen, "--json", "--quick"]);
        let check = command.spawn().unwrap();
        while tokio::net::TcpStream::connect(&listen).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let _referee = ours(&folder, &front.url);
        let began = Instant::now();
        let ended = tokio::task::spawn_blocking(move || check.wait_with_output().unwrap()).await.unwrap();
        let done = Done::from((ended, began.elapsed()));
        let wanted: BTreeSet<String> = broken.iter().map(ToString::to_string).collect();
        assert_eq!(done.rules("fail"), wanted, "{name}:\n{}", done.troubles());
    }
}
