//! Managers of another make: our commands speak standard JSON-RPC to them, read their answers however they are wrapped, and
//! fail with one line where there is nothing to show.

use crate::other_manager::{OtherManager, UNKNOWN_METHOD};
use matchday_testkit::cli::Output;
use serde_json::{Value, json};

const LEAGUE: &str = "league_2025_even_odd";

/// Every command that asks a manager something.
const COMMANDS: [&[&str]; 8] = [
    &["start"],
    &["status"],
    &["standings"],
    &["schedule"],
    &["stats"],
    &["stats", "P01"],
    &["stats", "REF01"],
    &["admin", "pause", "--operator-token", "tok_operator_x"],
];

fn message(kind: &str, body: Value) -> Value {
    let mut message = json!({
        "protocol": "league.v2", "message_type": kind, "sender": "league_manager",
        "timestamp": "2025-01-15T14:00:01Z", "conversation_id": "conv-other",
    });
    message
        .as_object_mut()
        .unwrap()
        .extend(body.as_object().unwrap().clone());
    message
}

fn result(message: Value) -> (u16, String) {
    (
        200,
        json!({"jsonrpc": "2.0", "id": 1, "result": message}).to_string(),
    )
}

fn status() -> Value {
    message(
        "LEAGUE_STATUS",
        json!({
            "league_id": LEAGUE, "status": "running", "current_round": 1, "total_rounds": 3,
            "matches_completed": 0,
        }),
    )
}

/// The standings as one of the sources prints them: no more than rank, player and points.
fn standings() -> Value {
    let rows = json!([{"rank": 1, "player_id": "P01", "points": 9}, {"rank": 2, "player_id": "P03", "points": 5}]);
    query_response("GET_STANDINGS", json!({"standings": rows}))
}

fn query_response(query_type: &str, data: Value) -> Value {
    message(
        "LEAGUE_QUERY_RESPONSE",
        json!({"query_type": query_type, "success": true, "data": data}),
    )
}

fn league_error(code: &str, why: &str) -> Value {
    message(
        "LEAGUE_ERROR",
        json!({"error_code": code, "error_description": why}),
    )
}

/// Knows `start_league` and `league_query` in proper JSON-RPC and nothing else.
fn strict(request: &Value) -> (u16, String) {
    let params = &request["params"];
    let proper = request["jsonrpc"] == "2.0" && request["id"].is_i64() && params.is_object();
    let data = match params["query_type"].as_str() {
        Some("GET_STANDINGS") => standings()["data"].clone(),
        Some("GET_SCHEDULE") => json!({"rounds": [{"round_id": 1, "matches": [{
            "match_id": "R1M1", "game_type": "even_odd", "player_A_id": "P01", "player_B_id": "P03",
            "state": "scheduled",
        }]}]}),
        _ => json!({}),
    };
    match request["method"].as_str() {
        _ if !proper => {
            let error = json!({"code": -32600, "message": "Invalid Request"});
            (
                200,
                json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string(),
            )
        }
        Some("start_league" | "league_query") if params["league_id"] != LEAGUE => {
            result(league_error("E007", "there is no such league here"))
        }
        Some("start_league") if params["message_type"] == "START_LEAGUE" => result(status()),
        Some("league_query") if params["message_type"] == "LEAGUE_QUERY" => {
            result(query_response(params["query_type"].as_str().unwrap(), data))
        }
        _ => (200, UNKNOWN_METHOD.to_owned()),
    }
}

/// It failed with exit code 1 and one line, and showed nothing.
fn refused<'a>(done: &'a Output, what: &str) -> &'a str {
    assert_eq!(
        (done.code, done.out.as_str(), done.err.lines().count()),
        (1, "", 1),
        "{what}: {done:?}"
    );
    done.failed(1)
}

#[test]
fn a_strict_manager_is_started_by_standard_json_rpc() {
    let other = OtherManager::start(strict);
    let cli = other.cli();
    let started = cli.ask(&["start"]);
    assert_eq!((started.code, started.err.as_str()), (0, ""), "{started:?}");
    assert!(
        started.out.contains(LEAGUE) && started.out.contains("1 of 3"),
        "{started:?}"
    );
    assert_eq!(cli.ask(&["start", "--json"]).json()["status"], "running");
    for request in other.requests() {
        assert_eq!(request["jsonrpc"], "2.0", "{request}");
        assert!(
            request["id"].is_i64() && request["method"].is_string(),
            "{request}"
        );
        assert!(request["params"].is_object(), "{request}");
    }
}

