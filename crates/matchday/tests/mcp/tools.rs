//! Tools: all that can be asked of an agent, with schemas that hold, by the same path as any other request.

use matchday_core::league::LeagueSettings;
use matchday_core::protocol::decode::Conformance;
use matchday_testkit::mcp_client::{Legacy, ask, call};
use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, quick, short, until_registered,
};
use serde_json::{Value, json};
use std::net::SocketAddr;

async fn tools(of: SocketAddr) -> Vec<Value> {
    let listed = ask(of, "tools/list", json!({})).await.json();
    listed["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

/// Checks a result against what its tool says that it gives.
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
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, given);
    result
}

fn registration(endpoint: &str) -> Value {
    json!({"player_meta": {
        "display_name": "Ann of MCP",
        "version": "1.0.0",
        "game_types": ["even_odd"],
        "contact_endpoint": endpoint,
    }})
}

#[tokio::test]
async fn every_operation_of_each_role_is_a_tool() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let player = test_league.player(1, &to, "random").await;
    assert_eq!(
        names(&tools(manager.address()).await),
        [
            "register_player",
            "register_referee",
            "start_league",
            "order_league",
            "report_match_result",
            "league_query",
            "notify_league_error",
            "get_standings",
            "get_schedule",
            "get_status",
            "get_player_stats",
            "get_referees",
            "get_games",
            "ping",
        ]
    );
    assert_eq!(
        names(&tools(referee.address()).await),
        [
            "notify_round",
            "assign_match",
            "notify_round_completed",
            "notify_league_completed",
            "notify_league_error",
            "game_join_ack",
            "choose_parity_response",
            "game_move_response",
            "get_match_state",
            "ping",
        ]
    );
    assert_eq!(
        names(&tools(player.address()).await),
        [
            "handle_game_invitation",
            "choose_parity",
            "choose_move",
            "notify_match_result",
            "notify_game_error",
            "notify_round",
            "notify_round_completed",
            "update_standings",
            "notify_league_completed",
            "notify_league_error",
            "get_player_state",
            "ping",
        ]
    );
}

#[tokio::test]
async fn every_tool_says_what_it_takes_and_gives() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let player = test_league.player(1, &to, "random").await;
    for address in [manager.address(), referee.address(), player.address()] {
        for tool in tools(address).await {
            for field in ["title", "description"] {
                assert!(
                    tool[field].as_str().is_some_and(|text| text.len() > 3),
                    "{field} of {tool}"
                );
            }
            assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
            for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
                assert_eq!(schema["type"], "object", "{tool}");
                jsonschema::draft202012::meta::validate(schema)
                    .unwrap_or_else(|error| panic!("{error}: {tool}"));
            }
            let required = tool["inputSchema"]["required"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            for filled in [
                "protocol",
                "message_type",
                "sender",
                "timestamp",
                "conversation_id",
            ] {
                assert!(!required.contains(&json!(filled)), "{filled} of {tool}");
            }
        }
    }
}

#[tokio::test]
async fn a_player_registers_by_tool_and_asks_as_a_member() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let settings = LeagueSettings {
        conformance: Conformance::Strict,
        ..quick(short())
    };
    let manager = test_league.manager(settings).await;
    let own = free_port().await;
    let given = checked(
        manager.address(),
        "register_player",
        registration(endpoint(own.local_addr().unwrap()).raw()),
    )
    .await;
    let answer = &given["structuredContent"];
    assert_eq!(
        (&given["isError"], &answer["status"]),
        (&json!(false), &json!("ACCEPTED")),
        "{answer}"
    );
    until_registered(&manager, 1, 0).await;
    let query = json!({
        "auth_token": answer["auth_token"],
        "league_id": answer["league_id"],
        "query_type": "GET_PLAYERS",
        "query_params": {},
    });
    let players = checked(manager.address(), "league_query", query).await;
    assert_eq!(
        players["structuredContent"]["data"]["players"][0]["display_name"], "Ann of MCP",
        "{players}"
    );
}

