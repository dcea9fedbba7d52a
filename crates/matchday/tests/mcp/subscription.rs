//! Subscriptions: who asked for it is told when the table changes, in either revision's way, and only then.

use matchday_testkit::mcp_client::{Legacy, modern, open, until_event};
use matchday_testkit::test_league::{TestLeague, endpoint, quick, short, until_registered};
use serde_json::json;

const STANDINGS: &str = "league://standings";

#[tokio::test]
async fn in_the_older_revision_a_session_is_told_when_the_table_changes() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let client = Legacy::connect(manager.address()).await;
    let mut stream = open(client.to, "GET", &client.headers(), "")
        .await
        .into_body();
    let subscribed = client
        .ask("resources/subscribe", json!({"uri": STANDINGS}))
        .await;
    assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    let _player = test_league
        .player(1, &endpoint(manager.address()), "random")
        .await;
    let told = until_event(&mut stream, |event| {
        event["method"] == "notifications/resources/updated"
    })
    .await;
    assert_eq!(told["params"]["uri"], STANDINGS);
    let shown = client.call("get_standings", json!({})).await;
    assert_eq!(
        shown["structuredContent"]["standings"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "{shown}"
    );
}

#[tokio::test]
async fn in_the_newer_revision_whoever_listens_is_told_when_the_table_changes() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let body = modern(
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": [STANDINGS]}}),
    );
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    let mut stream = open(manager.address(), "POST", &headers, &body)
        .await
        .into_body();
    let accepted = until_event(&mut stream, |event| {
        event["method"] == "notifications/subscriptions/acknowledged"
    })
    .await;
    assert_eq!(
        accepted["params"]["notifications"]["resourceSubscriptions"],
        json!([STANDINGS]),
        "{accepted}"
    );
    for number in 1..=2 {
        let player = test_league
            .player(number, &endpoint(manager.address()), "random")
            .await;
        let told = until_event(&mut stream, |event| {
            event["method"] == "notifications/resources/updated"
        })
        .await;
        assert_eq!(told["params"]["uri"], STANDINGS);
        drop(player);
    }
}

#[tokio::test]
async fn many_may_listen_at_once() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let body = modern(
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": [STANDINGS]}}),
    );
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    let mut streams = Vec::new();
    for _ in 0..5 {
        let mut stream = open(manager.address(), "POST", &headers, &body)
            .await
            .into_body();
        until_event(&mut stream, |event| {
            event["method"] == "notifications/subscriptions/acknowledged"
        })
        .await;
        streams.push(stream);
    }
    let _player = test_league
        .player(1, &endpoint(manager.address()), "random")
        .await;
    for mut stream in streams {
        until_event(&mut stream, |event| {
            event["method"] == "notifications/resources/updated"
        })
        .await;
    }
}

#[tokio::test]
async fn what_leaves_the_table_as_it_is_is_not_told() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let client = Legacy::connect(manager.address()).await;
    let mut stream = open(client.to, "GET", &client.headers(), "")
        .await
        .into_body();
    client
        .ask("resources/subscribe", json!({"uri": STANDINGS}))
        .await;
    let _referee = test_league
        .referee(1, &endpoint(manager.address()), short())
        .await;
    until_registered(&manager, 0, 1).await;
    let _player = test_league
        .player(1, &endpoint(manager.address()), "random")
        .await;
    until_event(&mut stream, |event| {
        event["method"] == "notifications/resources/updated"
    })
    .await;
    let shown = client.call("get_standings", json!({})).await;
    let players = shown["structuredContent"]["standings"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(
        players, 1,
        "the first that was told is the player, not the referee"
    );
}

#[tokio::test]
async fn a_subscription_can_be_taken_back_and_nothing_else_can_be_subscribed_to() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let client = Legacy::connect(manager.address()).await;
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(
            client.ask(method, json!({"uri": STANDINGS})).await["result"],
            json!({})
        );
        let refused = client
            .ask(method, json!({"uri": "league://schedule"}))
            .await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}
