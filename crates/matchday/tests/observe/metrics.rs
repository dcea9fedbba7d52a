//! The figures: they follow the conventions, they are those of the log, and they tell no secrets.

use crate::page::{Played, address, ask, figures, get, sum, tool, until_value, value};
use matchday_store::{Store, Stream};
use matchday_testkit::cli::Cli;
use matchday_testkit::tools;
use serde_json::Value;
use std::process::Command;

/// Every event of a league, as it stands in its log.
fn events(played: &Played) -> Vec<Value> {
    let reader = Store::open_read_only(played.cli.path().join("matchday.db")).unwrap();
    let stored = reader.load(&Stream::league()).unwrap();
    stored
        .iter()
        .map(|event| serde_json::from_str::<Value>(&event.line).unwrap()["event"].clone())
        .collect()
}

fn count(events: &[Value], kind: &str) -> f64 {
    events.iter().filter(|event| event["type"] == kind).count() as f64
}

fn results(events: &[Value], status: &str) -> f64 {
    let decided = events
        .iter()
        .filter(|event| event["type"] == "match_decided");
    decided.filter(|event| event["status"] == status).count() as f64
}

#[test]
fn the_figures_of_a_league_are_those_of_its_log() {
    let played = Played::new();
    let page = figures(&address(&played.manager));
    let log = events(&played);
    assert_eq!(
        results(&log, "TECHNICAL_LOSS"),
        3.0,
        "one of four players was gone"
    );
    for (outcome, status) in [
        ("win", "WIN"),
        ("draw", "DRAW"),
        ("technical_loss", "TECHNICAL_LOSS"),
    ] {
        for role in ["manager", "referee"] {
            let of_role = if role == "manager" {
                page.clone()
            } else {
                figures(&address(&played.referee))
            };
            let series =
                format!("matchday_matches_decided_total{{role=\"{role}\",outcome=\"{outcome}\"}}");
            assert_eq!(value(&of_role, &series), results(&log, status), "{series}");
        }
    }
    for (series, kind) in [
        (
            "matchday_matches_assigned_total{role=\"manager\"}",
            "match_assigned",
        ),
        (
            "matchday_attempts_lost_total{role=\"manager\"}",
            "attempt_lost",
        ),
        (
            "matchday_rounds_announced_total{role=\"manager\"}",
            "round_announced",
        ),
        (
            "matchday_rounds_completed_total{role=\"manager\"}",
            "round_completed",
        ),
        (
            "matchday_suspensions_total{role=\"manager\"}",
            "agent_suspended",
        ),
    ] {
        assert_eq!(value(&page, series), count(&log, kind), "{series}");
    }
    assert_eq!(
        value(&page, "matchday_store_events_total"),
        log.len() as f64
    );
    assert_eq!(value(&page, "matchday_league_matches_decided"), 6.0);
    assert_eq!(
        value(&page, "matchday_league_phase{phase=\"completed\"}"),
        1.0
    );
    assert_eq!(
        value(&page, "matchday_league_members{kind=\"player\"}"),
        4.0
    );
    assert_eq!(value(&page, "matchday_matches_live{role=\"manager\"}"), 0.0);
}

#[test]
fn what_is_counted_from_the_log_goes_on_after_a_restart() {
    let mut played = Played::new();
    let series = "matchday_matches_decided_total{role=\"manager\",outcome=\"technical_loss\"}";
    assert_eq!(value(&figures(&address(&played.manager)), series), 3.0);
    played.manager.signal("TERM");
    assert!(played.manager.wait().success());
    let again = played.cli.manager(&[]);
    assert_eq!(value(&figures(&address(&again)), series), 3.0);
}