#[test]
fn a_strict_manager_is_asked_by_league_query_where_it_does_not_know_the_shortcut() {
    let cli = OtherManager::start(strict).cli();
    let table = cli.ask(&["standings"]);
    assert_eq!(table.code, 0, "{table:?}");
    assert_eq!(table.out.lines().count(), 3, "{table:?}");
    assert!(
        table.out.contains("P03") && table.out.contains('9'),
        "{table:?}"
    );
    assert_eq!(
        cli.ask(&["standings", "--json"]).json()["standings"][1]["points"],
        5
    );
    let schedule = cli.ask(&["schedule"]);
    assert!(
        schedule.code == 0 && schedule.out.contains("R1M1"),
        "{schedule:?}"
    );
    assert_eq!(
        cli.ask(&["schedule", "--json"]).json()["rounds"][0]["round_id"],
        1
    );
}

#[test]
fn what_a_strict_manager_does_not_know_is_refused_with_what_it_said() {
    let cli = OtherManager::start(strict).cli();
    for json in [&[][..], &["--json"]] {
        let done = cli.ask(&[COMMANDS[7], json].concat());
        let line = refused(&done, "admin");
        assert!(
            line.contains("LEAGUE_ORDER") && line.contains("-32601"),
            "{line}"
        );
        let done = cli.ask(&[&["stats"], json].concat());
        assert!(
            refused(&done, "stats").contains("standings in another form"),
            "{done:?}"
        );
        let done = cli.ask(&[&["stats", "P01"], json].concat());
        assert!(
            refused(&done, "stats P01").contains("GET_PLAYER_STATS"),
            "{done:?}"
        );
    }
}

