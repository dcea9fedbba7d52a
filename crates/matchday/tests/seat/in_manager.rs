//! Seats at the manager's own address.

use crate::room::{CODE, join, make_move, settings, turn, unhurried};
use matchday_core::league::Manager;
use matchday_core::protocol::Token;
use matchday_server::seat::{Authorization, SeatSettings, Seats, mount};
use matchday_store::Stream;
use matchday_testkit::mcp_client::{Legacy, ask, call, modern, send_to};
use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, quick, until_completed, until_registered,
};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_manager_with_seats_has_their_tools_and_plays_them() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let listener = free_port().await;
    let address = listener.local_addr().unwrap();
    let to = endpoint(address);
    let seats = settings(&to, address);
    let seats = Seats::open(
        seats,
        address,
        test_league.store.clone(),
        test_league.options("seats"),
    )
    .unwrap();
    let mut options = test_league.options("league");
    mount(&mut options, &seats);
    let manager = Manager::new(quick(unhurried()));
    let manager = matchday_runtime::run(
        manager,
        listener,
        test_league.store.clone(),
        Stream::league(),
        options,
    )
    .unwrap();
    let _referee = test_league.referee(1, &to, unhurried()).await;

    let listed = ask(address, "tools/list", json!({})).await.json();
    let names = listed["result"]["tools"].as_array().unwrap();
    for name in [
        "get_standings",
        "join_league",
        "wait_for_turn",
        "make_move",
        "standings",
        "my_history",
    ] {
        assert!(names.iter().any(|tool| tool["name"] == name), "{name}");
    }
    let prompt = ask(address, "prompts/get", json!({"name": "play_this_league"}))
        .await
        .json();
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(
        text.contains("join_league") && !text.contains("register_player"),
        "{text}"
    );

    let first = join(address, "Ann").await;
    let session = Legacy::connect(address).await;
    session.call("join_league", json!({"name": "Bob"})).await;
    until_registered(&manager, 2, 1).await;
    test_league.start(&manager).await;
    let asked = turn(address, &first).await;
    make_move(address, &first, &asked, "even").await;
    loop {
        let told = session.call("wait_for_turn", json!({})).await;
        if told["structuredContent"]["happened"] == "your_turn" {
            break;
        }
    }
    session.call("make_move", json!({"choice": "odd"})).await;
    let done = until_completed(&manager, Duration::from_secs(60)).await;
    assert_eq!(done.matches_decided, 1);
    let told = call(address, "my_history", json!({"seat": first})).await;
    assert_eq!(told["structuredContent"]["moves_made_for_you"], 0, "{told}");
    manager.shutdown().await.unwrap();
}

#[tokio::test]
async fn at_a_manager_only_the_tools_of_seats_ask_for_the_code() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let listener = free_port().await;
    let address = listener.local_addr().unwrap();
    let guarded = SeatSettings {
        authorization: Authorization::Code(Token::new(CODE).hash()),
        ..settings(&endpoint(address), address)
    };
    let seats = Seats::open(
        guarded,
        address,
        test_league.store.clone(),
        test_league.options("seats"),
    )
    .unwrap();
    let mut options = test_league.options("league");
    mount(&mut options, &seats);
    let manager = Manager::new(quick(unhurried()));
    let store = test_league.store.clone();
    let manager =
        matchday_runtime::run(manager, listener, store, Stream::league(), options).unwrap();
    assert_eq!(
        call(address, "get_status", json!({})).await["isError"],
        false
    );
    let refused = ask(
        address,
        "tools/call",
        json!({"name": "join_league", "arguments": {"name": "Ann"}}),
    )
    .await;
    assert_eq!(refused.status, 403, "{refused:?}");
    let named = format!("/join/{CODE}/mcp");
    let joining = json!({"name": "join_league", "arguments": {"name": "Ann"}});
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "join_league"),
    ];
    let body = modern("tools/call", joining);
    let joined = send_to(address, "POST", &named, &headers, &body).await;
    assert_eq!(
        joined.status, 200,
        "the code in the path opens too: {joined:?}"
    );
    manager.shutdown().await.unwrap();
}
