//! What agents say about themselves over HTTP, and that what they send agrees with it.

use crate::requests::{http, raw};
use matchday_core::protocol::schema::Library;
use matchday_core::timing::Timing;
use matchday_testkit::recording_proxy::RecordingProxy;
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, until_completed, until_registered,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

async fn get(from: SocketAddr, path: &str) -> (String, Value) {
    let answer = raw(from, &http("GET", path, "")).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (
        head.lines().next().unwrap().to_owned(),
        serde_json::from_str(body).unwrap_or_default(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_of_a_league_over_http_fits_the_schemas() {
    let proxy = RecordingProxy::new();
    let mut test_league = TestLeague::new(matchday_server::agent_options);
    test_league.proxy = Some(proxy.clone());
    let manager = test_league.manager(quick(Timing::default())).await;
    let at = endpoint(proxy.before(manager.address()).await);
    let referee = test_league.referee(1, &at, Timing::default()).await;
    let mut players = Vec::new();
    for number in 1..=4 {
        players.push(test_league.player(number, &at, "random").await);
        until_registered(&manager, players.len(), 1).await;
    }
    test_league.start(&manager).await;
    until_completed(&manager, Duration::from_secs(60)).await;
    for player in players {
        player.shutdown().await.unwrap();
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
    let heard = proxy.assert_all_fit();
    for method in [
        "register_referee",
        "register_player",
        "notify_round",
        "handle_game_invitation",
        "choose_parity",
        "notify_match_result",
        "report_match_result",
        "update_standings",
    ] {
        assert!(heard.contains(method), "{method} in {heard:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_agent_tells_what_it_serves_and_serves_it() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(Timing::default())).await;
    let at = endpoint(manager.address());
    let referee = test_league.referee(1, &at, Timing::default()).await;
    let player = test_league.player(1, &at, "random").await;
    let agents = [
        ("manager", manager.address()),
        ("referee", referee.address()),
        ("player", player.address()),
    ];
    for (name, address) in agents {
        let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover", "params": {}});
        let (_, answer) = test_league.post(address, ask.to_string()).await;
        let document = &answer["result"];
        assert_eq!(document["info"]["title"], format!("league.v2 {name}"));
        for method in document["methods"].as_array().unwrap() {
            let ask = json!({"jsonrpc": "2.0", "id": 2, "method": method["name"], "params": {}});
            let (_, answer) = test_league.post(address, ask.to_string()).await;
            let code = &answer["error"]["code"];
            assert_ne!(
                *code, -32601,
                "{name} does not know {}: {answer}",
                method["name"]
            );
        }
    }
}

#[tokio::test]
async fn every_document_is_served_under_schema() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(Timing::default())).await;
    let (status, index) = get(manager.address(), "/schema").await;
    assert_eq!(status, "HTTP/1.1 200 OK");
    let library = Library::new();
    for entry in index["documents"].as_array().unwrap() {
        let path = entry["path"].as_str().unwrap();
        let (_, document) = get(manager.address(), &format!("/schema/{path}")).await;
        assert_eq!(Some(&document), library.get(path), "{path}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_404_and_what_is_there_is_only_to_be_got() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(Timing::default())).await;
    for path in [
        "/schema/messages/NOTHING.json",
        "/schema/../etc/passwd",
        "/schemas",
        "/schema/messages",
    ] {
        assert_eq!(
            get(manager.address(), path).await.0,
            "HTTP/1.1 404 Not Found",
            "{path}"
        );
    }
    let answer = raw(manager.address(), &http("POST", "/schema/index.json", "{}")).await;
    assert!(
        answer.starts_with("HTTP/1.1 405") && answer.to_lowercase().contains("allow: get"),
        "{answer}"
    );
}
