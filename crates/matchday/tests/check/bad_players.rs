//! Players that break one rule each: the check must find that rule broken, and no other.

use crate::fake_player::{Behaviour, failed, fake_player, kind, rewrap, spoil};
use crate::report::{Report as _, run_aside};
use matchday_testkit::fake_peer::Answer;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const ACK: &str = "GAME_JOIN_ACK";
const CHOICE: &str = "CHOOSE_PARITY_RESPONSE";

/// A name, how it answers, and the rules of each verdict: what loses matches everywhere, what does in a strict league only,
/// and what would be cleaner.
type Case = (
    &'static str,
    Behaviour,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

const ANSWERS: &[Case] = &[
    ("right", |_, _, right| right, &[], &[], &[]),
    (
        "capital",
        |_, _, right| {
            spoil(right, CHOICE, |answer| {
                answer["parity_choice"] = json!("Even")
            })
        },
        &["choice.parity"],
        &[],
        &[],
    ),
    (
        "accept as text",
        |_, _, right| spoil(right, ACK, |answer| answer["accept"] = json!("true")),
        &["join.accept"],
        &[],
        &[],
    ),
    (
        "declines",
        |_, _, right| spoil(right, ACK, |answer| answer["accept"] = json!(false)),
        &["join.accept"],
        &[],
        &[],
    ),
    (
        "no arrival",
        |_, _, right| {
            spoil(right, ACK, |answer| {
                answer.as_object_mut().unwrap().remove("arrival_timestamp");
            })
        },
        &[],
        &["join.arrival"],
        &[],
    ),
    (
        "another match",
        |_, _, right| spoil(right, CHOICE, |answer| answer["match_id"] = json!("R9M9")),
        &["choice.match-id"],
        &[],
        &[],
    ),
    (
        "bare id as sender",
        |_, _, right| spoil(right, CHOICE, |answer| answer["sender"] = json!("P01")),
        &["envelope.sender"],
        &[],
        &[],
    ),
    (
        "isoformat and Z",
        |_, _, right| {
            spoil(right, ACK, |answer| {
                answer["timestamp"] = json!(
                    answer["timestamp"]
                        .as_str()
                        .unwrap()
                        .replace('Z', "+00:00Z")
                );
            })
        },
        &[],
        &["envelope.timestamp"],
        &[],
    ),
    (
        "its own conversation",
        |_, _, right| {
            spoil(right, CHOICE, |answer| {
                answer["conversation_id"] = json!("conv-1")
            })
        },
        &[],
        &["envelope.conversation"],
        &[],
    ),
    (
        "no token, which only a registered player can have",
        |_, _, right| spoil(right, ACK, |answer| answer["auth_token"] = Value::Null),
        &[],
        &[],
        &[],
    ),
    (
        "no nonce",
        |_, _, right| spoil(right, CHOICE, |answer| answer["nonce"] = Value::Null),
        &[],
        &[],
        &["choice.nonce"],
    ),
];

const FORMS: &[Case] = &[
    (
        "id as text",
        |_, _, right| {
            rewrap(right, |mut answer| {
                if answer["id"].is_number() {
                    answer["id"] = json!(answer["id"].to_string());
                }
                answer
            })
        },
        &[],
        &[],
        &["rpc.id"],
    ),
    (
        "no version",
        |_, _, right| {
            rewrap(right, |mut answer| {
                if let Some(fields) = answer.as_object_mut() {
                    fields.remove("jsonrpc");
                }
                answer
            })
        },
        &[],
        &[],
        &["rpc.version"],
    ),
    (
        "null error beside the result",
        |_, _, right| {
            rewrap(right, |mut answer| {
                if answer.get("result").is_some() {
                    answer["error"] = Value::Null;
                }
                answer
            })
        },
        &[],
        &[],
        &["rpc.result-or-error"],
    ),
    (
        "bare answers",
        |_, _, right| {
            rewrap(right, |answer| match answer.get("result") {
                Some(result) => result.clone(),
                None => answer,
            })
        },
        &[],
        &[],
        &["rpc.form", "rpc.version", "rpc.id", "rpc.result-or-error"],
    ),
    (
        "handle_message only",
        |asked, memory, right| {
            let wrapped = asked["method"] == "handle_message";
            let message = &asked["params"]["message"];
            match kind(asked) {
                "" if wrapped => {
                    let mut flat = asked.clone();
                    flat["params"] = message.clone();
                    crate::fake_player::answer_to(&flat, memory)
                }
                "" => right,
                _ => Answer::json(
                    &json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "Method not found"}}),
                ),
            }
        },
        &[],
        &[],
        &["rpc.dialect"],
    ),
    (
        "fails on what is not JSON",
        |asked, _, right| if asked.is_null() { failed() } else { right },
        &[],
        &[],
        &["rpc.parse-error"],
    ),
];

