//! Referees under check: our own, those of the zoo, and our own behind a proxy that spoils one thing.

use crate::proxy::{Spoil, proxy};
use crate::report::{Report as _, program};
use matchday_testkit::address::free_address;
use matchday_testkit::address::until_listening;
use matchday_testkit::cli::{Output, Process};
use matchday_testkit::tools;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Starts a check that waits at a port, then the referee that registers there.
async fn check(args: &[&str], start: impl FnOnce(&str) -> Process) -> Output {
    let listen = free_address().to_string();
    let mut command = program(&["check", "referee", "--wait", "--listen", &listen, "--json"]);
    let check = command.args(args).spawn().unwrap();
    until_listening(&listen);
    let _referee = start(&format!("http://{listen}/mcp"));
    let ended = tokio::task::spawn_blocking(move || check.wait_with_output().unwrap())
        .await
        .unwrap();
    Output::from(ended)
}

fn ours(folder: &tempfile::TempDir, manager: &str) -> Process {
    let listen = free_address().to_string();
    let mut command = program(&[
        "referee",
        "--listen",
        &listen,
        "--manager",
        manager,
        "--name",
        "Whistle",
    ]);
    command.current_dir(folder.path());
    Process::start(command)
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_passes_with_nothing_but_passes() {
    let folder = tempfile::tempdir().unwrap();
    let done = check(&[], |manager| ours(&folder, manager)).await;
    for verdict in ["fail", "warning", "not_checked"] {
        assert_eq!(
            done.rules(verdict),
            BTreeSet::new(),
            "{verdict}: {}",
            done.troubles()
        );
    }
    assert!(done.rules("pass").len() > 40, "{}", done.troubles());
    assert_eq!(done.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quick_check_passes_too() {
    let folder = tempfile::tempdir().unwrap();
    let done = check(&["--quick"], |manager| ours(&folder, manager)).await;
    assert_eq!(
        (done.rules("fail"), done.code),
        (BTreeSet::new(), 0),
        "{}",
        done.troubles()
    );
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
                    request["params"]["result"]
                        .as_object_mut()
                        .unwrap()
                        .remove("details");
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
        let mut command = program(&[
            "check", "referee", "--wait", "--listen", &listen, "--json", "--quick",
        ]);
        let check = command.spawn().unwrap();
        until_listening(&listen);
        let _referee = ours(&folder, &front.url);
        let ended = tokio::task::spawn_blocking(move || check.wait_with_output().unwrap())
            .await
            .unwrap();
        let done = Output::from(ended);
        let wanted: BTreeSet<String> = broken.iter().map(ToString::to_string).collect();
        assert_eq!(done.losing(), wanted, "{name}:\n{}", done.troubles());
    }
}

/// What all referees of the zoo break, since they know no more than matches in which all goes well.
const ZOO_ALL: &[&str] = &[
    "fault.both-silent",
    "fault.declines",
    "fault.invalid-choice",
    "fault.never-joins",
    "fault.no-connection",
    "fault.silent-choice",
    "fault.wrong-match",
    "report.retried",
    "robust.duplicate-round",
];

/// And each beyond that.
const ZOO: &[(&str, &[&str])] = &[
    ("standard", &[]),
    (
        "lower_case",
        &[
            "ask.together",
            "envelope.conversation",
            "envelope.whole",
            "invite.together",
            "register.request",
        ],
    ),
    (
        "terse",
        &[
            "ask.together",
            "invite.together",
            "over.both",
            "report.whole",
        ],
    ),
];

async fn check_zoo(name: &str) -> Output {
    check(&[], |manager| {
        Process::start(crate::zoo::agent_of_zoo(
            &format!("referees/{name}"),
            manager,
            name,
        ))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn referees_of_the_zoo_break_what_they_break() {
    if !tools::require("python3") {
        return;
    }
    // All at once: each takes as long as silence takes.
    let [one, two, three] = ZOO else {
        panic!("three")
    };
    let (a, b, c) = tokio::join!(check_zoo(one.0), check_zoo(two.0), check_zoo(three.0));
    for (done, (name, broken)) in [a, b, c].iter().zip(ZOO) {
        let wanted: BTreeSet<String> = ZOO_ALL
            .iter()
            .chain(*broken)
            .map(ToString::to_string)
            .collect();
        assert_eq!(done.losing(), wanted, "{name}:\n{}", done.troubles());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_referee_that_plays_nothing_is_told_so_once() {
    if !tools::require("python3") {
        return;
    }
    let done = check_zoo("null_token").await;
    let wanted = ["invite.whole", "report.played", "report.whole"].map(str::to_owned);
    assert_eq!(
        done.rules("fail"),
        BTreeSet::from(wanted),
        "{}",
        done.troubles()
    );
    let note = done.rule("fault.never-joins")["note"].to_string();
    assert!(note.contains("fix that first"), "{note}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_referee_that_reports_a_match_that_nobody_played_is_found_out() {
    if !tools::require("python3") {
        return;
    }
    let done = check_zoo("invents").await;
    let played = done.rule("report.played");
    assert_eq!(played["verdict"], "fail", "{}", done.troubles());
    assert!(
        played["exchange"]["request"]
            .to_string()
            .contains("MATCH_RESULT_REPORT"),
        "{played}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_waiting_only_its_form_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let listen = free_address().to_string();
    let manager = format!("http://{}/mcp", free_address());
    let mut command = program(&[
        "referee",
        "--listen",
        &listen,
        "--manager",
        &manager,
        "--name",
        "Whistle",
    ]);
    command.current_dir(folder.path());
    let _referee = Process::start(command);
    until_listening(&listen);
    let done = crate::report::run_aside(&[
        "check",
        "referee",
        &format!("http://{listen}/mcp"),
        "--json",
    ])
    .await;
    assert_eq!(
        (done.rules("fail"), done.code),
        (BTreeSet::new(), 1),
        "{}",
        done.troubles()
    );
    assert!(
        done.rule("report.right")["note"]
            .to_string()
            .contains("--wait")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_referee_that_believes_anyone_and_cannot_count_is_found_out() {
    if !tools::require("python3") {
        return;
    }
    let done = check_zoo("credulous").await;
    let beyond = [
        "over.right",
        "report.conflict",
        "report.once",
        "robust.late-answer",
        "trust.forged-choice",
    ];
    let wanted: BTreeSet<String> = ZOO_ALL
        .iter()
        .copied()
        .chain(beyond)
        .map(str::to_owned)
        .collect();
    assert_eq!(done.rules("fail"), wanted, "{}", done.troubles());
}
