//! A manager behind a reverse proxy on its own machine: those who come through the proxy are neither the operator nor one caller.

use crate::wire::{Response, post_with};
use matchday_testkit::cli::Cli;
use serde_json::{Value, json};

const TRUSTING: [&str; 2] = ["--trusted-proxies", "127.0.0.1"];

fn start() -> Value {
    json!({
        "protocol": "league.v2", "message_type": "START_LEAGUE", "sender": "launcher",
        "timestamp": "2026-03-02T09:00:00Z", "conversation_id": "conv-1", "league_id": "league_2025_even_odd",
    })
}

fn forwarded_for(addresses: &str) -> String {
    format!("X-Forwarded-For: {addresses}\r\n")
}

fn error_code(response: &Response) -> Value {
    response.json()["error_code"].clone()
}

#[test]
fn nobody_who_comes_through_a_proxy_is_the_operator() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&TRUSTING);
    for headers in ["203.0.113.9", "127.0.0.1", "::1", "127.0.0.1, 203.0.113.9"].map(forwarded_for)
    {
        let refused = post_with(&cli.manager, &headers, &start());
        assert_eq!(error_code(&refused), "E011", "{headers}: {refused:?}");
    }
    let refused = post_with(&cli.manager, "", &start());
    assert_eq!(
        error_code(&refused),
        "E011",
        "a proxy that says nothing of its clients: {refused:?}"
    );
}

#[test]
fn without_a_trusted_proxy_what_a_caller_says_of_itself_changes_nothing() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&[]);
    let answer = post_with(&cli.manager, &forwarded_for("203.0.113.9"), &start());
    assert_ne!(
        error_code(&answer),
        "E011",
        "this machine is the operator here: {answer:?}"
    );
}

#[test]
fn each_client_behind_a_proxy_has_a_rate_limit_of_its_own() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&[&TRUSTING[..], &["--address-rate", "3"]].concat());
    let status = json!({"jsonrpc": "2.0", "id": 1, "method": "get_status", "params": {}});
    let batch = Value::Array(vec![status.clone(); 4]);
    let ask = |addresses: &str, what: &Value| {
        post_with(&cli.manager, &forwarded_for(addresses), what).status
    };
    // What the client itself puts before the proxy's own words must not give it another bucket.
    let mine: Vec<_> = (0..20)
        .map(|n| ask(&format!("198.51.100.{n}, 203.0.113.9"), &status))
        .collect();
    assert!(mine.contains(&429), "{mine:?}");
    assert_eq!(ask("203.0.113.10", &status), 200);
    assert_eq!(ask("203.0.113.11", &batch), 429);
}