const STRAINS: &[Case] = &[
    (
        "fails on unknown fields",
        |asked, _, right| {
            if asked["params"].get("x_weather").is_some() {
                failed()
            } else {
                right
            }
        },
        &["robust.unknown-fields"],
        &[],
        &[],
    ),
    (
        "fails on unknown messages",
        |asked, _, right| {
            if kind(asked) == "WEATHER_REPORT" {
                failed()
            } else {
                right
            }
        },
        &[],
        &[],
        &["robust.unknown-message"],
    ),
    (
        "fails on GAME_OVER",
        |asked, _, right| {
            if kind(asked) == "GAME_OVER" {
                failed()
            } else {
                right
            }
        },
        &[],
        &[],
        &["notice.game-over"],
    ),
    (
        "refuses every table, of whatever size",
        |asked, _, right| {
            if kind(asked) == "LEAGUE_STANDINGS_UPDATE" {
                failed()
            } else {
                right
            }
        },
        &[],
        &[],
        &["notice.standings"],
    ),
    (
        "fails on the GAME_OVER of a technical loss",
        |asked, _, right| match &asked["params"]["game_result"]["status"] {
            status if status == "TECHNICAL_LOSS" => failed(),
            _ => right,
        },
        &[],
        &[],
        &["robust.technical-loss"],
    ),
    (
        "encodes its results twice",
        |_, _, right| {
            rewrap(right, |mut answer| {
                if answer.get("result").is_some() {
                    answer["result"] = json!(answer["result"].to_string());
                }
                answer
            })
        },
        &["rpc.form"],
        &[],
        &[],
    ),
    (
        "one match at a time",
        |_, memory, right| {
            let current = memory.last_match.clone();
            spoil(right, CHOICE, move |answer| {
                answer["match_id"] = current.clone()
            })
        },
        &["robust.two-matches"],
        &[],
        &[],
    ),
    (
        "chooses anew each time",
        |_, memory, right| {
            let choice = if memory.questions.is_multiple_of(2) {
                "even"
            } else {
                "odd"
            };
            spoil(right, CHOICE, move |answer| {
                answer["parity_choice"] = json!(choice)
            })
        },
        &[],
        &[],
        &["retry.same-choice"],
    ),
    (
        "comes too late",
        |asked, _, right| match kind(asked) {
            "GAME_INVITATION" => Answer {
                after: Duration::from_secs(7),
                ..right
            },
            _ => right,
        },
        &["join.in-time"],
        &[],
        &[],
    ),
];

