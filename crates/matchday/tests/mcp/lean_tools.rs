//! `tools/list` is short, and takes no more of JSON Schema than every client understands.

use matchday_core::game::observation::ObservationForm;
use matchday_core::league::Manager;
use matchday_server::seat::{Authorization, SeatSettings, Seats, mount};
use matchday_store::Stream;
use matchday_testkit::mcp_client::ask;
use matchday_testkit::test_league::{TestLeague, endpoint, free_port, quick, short};
use serde_json::{Value, json};
use std::net::SocketAddr;

async fn listed(of: SocketAddr) -> (usize, Vec<Value>) {
    let reply = ask(of, "tools/list", json!({})).await;
    let tools = reply.json()["result"]["tools"].as_array().unwrap().clone();
    (reply.body.len(), tools)
}

/// What the Inspector's strict mode objects to, and the formats that only Rust knows.
fn complaints(schema: &Value, path: &str, found: &mut Vec<String>) {
    const ANY_VALUE: [&str; 4] = [
        "additionalProperties",
        "unevaluatedProperties",
        "additionalItems",
        "unevaluatedItems",
    ];
    let Value::Object(object) = schema else {
        return found.push(format!("{path}: a bare {schema}"));
    };
    if object.get("type").is_some_and(Value::is_array) {
        found.push(format!("{path}: several types"));
    }
    if object
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.starts_with("uint"))
    {
        found.push(format!("{path}: format"));
    }
    let says = [
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "properties",
        "items",
        "required",
    ];
    if !says.iter().any(|name| object.contains_key(*name)) {
        found.push(format!("{path}: takes anything"));
    }
    if object
        .get("$ref")
        .and_then(Value::as_str)
        .is_some_and(|target| !target.starts_with('#'))
    {
        found.push(format!("{path}: a reference elsewhere"));
    }
    for (name, value) in object {
        match name.as_str() {
            "properties" | "$defs" | "patternProperties" => {
                for (field, schema) in value.as_object().into_iter().flatten() {
                    complaints(schema, &format!("{path}.{field}"), found);
                }
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                for schema in value.as_array().into_iter().flatten() {
                    complaints(schema, &format!("{path}.{name}"), found);
                }
            }
            "items" | "not" | "contains" => complaints(value, &format!("{path}.{name}"), found),
            name if ANY_VALUE.contains(&name) && value.is_object() => {
                complaints(value, &format!("{path}.{name}"), found);
            }
            _ => {}
        }
    }
}

fn assert_portable(tools: &[Value]) {
    let mut found = Vec::new();
    for tool in tools {
        for schema in ["inputSchema", "outputSchema"] {
            complaints(
                &tool[schema],
                &format!("{} {schema}", tool["name"]),
                &mut found,
            );
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_check_objects_to_what_it_should() {
    for bad in [
        json!({"properties": {"a": true}}),
        json!({"properties": {"a": {"type": ["string", "null"]}}}),
        json!({"properties": {"a": {"type": "integer", "format": "uint32"}}}),
        json!({"properties": {"a": {"description": "anything"}}}),
        json!({"type": "array", "items": {}}),
    ] {
        let mut found = Vec::new();
        complaints(&bad, "", &mut found);
        assert_eq!(found.len(), 1, "{bad}: {found:?}");
    }
}

#[tokio::test]
async fn the_tools_of_every_role_are_short_and_portable() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let player = test_league.player(1, &to, "random").await;
    for address in [manager.address(), referee.address(), player.address()] {
        let (bytes, tools) = listed(address).await;
        assert!(bytes < 26_000, "{bytes} bytes");
        assert_portable(&tools);
    }
}

#[tokio::test]
async fn a_manager_with_seats_offers_them_what_they_need_and_no_more() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let listener = free_port().await;
    let address = listener.local_addr().unwrap();
    let settings = SeatSettings {
        manager: endpoint(address),
        home: endpoint(address),
        seats_max: 4,
        seats_per_address: None,
        fallback: None,
        observation: ObservationForm::Both,
        authorization: Authorization::Off,
        join_code: None,
    };
    let seats = Seats::open(
        settings,
        address,
        test_league.store.clone(),
        test_league.options("seats"),
    )
    .unwrap();
    let mut options = test_league.options("league");
    mount(&mut options, &seats);
    let manager = Manager::new(quick(short()));
    let store = test_league.store.clone();
    let manager =
        matchday_runtime::run(manager, listener, store, Stream::league(), options).unwrap();
    let (bytes, tools) = listed(address).await;
    assert!(bytes < 25_000, "{bytes} bytes");
    assert_portable(&tools);
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let reading = [
        "get_standings",
        "get_schedule",
        "get_status",
        "get_player_stats",
    ];
    let taking_part = [
        "join_league",
        "wait_for_turn",
        "make_move",
        "standings",
        "my_history",
    ];
    assert_eq!(names, [&reading[..], &taking_part[..]].concat());
    let text = json!(tools).to_string();
    for word in [
        "LEAGUE_",
        "GAME_MOVE",
        "CHOOSE_PARITY",
        "league.v2",
        "tic_tac_toe",
        "even",
    ] {
        assert!(!text.contains(word), "{word}");
    }
    manager.shutdown().await.unwrap();
}
