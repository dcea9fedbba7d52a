//! Host and Origin: a request in the name of a stranger, or from a stranger's page, is refused before it is read.

use crate::ground::{Ground, endpoint, quick, short};
use crate::http::{initialize, send};
use serde_json::json;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn strangers_are_turned_away_from_every_agent_and_every_path_in() {
    let ground = Ground::new();
    let manager = ground.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = ground.referee(1, &to, short()).await;
    let player = ground.player(1, &to, "random").await;
    let strangers = [
        ("host", "evil.example"),
        ("host", "evil.example:8000"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
    ];
    for address in [manager.address(), referee.address(), player.address()] {
        for (method, body) in
            [("POST", PING), ("POST", &initialize("2025-11-25")), ("GET", ""), ("DELETE", "")]
        {
            for stranger in strangers {
                let refused = send(address, method, &[stranger], body).await;
                assert_eq!(refused.status, 403, "{method} {stranger:?}");
                let why = refused.json()["error"]["data"].clone();
                assert!(why.as_str().is_some_and(|why| why.contains("--allowed-")), "{why}");
            }
        }
    }
}

#[tokio::test]
async fn those_of_this_machine_are_let_in_under_any_port() {
    let ground = Ground::new();
    let manager = ground.manager(quick(short())).await;
    for known in [
        ("host", "localhost:8000"),
        ("host", "127.0.0.1:1"),
        ("host", "[::1]:8000"),
        ("origin", "http://localhost:6274"),
    ] {
        let answer = send(manager.address(), "POST", &[known], PING).await;
        assert_eq!((answer.status, &answer.json()["result"]["status"]), (200, &json!("ok")), "{known:?}");
    }
}
