//! Both revisions, from the first request on, and what tells them from league messages.

use matchday_testkit::mcp_client::{Legacy, ask, call, initialize, send};
use matchday_testkit::test_league::{TestLeague, endpoint, quick, short};
use serde_json::json;

#[tokio::test]
async fn the_older_revision_has_sessions_at_the_manager() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let client = Legacy::connect(manager.address()).await;
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    let tools = client.ask("tools/list", json!({})).await;
    assert!(
        tools["result"]["tools"].as_array().unwrap().len() > 10,
        "{tools}"
    );
    let standings = client.call("get_standings", json!({})).await;
    assert_eq!(
        standings["structuredContent"]["message_type"], "LEAGUE_QUERY_RESPONSE",
        "{standings}"
    );
}

#[tokio::test]
async fn a_session_that_was_ended_is_gone() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let client = Legacy::connect(manager.address()).await;
    assert_eq!(client.send("DELETE", "").await.status, 204);
    assert_eq!(client.send("DELETE", "").await.status, 404);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    assert_eq!(client.send("POST", &list).await.status, 404);
    let without = send(
        manager.address(),
        "POST",
        &[("mcp-protocol-version", "2025-11-25")],
        &list,
    )
    .await;
    assert_eq!(without.status, 400, "{without:?}");
}

#[tokio::test]
async fn the_newer_revision_needs_no_session() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let discovered = ask(manager.address(), "server/discover", json!({})).await;
    let versions = discovered.json()["result"]["supportedVersions"].clone();
    assert!(
        versions.as_array().unwrap().contains(&json!("2026-07-28")),
        "{discovered:?}"
    );
    assert!(
        versions.as_array().unwrap().contains(&json!("2025-11-25")),
        "{discovered:?}"
    );
    let tools = ask(manager.address(), "tools/list", json!({})).await;
    assert_eq!(
        (tools.status, tools.headers.contains_key("mcp-session-id")),
        (200, false)
    );
    let status = call(manager.address(), "get_status", json!({})).await;
    assert_eq!(
        status["structuredContent"]["status"], "registration",
        "{status}"
    );
}

#[tokio::test]
async fn referees_and_players_serve_both_revisions_without_sessions() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let player = test_league.player(1, &to, "random").await;
    for (address, tool) in [
        (referee.address(), "get_match_state"),
        (player.address(), "get_player_state"),
    ] {
        let greeted = send(address, "POST", &[], &initialize("2025-11-25")).await;
        assert_eq!(
            greeted.json()["result"]["protocolVersion"],
            "2025-11-25",
            "{greeted:?}"
        );
        assert!(!greeted.headers.contains_key("mcp-session-id"));
        let request =
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool}});
        let headers = [("mcp-protocol-version", "2025-11-25")];
        let called = send(address, "POST", &headers, &request.to_string()).await;
        assert_eq!(called.json()["result"]["isError"], false, "{called:?}");
        assert_eq!(call(address, tool, json!({})).await["isError"], false);
        let stream = send(address, "GET", &[("accept", "text/event-stream")], "").await;
        assert_eq!(
            (stream.status, &stream.headers["allow"]),
            (405, &"POST".parse().unwrap())
        );
    }
}

#[tokio::test]
async fn agents_that_call_tools_in_their_own_way_are_answered_as_before() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let request = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": {"name": "get_standings", "arguments": {}}});
    let (status, answer) = test_league
        .post(manager.address(), request.to_string())
        .await;
    assert_eq!(
        (status, &answer["result"]["isError"]),
        (200, &json!(false)),
        "{answer}"
    );
    let (_, pinged) = test_league
        .post(
            manager.address(),
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        )
        .await;
    assert_eq!(pinged["result"]["status"], "ok");
}

#[tokio::test]
async fn what_simple_clients_leave_out_is_supplied() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    for headers in [
        vec![],
        vec![
            ("accept", "*/*"),
            ("content-type", "application/x-www-form-urlencoded"),
        ],
    ] {
        let greeted = send(
            manager.address(),
            "POST",
            &headers,
            &initialize("2025-11-25"),
        )
        .await;
        assert_eq!(greeted.status, 200, "{greeted:?}");
    }
}

#[tokio::test]
async fn a_request_of_the_wrong_form_is_told_so_in_json() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let request =
        json!({"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {"capabilities": 3}});
    let refused = send(manager.address(), "POST", &[], &request.to_string()).await;
    let answer = refused.json();
    assert_eq!(
        (refused.status, &answer["error"]["code"], &answer["id"]),
        (400, &json!(-32602), &json!(9))
    );
}

#[tokio::test]
async fn shutting_down_ends_streams_and_sessions_at_once() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let client = Legacy::connect(manager.address()).await;
    let stream = matchday_testkit::mcp_client::open(client.to, "GET", &client.headers(), "").await;
    assert_eq!(stream.status(), 200);
    let ended = tokio::time::timeout(std::time::Duration::from_secs(4), manager.shutdown()).await;
    ended.expect("no stream is waited for").unwrap();
}

#[tokio::test]
async fn what_is_not_declared_is_not_answered() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let player = test_league.player(1, &to, "random").await;
    let methods = [
        ("prompts/list", "prompts", json!({})),
        (
            "prompts/get",
            "prompts",
            json!({"name": "play_this_league"}),
        ),
        ("resources/list", "resources", json!({})),
        ("resources/templates/list", "resources", json!({})),
        ("tools/list", "tools", json!({})),
        (
            "completion/complete",
            "completions",
            json!({
                "ref": {"type": "ref/prompt", "name": "play_this_league"},
                "argument": {"name": "display_name", "value": "A"},
            }),
        ),
        ("logging/setLevel", "logging", json!({"level": "info"})),
    ];
    for address in [manager.address(), referee.address(), player.address()] {
        let discovered = ask(address, "server/discover", json!({})).await.json();
        let capabilities = &discovered["result"]["capabilities"];
        for (method, capability, params) in &methods {
            let reply = ask(address, method, params.clone()).await.json();
            let refused = reply["error"]["code"] == -32601;
            assert_eq!(
                refused,
                capabilities[*capability].is_null(),
                "{method}: {reply} of {capabilities}"
            );
        }
    }
}