async fn check(cases: &[Case]) {
    for (name, behaviour, broken, strict, warned) in cases {
        let stub = fake_player(*behaviour).await;
        let began = Instant::now();
        let done = run_aside(&["check", "player", &stub.url(), "--json"]).await;
        let set = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(
            done.rules("fail"),
            set(broken),
            "{name}:\n{}",
            done.troubles()
        );
        assert_eq!(
            done.rules("strict_only"),
            set(strict),
            "{name}:\n{}",
            done.troubles()
        );
        assert_eq!(
            done.rules("warning"),
            set(warned),
            "{name}:\n{}",
            done.troubles()
        );
        assert_eq!(done.code, i32::from(!broken.is_empty()), "{name}");
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{name} took {:?}",
            began.elapsed()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_judged_field_by_field() {
    check(ANSWERS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_are_judged_and_dialects_named() {
    check(FORMS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn strains_are_blamed_for_what_they_break() {
    check(STRAINS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ends_a_player_is_blamed_for_it_and_nothing_after_it() {
    let stub = fake_player(|asked, _, right| {
        if asked.is_null() {
            Answer::dead()
        } else {
            right
        }
    })
    .await;
    let done = run_aside(&["check", "player", &stub.url(), "--json"]).await;
    assert_eq!(
        done.rules("fail"),
        BTreeSet::from(["robust.alive".to_owned()]),
        "{}",
        done.troubles()
    );
    let note = done.rule("robust.alive")["note"].to_string();
    assert!(note.contains("after a body that is not JSON"), "{note}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_comes_apart_is_waited_for_and_named() {
    let stub = fake_player(|asked, memory, right| {
        if let Some(matches) = asked["params"]["matches"].as_array() {
            memory.referee = matches[0]["referee_endpoint"].as_str().unwrap().to_owned();
        }
        match kind(asked) {
            "GAME_INVITATION" | "CHOOSE_PARITY_CALL" => {
                crate::fake_player::send_apart(&memory.referee, right, asked)
            }
            _ => right,
        }
    })
    .await;
    let done = run_aside(&["check", "player", &stub.url(), "--json"]).await;
    assert_eq!(done.rules("fail"), BTreeSet::new(), "{}", done.troubles());
    let warned = ["choice.generic", "choice.message", "join.message"].map(str::to_owned);
    assert!(
        done.rules("warning").is_subset(&BTreeSet::from(warned)),
        "{}",
        done.troubles()
    );
    let note = done.rule("choice.message")["note"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(note.contains("a message of its own"), "{note}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_lenient_league_forgives_is_a_warning_there_and_says_what_a_strict_one_does() {
    let stub = fake_player(|_, _, right| {
        spoil(right, CHOICE, |answer| {
            let choice = answer["parity_choice"].take();
            answer.as_object_mut().unwrap().remove("parity_choice");
            answer["choice"] = choice;
        })
    })
    .await;
    let strict = run_aside(&[
        "check",
        "player",
        &stub.url(),
        "--json",
        "--conformance",
        "strict",
    ])
    .await;
    let parity = BTreeSet::from(["choice.parity".to_owned()]);
    assert_eq!(
        (strict.code, strict.rules("fail")),
        (1, parity.clone()),
        "{}",
        strict.troubles()
    );
    let lenient = run_aside(&["check", "player", &stub.url(), "--json"]).await;
    assert_eq!(
        (lenient.code, lenient.rules("strict_only")),
        (0, parity),
        "{}",
        lenient.troubles()
    );
    for told in [&strict, &lenient] {
        let told = told.json();
        assert_eq!(told["readiness"], "lenient_leagues");
        assert_eq!(told["loses_in_strict_only"], json!(["choice.parity"]));
        assert_eq!(told["loses_anywhere"], json!([]));
    }
    let note = lenient.rule("choice.parity")["note"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        note.contains("\"alias choice\"") && note.contains("E003"),
        "{note}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_failure_shows_the_exchange_the_rule_and_how_to_fix_it() {
    let stub = fake_player(|_, _, right| {
        spoil(right, CHOICE, |answer| {
            answer["parity_choice"] = json!(true)
        })
    })
    .await;
    let done = run_aside(&["check", "player", &stub.url(), "--quick", "--json"]).await;
    let rule = done.rule("choice.parity");
    assert_eq!(
        rule["place"],
        "docs/protocol-messages.md#choose_parity_response"
    );
    assert_eq!(rule["explain"], "matchday check --explain choice.parity");
    assert!(
        rule["fix"]
            .as_str()
            .unwrap()
            .contains("\"even\" or \"odd\"")
    );
    let exchange = &rule["exchange"];
    assert!(
        exchange["request"]
            .as_str()
            .unwrap()
            .contains("CHOOSE_PARITY_CALL"),
        "{exchange}"
    );
    assert!(
        exchange["answer"]
            .as_str()
            .unwrap()
            .contains("\"parity_choice\":true"),
        "{exchange}"
    );
    assert!(!done.out.contains("tok_p01_of_the_tests"), "tokens are cut");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_only_a_registered_player_can_know_is_not_judged_by_url() {
    let stub =
        fake_player(|_, _, right| spoil(right, ACK, |answer| answer["player_id"] = Value::Null))
            .await;
    let done = run_aside(&["check", "player", &stub.url(), "--json"]).await;
    assert_eq!(done.rules("fail"), BTreeSet::new(), "{}", done.troubles());
    let rule = done.rule("join.player-id");
    assert!(
        rule["verdict"] == "not_checked" && rule["note"].to_string().contains("--wait"),
        "{rule}"
    );
    assert!(
        done.json()["score"]["percent"].as_u64().unwrap() < 100,
        "a mandatory rule was not checked"
    );
}

/// Whatever it is asked, a method that it does not know: every dialect is tried before it is failed.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_understands_no_dialect_is_told_so() {
    let stub = fake_player(|asked, _, _| {
        Answer::new(500, json!({"detail": format!("no {}", asked["method"])}))
    })
    .await;
    let done = run_aside(&["check", "player", &stub.url(), "--json"]).await;
    assert!(
        done.rule("join.message")["fix"]
            .as_str()
            .unwrap()
            .contains("exception"),
        "{}",
        done.troubles()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn quick_is_quick() {
    let stub = fake_player(|_, _, right| right).await;
    let done = run_aside(&["check", "player", &stub.url(), "--quick", "--json"]).await;
    assert_eq!(done.code, 0, "{}", done.out);
    assert!(
        done.json()["seconds"].as_f64().unwrap() < 5.0,
        "{}",
        done.out
    );
}
