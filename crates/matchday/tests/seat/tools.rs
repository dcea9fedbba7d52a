//! What clients are shown: tools, their schemas, the prompt; and who is let in.

use crate::room::{League, join, make_move, turn, unhurried};
use matchday_testkit::mcp_client::{Legacy, ask, call, initialize, send};
use serde_json::{Value, json};
use std::net::SocketAddr;

async fn tools(of: SocketAddr) -> Vec<Value> {
    let listed = ask(of, "tools/list", json!({})).await.json();
    listed["result"]["tools"].as_array().unwrap().clone()
}

/// Calls a tool, and holds what it gives against what it says that it gives.
async fn checked(of: SocketAddr, tool: &str, arguments: Value) -> Value {
    let result = call(of, tool, arguments).await;
    let tools = tools(of).await;
    let schema = &tools.iter().find(|known| known["name"] == tool).unwrap()["outputSchema"];
    let validator = jsonschema::validator_for(schema).unwrap();
    let given = &result["structuredContent"];
    let wrong: Vec<_> = validator
        .iter_errors(given)
        .map(|error| error.to_string())
        .collect();
    assert!(wrong.is_empty(), "{tool}: {wrong:?} in {given}");
    result
}

#[tokio::test]
async fn every_tool_says_what_it_is_for_in_both_revisions() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let listed = tools(room.address).await;
    let names: Vec<_> = listed
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "join_league",
            "wait_for_turn",
            "make_move",
            "standings",
            "my_history"
        ]
    );
    for tool in &listed {
        assert!(
            tool["title"].is_string() && tool["annotations"]["title"].is_string(),
            "{tool}"
        );
        assert!(tool["description"].as_str().unwrap().len() > 60, "{tool}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
        assert!(
            tool["inputSchema"]["properties"]["seat"]["description"].is_string(),
            "{tool}"
        );
    }
    let legacy = Legacy::connect(room.address)
        .await
        .ask("tools/list", json!({}))
        .await;
    assert_eq!(
        legacy["result"]["tools"].as_array().unwrap().len(),
        listed.len()
    );
}

#[tokio::test]
async fn what_tools_give_fits_their_schemas() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let to = room.address;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let joined = checked(to, "join_league", json!({"name": "Ann"})).await;
    let seat = joined["structuredContent"]["seat"]
        .as_str()
        .unwrap()
        .to_owned();
    checked(
        to,
        "wait_for_turn",
        json!({"seat": seat, "wait_seconds": 0}),
    )
    .await;
    checked(to, "wait_for_turn", json!({"seat": "wrong"})).await;
    league.begin(2).await;
    let asked = turn(to, &seat).await;
    checked(to, "wait_for_turn", json!({"seat": seat})).await;
    checked(
        to,
        "make_move",
        json!({"seat": seat, "turn": asked["turn"], "choice": "odd"}),
    )
    .await;
    loop {
        let told = checked(to, "wait_for_turn", json!({"seat": seat})).await;
        if told["structuredContent"]["happened"] == "league_over" {
            break;
        }
    }
    checked(to, "standings", json!({"seat": seat})).await;
    checked(to, "my_history", json!({"seat": seat})).await;
}

#[tokio::test]
async fn in_the_older_revision_a_session_plays_without_naming_its_seat() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let client = Legacy::connect(room.address).await;
    client.call("join_league", json!({"name": "Ann"})).await;
    let other = join(room.address, "Bob").await;
    league.begin(2).await;
    let told = loop {
        let told = client.call("wait_for_turn", json!({})).await["structuredContent"].clone();
        if told["happened"] == "your_turn" {
            break told;
        }
    };
    assert_eq!(told["player_id"], "P01");
    let made = client.call("make_move", json!({"choice": "even"})).await;
    assert_eq!(
        made["structuredContent"]["turn"], told["turn"]["turn"],
        "{made}"
    );
    let asked = turn(room.address, &other).await;
    make_move(room.address, &other, &asked, "odd").await;
    let told = client.call("wait_for_turn", json!({})).await;
    assert_eq!(
        told["structuredContent"]["results"][0]["your_choice"], "even",
        "{told}"
    );
}