#[test]
fn a_status_that_a_manager_does_not_tell_is_taken_from_its_standings() {
    let cli = OtherManager::start(strict).cli();
    let done = cli.ask(&["status"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        done.out.contains("PLAYERS") && done.out.contains("from its standings"),
        "{done:?}"
    );
    assert_eq!(cli.ask(&["status", "--json"]).json()["players"], 2);
}

#[test]
fn a_league_that_was_started_in_other_words_is_started() {
    let other = OtherManager::start(|request| match request["method"].as_str() {
        Some("start_league") => {
            let result = json!({"status": "started", "rounds": 3});
            (
                200,
                json!({"jsonrpc": "2.0", "id": 1, "result": result, "error": null}).to_string(),
            )
        }
        _ => (200, UNKNOWN_METHOD.to_owned()),
    });
    let done = other.cli().ask(&["start"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    assert!(
        done.out.contains(r#"{"rounds":3,"status":"started"}"#),
        "{done:?}"
    );
}

#[test]
fn a_manager_that_says_otherwise_that_it_has_started_the_league_is_taken_at_its_word() {
    let other = OtherManager::start(|request| match request["method"].as_str() {
        Some("start_league") => result(message("START_LEAGUE", json!({"status": "acknowledged"}))),
        _ => (200, UNKNOWN_METHOD.to_owned()),
    });
    let done = other.cli().ask(&["start"]);
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{done:?}");
    assert!(done.err.contains("it is a third-party manager"), "{done:?}");
}

#[test]
fn a_league_that_the_manager_does_not_name_is_named_by_a_flag() {
    let other = OtherManager::start(|request| {
        let mut request = request.clone();
        if request["params"]["league_id"] == "season_2" {
            request["params"]["league_id"] = LEAGUE.into();
        } else if request["params"]["league_id"] == LEAGUE {
            request["params"]["league_id"] = "unknown".into();
        }
        strict(&request)
    });
    let cli = other.cli();
    for command in ["start", "standings"] {
        let done = cli.ask(&[command]);
        let line = refused(&done, command);
        assert!(
            line.contains("there is no such league here (E007)") && line.contains("--league-id"),
            "{line}"
        );
        let named = cli.ask(&[command, "--league-id", "season_2"]);
        assert_eq!(named.code, 0, "{named:?}");
    }
}

#[test]
fn a_query_that_needs_a_token_is_refused_in_the_managers_words() {
    let other = OtherManager::start(|request| match request["method"].as_str() {
        Some("league_query") => result(league_error("E011", "auth_token is missing")),
        _ => (200, UNKNOWN_METHOD.to_owned()),
    });
    let cli = other.cli();
    for command in [
        &["standings"][..],
        &["schedule", "--json"],
        &["stats"],
        &["stats", "P01"],
    ] {
        let done = cli.ask(command);
        assert!(
            refused(&done, command[0]).contains("auth_token is missing (E011)"),
            "{done:?}"
        );
    }
}

#[test]
fn nothing_that_is_no_answer_is_shown_as_one() {
    let html = "<!doctype html><p>Bad gateway";
    let failed = json!({"query_type": "GET_STANDINGS", "success": false,
        "error": {"error_code": "E005", "error_name": "X", "error_description": "out of order"}});
    let odd = [
        (
            "JSON-RPC error",
            200,
            UNKNOWN_METHOD.replace("-32601", "-32000"),
        ),
        ("unknown method", 200, UNKNOWN_METHOD.to_owned()),
        (
            "LEAGUE_ERROR",
            200,
            result(league_error("E008", "out of order")).1,
        ),
        (
            "bare LEAGUE_ERROR",
            200,
            league_error("E008", "out of order").to_string(),
        ),
        (
            "LEAGUE_ERROR by HTTP 403",
            403,
            league_error("E008", "out of order").to_string(),
        ),
        (
            "no success",
            200,
            result(message("LEAGUE_QUERY_RESPONSE", failed.clone())).1,
        ),
        ("no success, no type", 200, result(failed).1),
        (
            "no success, no reason",
            200,
            result(json!({"success": false})).1,
        ),
        ("HTTP 500", 500, html.to_owned()),
        ("HTTP 404", 404, String::new()),
        ("HTTP 302", 302, String::new()),
        ("HTTP 500 with a status", 500, result(status()).1),
        ("no JSON", 200, html.to_owned()),
        ("no body", 200, String::new()),
        ("an array", 200, "[]".to_owned()),
        ("a null result", 200, result(Value::Null).1),
        ("an empty result", 200, result(json!({})).1),
        (
            "an acknowledgement",
            200,
            result(json!({"status": "received"})).1,
        ),
        (
            "empty data",
            200,
            result(query_response("GET_STANDINGS", json!({}))).1,
        ),
        (
            "rows that are none",
            200,
            result(query_response("GET_STANDINGS", json!({"standings": [1]}))).1,
        ),
        (
            "another message",
            200,
            result(message("ROUND_COMPLETED", json!({"round_id": 1}))).1,
        ),
        (
            "a status without one",
            200,
            result(message("LEAGUE_STATUS", json!({"league_id": LEAGUE}))).1,
        ),
        ("closed without an answer", 0, String::new()),
    ];
    for (number, (what, status, body)) in odd.into_iter().enumerate() {
        let told = what
            .starts_with("LEAGUE_ERROR")
            .then_some("out of order (E008)");
        let told = told.or((status == 0).then_some("closed without an answer"));
        let cli = OtherManager::start(move |_| (status, body.clone())).cli();
        // Each answer for three commands, and each command with many answers: a process for all of them takes minutes.
        let one = COMMANDS[number % COMMANDS.len()];
        let other = COMMANDS[(number + 3) % COMMANDS.len()];
        for command in [&["start"][..], one, &[other, &["--json"]].concat()] {
            let done = cli.ask(command);
            let line = refused(&done, &format!("{what}, {command:?}"));
            assert!(
                line.contains(told.unwrap_or_default()),
                "{what}, {command:?}: {line}"
            );
        }
    }
}

#[test]
fn an_answer_is_read_however_it_is_wrapped() {
    type Wrap = fn(Value) -> Value;
    let wraps: [(&str, Wrap); 5] = [
        ("bare", |message| message),
        (
            "result",
            |message| json!({"jsonrpc": "2.0", "id": 1, "result": message}),
        ),
        (
            "null error",
            |message| json!({"jsonrpc": "2.0", "id": 1, "result": message, "error": null}),
        ),
        (
            "one level down",
            |message| json!({"result": {"message": message}}),
        ),
        (
            "tool result",
            |message| json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": message.to_string()}]}}),
        ),
    ];
    for (what, wrap) in wraps {
        let other = OtherManager::start(move |request| match request["method"].as_str() {
            Some("start_league") => (200, wrap(status()).to_string()),
            Some("league_query") => (200, wrap(standings()).to_string()),
            _ => (200, UNKNOWN_METHOD.to_owned()),
        });
        let cli = other.cli();
        assert_eq!(
            cli.ask(&["start", "--json"]).json()["total_rounds"],
            3,
            "{what}"
        );
        assert_eq!(
            cli.ask(&["standings", "--json"]).json()["standings"][0]["points"],
            9,
            "{what}"
        );
    }
}

#[test]
fn standings_are_read_from_a_result_that_is_no_message() {
    let other = OtherManager::start(|request| match request["method"].as_str() {
        Some("get_standings") => result(standings()["data"].clone()),
        _ => (200, UNKNOWN_METHOD.to_owned()),
    });
    let table = other.cli().ask(&["standings"]);
    assert!(table.code == 0 && table.out.contains("P03"), "{table:?}");
}

#[test]
fn a_manager_that_speaks_another_dialect_is_started_too() {
    let bare = OtherManager::start(|request| match request["message_type"].as_str() {
        Some("START_LEAGUE") => (200, status().to_string()),
        _ => (422, r#"{"detail":"message_type is missing"}"#.to_owned()),
    });
    assert_eq!(
        bare.cli().ask(&["start", "--json"]).json()["status"],
        "running"
    );
}
