//! Whether an agent can do its work.

use crate::page::{address, ask, get};
use matchday_testkit::cli::Cli;
use matchday_testkit::eventually::eventually;
use serde_json::Value;
use std::fs;

fn until_ready(address: &str) {
    let ready = eventually("ready", || {
        let page = get(address, "/health/ready");
        if page.status == 200 {
            Ok(page)
        } else {
            Err(page)
        }
    });
    assert_eq!(ready.body, r#"{"status":"ready"}"#);
}

fn why(address: &str) -> String {
    let page = get(address, "/health/ready");
    assert_eq!(page.status, 503, "{page:?}");
    let body: Value = serde_json::from_str(&page.body).unwrap();
    assert_eq!(body["status"], "not ready");
    body["why"].as_str().unwrap().to_owned()
}

#[test]
fn a_manager_is_ready_as_soon_as_it_listens() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&[]);
    until_ready(&address(&manager));
}

#[test]
fn whoever_is_not_registered_is_alive_and_not_ready() {
    let cli = Cli::new(crate::MATCHDAY);
    let agents = ["referee", "player"].map(|kind| cli.agent(&[kind]));
    for agent in &agents {
        agent.until("cannot register");
        let at = address(agent);
        assert_eq!(get(&at, "/health/live").status, 200);
        assert!(
            why(&at).contains("registered") || why(&at).contains("registration"),
            "{}",
            why(&at)
        );
    }
    let _manager = cli.manager(&[]);
    for agent in &agents {
        until_ready(&address(agent));
    }
}

#[test]
fn seats_are_ready_when_someone_can_take_one() {
    let cli = Cli::new(crate::MATCHDAY);
    let seats = cli.agent(&["seat"]);
    seats.until("seats at");
    let at = address(&seats);
    until_ready(&at);
    assert_eq!(get(&at, "/metrics").status, 200);
    assert_eq!(get(&at, "/seats/7/health/ready").status, 404);
}

#[test]
fn an_agent_whose_store_is_gone_is_not_ready() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&[]);
    let at = address(&manager);
    until_ready(&at);
    fs::remove_file(cli.path().join("matchday.db")).unwrap();
    assert!(why(&at).contains("matchday.db"), "{}", why(&at));
}

#[test]
fn readiness_and_figures_are_only_read() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&[]);
    let at = address(&manager);
    for path in ["/health/ready", "/metrics"] {
        let page = ask(&at, "POST", path, "{}");
        assert_eq!(page.status, 405);
        assert!(page.head.contains("allow: get"), "{page:?}");
    }
}