#[tokio::test]
async fn the_prompt_says_how_to_play() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let listed = ask(room.address, "prompts/list", json!({})).await.json();
    assert_eq!(listed["result"]["prompts"][0]["name"], "play_this_league");
    let prompt = json!({"name": "play_this_league", "arguments": {"display_name": "Zoe"}});
    let prompt = ask(room.address, "prompts/get", prompt).await.json();
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    for word in [
        "Zoe",
        "join_league",
        "wait_for_turn",
        "make_move",
        "league_over",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[tokio::test]
async fn strangers_and_what_is_no_request_are_refused() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let to = room.address;
    let body = initialize("2025-11-25");
    for headers in [
        [("host", "evil.example")],
        [("origin", "https://evil.example")],
    ] {
        assert_eq!(
            send(to, "POST", &headers, &body).await.status,
            403,
            "{headers:?}"
        );
    }
    for (body, status) in [("{", 400), ("[]", 400), ("7", 400)] {
        let reply = send(to, "POST", &[], body).await;
        assert_eq!(reply.status, status, "{reply:?}");
        assert!(reply.json()["error"]["code"].is_number(), "{reply:?}");
    }
    assert_eq!(send(to, "PUT", &[], "").await.status, 405);
}

#[tokio::test]
async fn an_argument_that_does_not_fit_is_named() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let to = room.address;
    for (tool, arguments, field) in [
        (
            "join_league",
            json!({"name": 7}),
            "name: expected a text, got 7",
        ),
        (
            "join_league",
            json!({"name": "Ann", "league_id": "other"}),
            "league_id: expected",
        ),
        (
            "wait_for_turn",
            json!({"seat": ["x"]}),
            "seat: expected a text, got [\"x\"]",
        ),
        (
            "make_move",
            json!({"turn": 7, "choice": 1, "seat": join(to, "Ann").await}),
            "turn: expected a text, got 7",
        ),
    ] {
        let refused = call(to, tool, arguments).await;
        assert!(
            crate::room::refusal(&refused).starts_with(field),
            "{tool}: {refused}"
        );
    }
    let wrong = json!({"seat": join(to, "Bob").await, "wait_seconds": "soon"});
    let refused = crate::room::refusal(&call(to, "wait_for_turn", wrong).await);
    assert!(
        refused.starts_with("wait_seconds: expected a whole number"),
        "{refused}"
    );
}

#[tokio::test]
async fn the_briefing_is_of_this_league_and_its_game() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let discovered = ask(room.address, "server/discover", json!({})).await.json();
    let instructions = discovered["result"]["instructions"].as_str().unwrap();
    let prompt = ask(
        room.address,
        "prompts/get",
        json!({"name": "play_this_league"}),
    )
    .await
    .json();
    let prompt = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    let joined = call(room.address, "join_league", json!({"name": "Ann"})).await;
    assert_eq!(
        joined["structuredContent"]["games"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "{joined}"
    );
    for text in [instructions, prompt] {
        for word in ["join_league", "wait_for_turn", "make_move", "even_odd"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
    for text in [instructions, prompt, &joined.to_string()] {
        for word in ["tic_tac_toe", "nim", "CHOOSE_PARITY", "GAME_", "league.v2"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

#[tokio::test]
async fn a_client_that_asks_for_it_hears_that_a_wait_goes_on() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let seat = join(room.address, "Ann").await;
    let params = json!({
        "name": "wait_for_turn",
        "arguments": {"seat": seat, "wait_seconds": 6},
        "_meta": {"progressToken": "p1"},
    });
    let client = Legacy::connect(room.address).await;
    let request = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    let reply = client.send("POST", &request.to_string()).await;
    assert!(
        reply.body.contains("notifications/progress"),
        "{}",
        reply.body
    );
    assert_eq!(
        reply.json()["result"]["structuredContent"]["happened"],
        "nothing_yet"
    );
}
