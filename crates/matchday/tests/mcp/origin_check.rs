//! The Host and Origin check: a request with a foreign Host, or from a page of another origin, is refused before it is read.

use matchday_testkit::mcp_client::{initialize, send};
use matchday_testkit::test_league::{TestLeague, endpoint, quick, short};
use serde_json::json;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn strangers_are_turned_away_from_every_agent_and_every_path_in() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let player = test_league.player(1, &to, "random").await;
    let strangers = [
        ("host", "evil.example"),
        ("host", "evil.example:8000"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
    ];
    for address in [manager.address(), referee.address(), player.address()] {
        for (method, body) in [
            ("POST", PING),
            ("POST", &initialize("2025-11-25")),
            ("GET", ""),
            ("DELETE", ""),
        ] {
            for stranger in strangers {
                let refused = send(address, method, &[stranger], body).await;
                assert_eq!(refused.status, 403, "{method} {stranger:?}");
                let why = refused.json()["error"]["data"].clone();
                assert!(
                    why.as_str().is_some_and(|why| why.contains("--allowed-")),
                    "{why}"
                );
            }
        }
    }
}

#[tokio::test]
async fn those_of_this_machine_are_let_in_under_any_port() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    for known in [
        ("host", "localhost:8000"),
        ("host", "127.0.0.1:1"),
        ("host", "[::1]:8000"),
        ("origin", "http://localhost:6274"),
    ] {
        let answer = send(manager.address(), "POST", &[known], PING).await;
        assert_eq!(
            (answer.status, &answer.json()["result"]["status"]),
            (200, &json!("ok")),
            "{known:?}"
        );
    }
}