#[tokio::test]
async fn a_refusal_is_an_error_with_the_league_error_as_its_content() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    for (tool, arguments, code) in [
        (
            "league_query",
            json!({"league_id": "x", "query_type": "GET_STANDINGS", "query_params": {}}),
            "E011",
        ),
        (
            "league_query",
            json!({"auth_token": "tok_p01_nothing", "league_id": "x", "query_type": "GET_STANDINGS",
                   "query_params": {}}),
            "E005",
        ),
        (
            "register_player",
            json!({"message_type": "START_LEAGUE"}),
            "E002",
        ),
        ("get_player_stats", json!({}), "E002"),
        (
            "order_league",
            json!({"league_id": "x", "order": "END"}),
            "E011",
        ),
        ("start_league", json!({"league_id": "x"}), "E007"),
        ("get_standings", json!({"league_id": "x"}), "E007"),
        ("get_status", json!({"league_id": "x"}), "E007"),
        (
            "get_schedule",
            json!({"league_id": "x", "round_id": 1}),
            "E007",
        ),
        (
            "get_player_stats",
            json!({"league_id": "x", "player_id": "P01"}),
            "E007",
        ),
        ("get_referees", json!({"league_id": "x"}), "E007"),
        ("get_games", json!({"league_id": "x"}), "E007"),
        ("get_games", json!({"league_id": 7}), "E002"),
    ] {
        let refused = checked(manager.address(), tool, arguments).await;
        let error = &refused["structuredContent"];
        assert_eq!(
            (
                &refused["isError"],
                &error["message_type"],
                &error["error_code"]
            ),
            (&json!(true), &json!("LEAGUE_ERROR"), &json!(code)),
            "{tool}: {error}"
        );
    }
    let unknown = ask(
        manager.address(),
        "tools/call",
        json!({"name": "no_such_tool", "arguments": {}}),
    )
    .await;
    assert_eq!(unknown.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn a_question_cannot_be_made_into_another_request() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let league_id = json!(quick(short()).league_id);
    let sly = json!({"message_type": "START_LEAGUE", "league_id": league_id, "message": {"message_type": "x"}});
    let shown = call(manager.address(), "get_status", sly).await;
    assert_eq!(
        shown["structuredContent"]["message_type"], "LEAGUE_STATUS",
        "{shown}"
    );
    assert_eq!(shown["structuredContent"]["status"], "registration");
}

#[tokio::test]
async fn the_looks_of_every_role_give_what_they_say() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let player = test_league.player(1, &to, "random").await;
    until_registered(&manager, 1, 1).await;
    for (address, tool, arguments) in [
        (manager.address(), "get_standings", json!({})),
        (manager.address(), "get_status", json!({})),
        (
            manager.address(),
            "get_player_stats",
            json!({"player_id": "P01"}),
        ),
        (manager.address(), "ping", json!({})),
        (referee.address(), "get_match_state", json!({})),
        (referee.address(), "ping", json!({})),
        (player.address(), "get_player_state", json!({})),
        (player.address(), "ping", json!({})),
    ] {
        let shown = checked(address, tool, arguments).await;
        assert_eq!(shown["isError"], false, "{tool}: {shown}");
    }
    let early = checked(manager.address(), "get_schedule", json!({})).await;
    assert_eq!(
        early["structuredContent"]["error"]["error_code"], "E008",
        "{early}"
    );
}

#[tokio::test]
async fn a_tool_call_is_journaled_and_recorded_like_any_request() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let client = Legacy::connect(manager.address()).await;
    client
        .call(
            "league_query",
            json!({"auth_token": "tok_p01_0123456789abcdef"}),
        )
        .await;
    drop(client);
    manager.shutdown().await.unwrap();
    let exchanges = test_league.exchanges();
    let query = exchanges
        .iter()
        .find(|exchange| exchange.message_type == "LEAGUE_QUERY")
        .unwrap();
    assert!(!query.request.contains("0123456789"), "{query:?}");
    assert!(query.outcome.raw().starts_with('E'), "{query:?}");
}
