//! Managers under check: our own, those of the zoo, and our own behind a proxy that spoils one thing.

use crate::ground::{Done, Running, free_address, program, run_aside};
use crate::proxy::{Spoil, proxy};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A fresh league of ours, for as long as it is kept.
struct League {
    url: String,
    _folder: tempfile::TempDir,
    _manager: Running,
}

fn league() -> League {
    let folder = tempfile::tempdir().unwrap();
    let listen = free_address().to_string();
    let mut command = program(&["manager", "--listen", &listen, "--lead", "0.2"]);
    command.current_dir(folder.path());
    let manager = Running::start(command);
    while std::net::TcpStream::connect(&listen).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    League { url: format!("http://{listen}/mcp"), _folder: folder, _manager: manager }
}

async fn check(url: &str, args: &[&str]) -> Done {
    run_aside(&[&["check", "manager", url, "--json"], args].concat()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_passes_with_nothing_but_passes() {
    let league = league();
    let done = check(&league.url, &[]).await;
    for verdict in ["fail", "warning", "not_checked"] {
        assert_eq!(done.rules(verdict), BTreeSet::new(), "{verdict}: {}", done.troubles());
    }
    assert!(done.rules("pass").len() > 60, "{}", done.troubles());
    assert_eq!(done.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quick_check_starts_nothing() {
    let league = league();
    let done = check(&league.url, &["--quick"]).await;
    assert_eq!((done.rules("fail"), done.code), (BTreeSet::new(), 0), "{}", done.troubles());
    assert!(done.err.contains("use a fresh one"), "{}", done.err);
}

/// What is spoilt, and the rules that are broken by it.
type Case = (&'static str, Spoil, &'static [&'static str]);

fn kind(request: &Value) -> &str {
    request["params"]["message_type"].as_str().unwrap_or_default()
}

fn is_error(answer: &Value, code: &str) -> bool {
    answer["result"]["error_code"] == code
}

/// Answers by a manager that is our own but for one thing.
const ANSWERS: &[Case] = &[
    ("nothing", Spoil::NOTHING, &[]),
    (
        "another conversation",
        Spoil { answer: |_, answer| answer["result"]["conversation_id"] = json!("conv-1"), ..Spoil::NOTHING },
        &["envelope.conversation"],
    ),
    (
        "signs with its name",
        Spoil {
            answer: |_, answer| {
                if answer["result"]["sender"].is_string() {
                    answer["result"]["sender"] = json!("referee:REF77");
                }
            },
            ..Spoil::NOTHING
        },
        &["envelope.whole"],
    ),
    (
        "forgets the league",
        Spoil {
            answer: |asked, answer| {
                if kind(asked) == "LEAGUE_REGISTER_REQUEST" {
                    answer["result"].as_object_mut().unwrap().remove("league_id");
                }
            },
            ..Spoil::NOTHING
        },
        &["register.player"],
    ),
    (
        "confuses codes",
        Spoil {
            answer: |_, answer| {
                if is_error(answer, "E021") {
                    answer["result"]["error_code"] = json!("E002");
                }
            },
            ..Spoil::NOTHING
        },
        &["refuse.timestamp"],
    ),
    (
        "repairs the protocol",
        Spoil {
            request: |asked| {
                if asked["params"]["protocol"].is_string() {
                    asked["params"]["protocol"] = json!("league.v2");
                }
            },
            ..Spoil::NOTHING
        },
        &["refuse.protocol"],
    ),
    (
        "takes anyone's query",
        Spoil {
            answer: |_, answer| {
                if is_error(answer, "E012") {
                    answer["result"] = json!({
                        "protocol": "league.v2", "message_type": "LEAGUE_QUERY_RESPONSE", "sender": "league_manager",
                        "timestamp": "2026-03-02T09:00:00Z", "conversation_id": answer["result"]["conversation_id"],
                        "query_type": "GET_STANDINGS", "success": true, "data": {"standings": []},
                    });
                }
            },
            ..Spoil::NOTHING
        },
        &["query.false-token"],
    ),
    (
        "knows nobody",
        Spoil {
            answer: |_, answer| {
                if answer["result"]["data"]["players"].is_array() {
                    answer["result"]["data"]["players"] = json!([]);
                }
            },
            ..Spoil::NOTHING
        },
        &["query.players"],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_that_answers_one_thing_wrongly_breaks_that_rule_and_no_other() {
    for (name, spoil, broken) in ANSWERS {
        let league = league();
        let front = proxy(&league.url, *spoil).await;
        let done = check(&front.url, &["--quick"]).await;
        let wanted: BTreeSet<String> = broken.iter().map(ToString::to_string).collect();
        assert_eq!(done.rules("fail"), wanted, "{name}:\n{}", done.troubles());
    }
}

/// Managers that take what they should refuse, or count wrongly: seen only when a whole league is played.
const LEAGUES: &[Case] = &[
    (
        "takes every report",
        Spoil {
            answer: |asked, answer| {
                if kind(asked) == "MATCH_RESULT_REPORT" && answer["result"]["error_code"].is_string() {
                    answer["result"] = json!({
                        "protocol": "league.v2", "message_type": "MATCH_RESULT_ACK", "sender": "league_manager",
                        "timestamp": "2026-03-02T09:00:00Z", "match_id": asked["params"]["match_id"],
                        "conversation_id": asked["params"]["conversation_id"], "status": "recorded",
                    });
                }
            },
            ..Spoil::NOTHING
        },
        &[
            "result.by-player",
            "result.conflict",
            "result.false-token",
            "result.no-token",
            "result.other-league",
            "result.other-referee",
            "result.scores",
            "result.unknown-match",
        ],
    ),
    (
        "refuses what it has counted",
        Spoil {
            answer: |_, answer| {
                if answer["result"]["duplicate"] == true {
                    answer["result"]["message_type"] = json!("LEAGUE_STATUS");
                }
            },
            ..Spoil::NOTHING
        },
        &["result.duplicate"],
    ),
    (
        "counts wrongly",
        Spoil {
            answer: |_, answer| {
                if answer["result"]["standings"][0]["points"].is_u64() {
                    answer["result"]["standings"][0]["points"] = json!(77);
                }
            },
            ..Spoil::NOTHING
        },
        &["standings.right"],
    ),
    (
        "starts for anyone, whatever league",
        Spoil {
            answer: |asked, answer| {
                if kind(asked) == "START_LEAGUE" && answer["result"]["error_code"].is_string() {
                    answer["result"] = json!({"status": "received"});
                }
            },
            ..Spoil::NOTHING
        },
        &["start.false-token", "start.other-league"],
    ),
    (
        "lets everyone in at any time",
        Spoil {
            answer: |_, answer| {
                if is_error(answer, "E019") {
                    answer["result"]["status"] = json!("ACCEPTED");
                }
            },
            ..Spoil::NOTHING
        },
        &["register.late"],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_that_plays_one_thing_wrongly_breaks_that_rule_and_no_other() {
    for (name, spoil, broken) in LEAGUES {
        let league = league();
        let front = proxy(&league.url, *spoil).await;
        let done = check(&front.url, &[]).await;
        let wanted: BTreeSet<String> = broken.iter().map(ToString::to_string).collect();
        assert_eq!(done.rules("fail"), wanted, "{name}:\n{}", done.troubles());
    }
}

/// The managers of the zoo, which know just enough to run a league among friends: what all of them break.
const ZOO_ALL: &[&str] = &[
    "query.false-token",
    "query.missing-player",
    "query.next-match",
    "query.no-token",
    "query.player-stats",
    "query.players",
    "query.schedule",
    "query.standings",
    "query.stranger",
    "query.unknown-player",
    "query.unknown-type",
    "refuse.message-type",
    "refuse.missing-field",
    "refuse.protocol",
    "refuse.timestamp",
    "refuse.wrong-type",
    "register.again",
    "register.game-type",
    "register.protocol-version",
    "rpc.parse-error",
    "start.false-token",
    "start.other-league",
    "start.status",
    "start.twice",
];

/// And each beyond that. The direct one falls over its second referee, so that no match is ever given out.
const ZOO: &[(&str, &[&str])] = &[
    ("direct", &[]),
    (
        "announcer",
        &[
            "league.completed",
            "register.identities",
            "register.late",
            "result.by-player",
            "result.conflict",
            "result.false-token",
            "result.no-token",
            "result.other-league",
            "result.other-referee",
            "result.scores",
            "result.unknown-match",
            "standings.sent",
        ],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn managers_of_the_zoo_break_what_they_break() {
    if !crate::zoo::python_is_here() {
        return;
    }
    for (name, broken) in ZOO {
        let mut animal = crate::zoo::animal(&format!("managers/{name}"), "4", name);
        let mut child =
            animal.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line)
            .unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let done = check(told["listening"].as_str().unwrap(), &[]).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let wanted: BTreeSet<String> = ZOO_ALL.iter().chain(*broken).map(ToString::to_string).collect();
        assert_eq!(done.rules("fail"), wanted, "{name}:\n{}", done.troubles());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_told_in_a_few_lines() {
    let league = league();
    let done = run_aside(&["check", "manager", &league.url, "--quick"]).await;
    let (text, _) = done.out.rsplit_once(" (manager at ").unwrap();
    insta::assert_snapshot!(text);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_manager_is_told_in_one_line() {
    let nobody = format!("http://{}/mcp", free_address());
    let done = run_aside(&["check", "manager", &nobody]).await;
    assert_eq!((done.code, done.out.as_str()), (1, ""), "{done:?}");
    assert!(done.err.contains(&format!("nobody listens at {nobody}")), "{}", done.err);
}