#[test]
fn messages_are_counted_by_how_they_ended_on_both_sides() {
    let played = Played::new();
    let referee = figures(&address(&played.referee));
    let sent = |outcome: &str| {
        let labels = ["direction=\"out\"", "type=\"GAME_INVITATION\"", outcome];
        sum(&referee, "matchday_messages_total", &labels)
    };
    assert_eq!(
        (sent("outcome=\"ok\""), sent("outcome=\"no_connection\"")),
        (9.0, 3.0)
    );
    let code = "matchday_errors_total{role=\"referee\",direction=\"out\",code=\"no_connection\"}";
    assert!(value(&referee, code) >= 3.0);
    let heard: f64 = played
        .players
        .iter()
        .map(|player| {
            let labels = [
                "direction=\"in\"",
                "type=\"GAME_INVITATION\"",
                "outcome=\"ok\"",
            ];
            sum(
                &figures(&address(player)),
                "matchday_messages_total",
                &labels,
            )
        })
        .sum();
    assert_eq!(heard, 9.0);
    let labels = ["direction=\"out\"", "type=\"GAME_INVITATION\""];
    assert_eq!(
        sum(&referee, "matchday_request_duration_seconds_count", &labels),
        12.0
    );
    assert_eq!(
        sum(&referee, "matchday_deadline_used_ratio_count", &labels[1..]),
        12.0
    );
    assert!(value(&referee, "matchday_store_commit_duration_seconds_count") > 0.0);
    assert!(value(&referee, "matchday_store_commit_events_sum") > 0.0);
    until_value(
        &address(&played.referee),
        "matchday_calls_in_flight{role=\"referee\"}",
        0.0,
    );
}

#[test]
fn prometheus_finds_nothing_wrong_with_the_figures() {
    if !tools::require("promtool") {
        return;
    }
    let played = Played::new();
    let all = [&played.manager, &played.referee, &played.players[0]];
    for page in all.map(|agent| figures(&address(agent))) {
        let (content, said) = tool(Command::new("promtool").args(["check", "metrics"]), &page);
        assert!(content && said.trim().is_empty(), "{said}\n{page}");
    }
}

#[test]
fn the_figures_tell_no_token_and_no_endpoint() {
    let played = Played::new();
    for agent in [&played.manager, &played.referee, &played.players[0]] {
        let page = figures(&address(agent));
        for secret in ["tok_", "http", "127.0.0.1", "/mcp", "conv-", "Player"] {
            assert!(!page.contains(secret), "{secret}: {page}");
        }
    }
}

#[test]
fn nobody_can_make_up_a_label() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&[]);
    let at = address(&manager);
    for name in ["MADE_UP", "x\\\"} 1", "OTHER\\n"] {
        let body = format!(
            "{{\"protocol\":\"league.v2\",\"message_type\":\"{name}\",\"sender\":\"player:P01\",\
             \"timestamp\":\"2025-01-15T10:30:00Z\",\"conversation_id\":\"c\"}}"
        );
        ask(&at, "POST", "/mcp", &body);
    }
    let page = figures(&at);
    assert_eq!(
        sum(&page, "matchday_messages_total", &["type=\"other\""]),
        3.0,
        "{page}"
    );
    assert!(!page.contains("MADE_UP"), "{page}");
}

#[test]
fn figures_that_are_switched_off_are_not_shown() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--metrics", "off"]);
    let page = get(&address(&manager), "/metrics");
    assert_eq!(page.status, 404);
    assert!(page.body.contains("--metrics on"), "{page:?}");
    assert_eq!(get(&address(&manager), "/health/ready").status, 200);
}

#[test]
fn a_league_in_one_process_shows_all_its_agents() {
    if !tools::require("promtool") {
        return;
    }
    let cli = Cli::new(crate::MATCHDAY);
    // Nobody is asked within the lead, so that there is time to look.
    let run = cli.start(&[
        "run",
        "--port-base",
        "0",
        "--lead",
        "30",
        "--players",
        "4",
        "--referees",
        "2",
    ]);
    let at = address(&run);
    until_value(&at, "matchday_league_members{kind=\"player\"}", 4.0);
    until_value(&at, "matchday_agents{role=\"player\",state=\"ready\"}", 4.0);
    let page = figures(&at);
    assert_eq!(
        value(&page, "matchday_agents{role=\"referee\",state=\"ready\"}"),
        2.0
    );
    assert_eq!(
        value(&page, "matchday_agents{role=\"manager\",state=\"ready\"}"),
        1.0
    );
    let (content, said) = tool(Command::new("promtool").args(["check", "metrics"]), &page);
    assert!(content && said.trim().is_empty(), "{said}\n{page}");
}
