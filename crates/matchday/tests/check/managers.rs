//! Managers under check: our own, those of the zoo, and our own behind a proxy that spoils one thing.

use crate::proxy::{Spoil, proxy};
use crate::report::{Report as _, program, run_aside};
use matchday_testkit::address::free_address;
use matchday_testkit::address::until_listening;
use matchday_testkit::cli::{Output, Process};
use matchday_testkit::tools;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A fresh league of ours, for as long as it is kept.
struct League {
    url: String,
    _folder: tempfile::TempDir,
    _manager: Process,
}

fn league() -> League {
    let folder = tempfile::tempdir().unwrap();
    let listen = free_address().to_string();
    let mut command = program(&[
        "manager",
        "--listen",
        &listen,
        "--lead",
        "0.2",
        "--conformance",
        "strict",
    ]);
    command.current_dir(folder.path());
    let manager = Process::start(command);
    until_listening(&listen);
    League {
        url: format!("http://{listen}/mcp"),
        _folder: folder,
        _manager: manager,
    }
}

async fn check(url: &str, args: &[&str]) -> Output {
    run_aside(&[&["check", "manager", url, "--json"], args].concat()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_passes_with_nothing_but_passes() {
    let league = league();
    let done = check(&league.url, &[]).await;
    for verdict in ["fail", "warning", "not_checked"] {
        assert_eq!(
            done.rules(verdict),
            BTreeSet::new(),
            "{verdict}: {}",
            done.troubles()
        );
    }
    assert!(done.rules("pass").len() > 60, "{}", done.troubles());
    assert_eq!(done.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quick_check_starts_nothing() {
    let league = league();
    let done = check(&league.url, &["--quick"]).await;
    assert_eq!(
        (done.rules("fail"), done.code),
        (BTreeSet::new(), 0),
        "{}",
        done.troubles()
    );
    assert!(done.err.contains("use a fresh one"), "{}", done.err);
}

/// What is spoilt, and the rules that are broken by it.
type Case = (&'static str, Spoil, &'static [&'static str]);

fn kind(request: &Value) -> &str {
    request["params"]["message_type"]
        .as_str()
        .unwrap_or_default()
}

fn is_error(answer: &Value, code: &str) -> bool {
    answer["result"]["error_code"] == code
}

/// Answers by a manager that is our own but for one thing.
const ANSWERS: &[Case] = &[
    ("nothing", Spoil::NOTHING, &[]),
    (
        "another conversation",
        Spoil {
            answer: |_, answer| answer["result"]["conversation_id"] = json!("conv-1"),
            ..Spoil::NOTHING
        },
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
        "forgets the league, which the message catalogue does too",
        Spoil {
            answer: |asked, answer| {
                if kind(asked) == "LEAGUE_REGISTER_REQUEST" {
                    answer["result"]
                        .as_object_mut()
                        .unwrap()
                        .remove("league_id");
                }
            },
            ..Spoil::NOTHING
        },
        &[],
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
];

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_that_answers_one_thing_wrongly_breaks_that_rule_and_no_other() {
    for (name, spoil, broken) in ANSWERS {
        let league = league();
        let front = proxy(&league.url, *spoil).await;
        let done = check(&front.url, &["--quick"]).await;
        assert_eq!(done.broken(), set(broken), "{name}:\n{}", done.troubles());
    }
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_players_is_ours_so_that_one_without_them_is_told_and_fails_nobody() {
    let nobody = Spoil {
        answer: |_, answer| {
            if answer["result"]["data"]["players"].is_array() {
                answer["result"]["data"]["players"] = json!([]);
            }
        },
        ..Spoil::NOTHING
    };
    let league = league();
    let front = proxy(&league.url, nobody).await;
    let done = check(&front.url, &["--quick"]).await;
    assert_eq!(
        done.rules("warning"),
        BTreeSet::from(["query.players".to_owned()]),
        "{}",
        done.troubles()
    );
    assert_eq!(done.rules("fail"), BTreeSet::new(), "{}", done.troubles());
}

/// Managers that take what they should refuse, or count wrongly: seen only when a whole league is played.
const LEAGUES: &[Case] = &[
    (
        "takes every report",
        Spoil {
            answer: |asked, answer| {
                if kind(asked) == "MATCH_RESULT_REPORT"
                    && answer["result"]["error_code"].is_string()
                {
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
        &["start.false-token"],
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
        assert_eq!(done.losing(), set(broken), "{name}:\n{}", done.troubles());
    }
}

/// A manager of the zoo that listens, for as long as it is kept.
struct ZooManager {
    url: String,
    child: std::process::Child,
}

impl ZooManager {
    fn start(script: &str, first: &str, name: &str) -> Self {
        let mut agent = crate::zoo::agent_of_zoo(&format!("managers/{script}"), first, name);
        let mut child = agent
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(
            &mut std::io::BufReader::new(child.stdout.as_mut().unwrap()),
            &mut line,
        )
        .unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        Self {
            url: told["listening"].as_str().unwrap().to_owned(),
            child,
        }
    }
}

impl Drop for ZooManager {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Managers that are none of ours: a habit each, a fault that is planted into it, and the rule that the fault breaks.
const FAULTS: &[(&str, &str, &str)] = &[
    ("catalogue", "takes_forged_reports", "result.false-token"),
    ("types_as_methods", "counts_wrongly", "standings.right"),
    ("wrapped", "one_token_for_all", "register.identities"),
    ("assigns", "plays_a_pair_twice", "round.once"),
    ("bare", "tells_endpoints", "round.private"),
    ("error_null", "takes_latecomers", "register.late"),
];

/// Checks a manager with this habit and fault to its end.
async fn check_habit(habit: &str, fault: &str) -> Output {
    let manager = ZooManager::start("habits", habit, fault);
    check(&manager.url, &[]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_planted_in_each_manager_of_the_zoo_is_named() {
    if !tools::require("python3") {
        return;
    }
    for pair in FAULTS.chunks(2) {
        let [(one, fault, rule), (other, other_fault, other_rule)] = pair else {
            panic!("pairs")
        };
        let (done, second) = tokio::join!(check_habit(one, fault), check_habit(other, other_fault));
        for (habit, rule, done) in [(one, rule, done), (other, other_rule, second)] {
            assert_eq!(
                done.rule(rule)["verdict"],
                "fail",
                "{habit}:\n{}",
                done.troubles()
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_fault_each_plays_to_the_end_and_none_of_these_rules_is_broken() {
    if !tools::require("python3") {
        return;
    }
    for pair in FAULTS.chunks(2) {
        let [(one, ..), (other, ..)] = pair else {
            panic!("pairs")
        };
        let (done, second) = tokio::join!(check_habit(one, "none"), check_habit(other, "none"));
        for (habit, done) in [(one, done), (other, second)] {
            for (_, _, rule) in FAULTS {
                assert_eq!(
                    done.rule(rule)["verdict"],
                    "pass",
                    "{habit}, {rule}:\n{}",
                    done.troubles()
                );
            }
            assert_eq!(
                done.rule("league.completed")["verdict"],
                "pass",
                "{habit}:\n{}",
                done.troubles()
            );
        }
    }
}

/// The examples of the message catalogue itself, as the answers and notices of a manager.
#[tokio::test(flavor = "multi_thread")]
async fn a_manager_that_answers_as_the_catalogue_shows_breaks_no_rule() {
    if !tools::require("python3") {
        return;
    }
    let done = check_habit("catalogue", "none").await;
    assert_eq!(done.rules("fail"), BTreeSet::new(), "{}", done.troubles());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_that_should_have_been_refused_is_said_to_be_left_behind() {
    if !tools::require("python3") {
        return;
    }
    let done = check_habit("catalogue", "takes_latecomers").await;
    let remarks = done.json()["remarks"].to_string();
    assert!(
        remarks.contains("left behind in the league: P05, accepted as a player after the start"),
        "{remarks}"
    );
}

/// Of answers that are right: that it knows the agent already, that it knows no START_LEAGUE, refusals by another name.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_right_is_not_called_wrong() {
    let known = Spoil {
        answer: |asked, answer| {
            let is_again = asked["params"]["conversation_id"]
                .as_str()
                .is_some_and(|id| id.starts_with("conv-again"));
            if is_again && answer["result"]["status"] == "ACCEPTED" {
                answer["result"]["reason"] = json!("Already registered");
            }
            if let Some(code) = answer["result"].get("error_code").cloned() {
                answer["result"]["message_type"] = json!("ERROR");
                answer["result"]["error_code"] = code;
            }
        },
        ..Spoil::NOTHING
    };
    let league = league();
    let front = proxy(&league.url, known).await;
    let done = check(&front.url, &["--quick"]).await;
    for rule in ["register.again", "query.no-token", "query.false-token"] {
        assert_eq!(
            done.rule(rule)["verdict"],
            "pass",
            "{rule}: {}",
            done.troubles()
        );
    }
}

/// A manager that registers whoever asks, whatever is wrong with the request.
#[tokio::test(flavor = "multi_thread")]
async fn what_must_be_refused_comes_after_the_league_so_that_a_manager_that_takes_it_is_judged_all_the_same()
 {
    let credulous = Spoil {
        request: |asked| {
            let Some(message) = asked.get_mut("params") else {
                return;
            };
            if message["message_type"] == "LEAGUE_REGISTER_REQUEST" && message["protocol"].is_null()
            {
                message["protocol"] = json!("league.v2");
            }
        },
        ..Spoil::NOTHING
    };
    let league = league();
    let front = proxy(&league.url, credulous).await;
    let done = check(&front.url, &[]).await;
    for rule in ["league.completed", "round.announced", "standings.right"] {
        assert_eq!(
            done.rule(rule)["verdict"],
            "pass",
            "{rule}: {}",
            done.troubles()
        );
    }
}

/// It falls over its second referee: no match is ever given out, and every rule that was not checked says so.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_is_told_where_no_league_is_played() {
    if !tools::require("python3") {
        return;
    }
    let manager = ZooManager::start("direct", "4", "direct");
    let done = check(&manager.url, &[]).await;
    let note = done.rule("standings.right")["note"].to_string();
    assert!(
        note.contains("to START_LEAGUE it does not know the method") && note.contains("--referees"),
        "{note}"
    );
    assert!(
        done.json()["score"]["percent"].as_u64().unwrap() < 60,
        "{}",
        done.json()["score"]
    );
    drop(manager);
    let manager = ZooManager::start("direct", "4", "direct");
    let done = check(&manager.url, &["--referees", "1"]).await;
    assert_eq!(
        done.rule("round.given")["verdict"],
        "pass",
        "{}",
        done.troubles()
    );
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
    assert!(
        done.err.contains(&format!("nothing listens at {nobody}")),
        "{}",
        done.err
    );
}
