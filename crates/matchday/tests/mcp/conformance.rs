//! The official conformance suite for servers, scenario by scenario, in both revisions. Of each scenario the checks that
//! must have been made are named here: one that makes none has shown nothing.

use crate::clients::{installed, node};
use matchday_core::game::observation::ObservationForm;
use matchday_server::seat::{Authorization, SeatSettings, Seats, serve};
use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, quick, short, until_registered,
};
use serde_json::Value;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

/// A scenario, and the checks in it that must succeed.
type Scenario = (&'static str, &'static [&'static str]);

const OLDER: &[Scenario] = &[
    (
        "server-initialize",
        &[
            "server-initialize",
            "server-session-id-visible-ascii",
            "wire-schema-valid",
        ],
    ),
    (
        "server-session-lifecycle",
        &[
            "server-session-initialized-accepted",
            "server-session-delete-accepted",
            "server-session-terminated-returns-404",
        ],
    ),
    ("ping", &["ping", "wire-schema-valid"]),
    (
        "tools-list",
        &["tools-list", "tools-name-format", "wire-schema-valid"],
    ),
    ("resources-list", &["resources-list", "wire-schema-valid"]),
    ("prompts-list", &["prompts-list", "wire-schema-valid"]),
    (
        "dns-rebinding-protection",
        &[
            "localhost-host-rebinding-rejected",
            "localhost-host-valid-accepted",
        ],
    ),
    (
        "server-sse-multiple-streams",
        &[
            "server-accepts-multiple-post-streams",
            "server-sse-streams-functional",
        ],
    ),
];

const NEWER: &[Scenario] = &[
    (
        "server-stateless",
        &[
            "sep-2575-request-meta-invalid-missing-meta",
            "sep-2575-request-meta-client-info-optional",
            "sep-2575-server-implements-discover",
            "sep-2575-discover-capabilities-match-handlers",
            "sep-2575-server-unsupported-version-error",
            "sep-2575-http-server-unsupported-version-400",
            "sep-2575-http-server-header-mismatch-400",
            "sep-2575-http-server-method-not-found-404",
            "sep-2575-server-sends-subscription-ack",
            "sep-2575-server-tags-subscription-id",
            "sep-2575-server-honors-notification-filter",
            "sep-2575-http-server-error-jsonrpc-id",
        ],
    ),
    (
        "tools-list",
        &[
            "tools-list",
            "tools-name-format",
            "tools-list-deterministic-order",
            "wire-schema-valid",
        ],
    ),
    ("resources-list", &["resources-list", "wire-schema-valid"]),
    ("prompts-list", &["prompts-list", "wire-schema-valid"]),
    (
        "sep-2164-resource-not-found",
        &[
            "sep-2164-no-empty-contents",
            "sep-2164-error-code",
            "sep-2164-data-uri",
        ],
    ),
    (
        "dns-rebinding-protection",
        &[
            "localhost-host-rebinding-rejected",
            "localhost-host-valid-accepted",
        ],
    ),
    (
        "caching",
        &[
            "sep-2549-tools-list-caching-hints",
            "sep-2549-prompts-list-caching-hints",
            "sep-2549-resources-list-caching-hints",
            "sep-2549-resources-templates-list-caching-hints",
            "sep-2549-resources-read-caching-hints",
        ],
    ),
    (
        "http-header-validation",
        &[
            "sep-2243-server-reject-invalid-headers",
            "sep-2243-server-reject-error-code",
            "sep-2243-server-accepts-whitespace-header-value",
            "sep-2243-header-name-case-insensitive",
        ],
    ),
    // Its answers may be JSON in this revision, and ours are: that streams work at once is shown with subscriptions.
    (
        "server-sse-multiple-streams",
        &["server-accepts-multiple-post-streams"],
    ),
];

/// Checks that can be made only on a server with tools made for these checks, or with lists that change.
const NOT_FOR_REAL_SERVERS: [&str; 6] = [
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
    "sep-2575-server-sends-prompts-list-changed-on-subscription",
    "sep-2575-server-sends-tools-list-changed-on-subscription",
];

/// What holds for every agent in the newer revision, whether or not anything can be subscribed to.
const STATELESS: &[Scenario] = &[
    (
        "server-stateless",
        &[
            "sep-2575-request-meta-invalid-missing-meta",
            "sep-2575-server-implements-discover",
            "sep-2575-discover-capabilities-match-handlers",
            "sep-2575-server-unsupported-version-error",
            "sep-2575-http-server-method-not-found-404",
        ],
    ),
    (
        "tools-list",
        &[
            "tools-list",
            "tools-name-format",
            "tools-list-deterministic-order",
            "wire-schema-valid",
        ],
    ),
    (
        "dns-rebinding-protection",
        &[
            "localhost-host-rebinding-rejected",
            "localhost-host-valid-accepted",
        ],
    ),
    (
        "http-header-validation",
        &[
            "sep-2243-server-reject-invalid-headers",
            "sep-2243-server-reject-error-code",
        ],
    ),
];

async fn conforms(revision: &'static str, scenarios: &'static [Scenario]) {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let _agents = (
        test_league.referee(1, &to, short()).await,
        test_league.player(1, &to, "random").await,
    );
    until_registered(&manager, 1, 1).await;
    passes(manager.address(), revision, scenarios).await;
}

async fn passes(address: SocketAddr, revision: &'static str, scenarios: &'static [Scenario]) {
    let Some(folder) = installed() else { return };
    let url = endpoint(address).raw().replace("127.0.0.1", "localhost");
    for (name, expected) in scenarios {
        let results = tempfile::tempdir().unwrap();
        let mut command = node(&folder);
        command
            .arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
            .args([
                "server",
                "--url",
                &url,
                "--scenario",
                name,
                "--spec-version",
                revision,
                "--output-dir",
            ])
            .arg(results.path());
        let said = tokio::task::spawn_blocking(move || said(&mut command))
            .await
            .unwrap();
        let mut checks = Vec::new();
        collect(results.path(), &mut checks);
        judge(&format!("{name} of {revision}"), &checks, expected, &said);
    }
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn collect(folder: &Path, checks: &mut Vec<Value>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            collect(&entry.path(), checks);
        } else if entry.file_name() == "checks.json" {
            let written = fs::read_to_string(entry.path()).unwrap();
            checks.extend(serde_json::from_str::<Vec<Value>>(&written).unwrap());
        }
    }
}

fn judge(scenario: &str, checks: &[Value], expected: &[&str], said: &str) {
    let with = |status: &str| {
        checks
            .iter()
            .filter(|check| check["status"] == status)
            .collect::<Vec<_>>()
    };
    for status in ["FAILURE", "WARNING", "SKIPPED"] {
        let mut bad = with(status);
        bad.retain(|check| !could_not_be_made(check));
        assert_eq!(bad, Vec::<&Value>::new(), "{scenario}: {said}");
    }
    for id in expected {
        let is_there = with("SUCCESS").iter().any(|check| check["id"] == *id);
        assert!(
            is_there,
            "{scenario}: {id} was not checked: {checks:#?} {said}"
        );
    }
}

/// Checks that are left out at an agent that declares no subscriptions.
const OF_SUBSCRIPTIONS: [&str; 3] = [
    "sep-2575-server-sends-subscription-ack",
    "sep-2575-server-tags-subscription-id",
    "sep-2575-server-honors-notification-filter",
];

fn could_not_be_made(check: &Value) -> bool {
    if check["status"] == "SKIPPED" && OF_SUBSCRIPTIONS.iter().any(|id| check["id"] == *id) {
        return true;
    }

    let is_known = NOT_FOR_REAL_SERVERS.iter().any(|id| check["id"] == *id);
    let why = check["errorMessage"].as_str().unwrap_or_default();
    is_known && (check["status"] == "SKIPPED" || why.starts_with("Not testable"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manager_conforms_to_the_older_revision() {
    conforms("2025-11-25", OLDER).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manager_conforms_to_the_newer_revision() {
    conforms("2026-07-28", NEWER).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn referees_players_and_seats_pass_the_stateless_scenarios() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let player = test_league.player(1, &to, "random").await;
    let listener = free_port().await;
    let seats_at = listener.local_addr().unwrap();
    let settings = SeatSettings {
        manager: to.clone(),
        home: endpoint(seats_at),
        seats_max: 4,
        seats_per_address: None,
        fallback: None,
        observation: ObservationForm::Both,
        authorization: Authorization::Off,
        join_code: None,
    };
    let seats = Seats::open(
        settings,
        seats_at,
        test_league.store.clone(),
        test_league.options("seats"),
    )
    .unwrap();
    let (_close, closing) = tokio::sync::watch::channel(false);
    tokio::spawn(serve(seats, listener, closing));
    for address in [referee.address(), player.address(), seats_at] {
        passes(address, "2026-07-28", STATELESS).await;
    }
}
