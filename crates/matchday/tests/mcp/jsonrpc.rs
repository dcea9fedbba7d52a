//! The examples of the JSON-RPC 2.0 specification over real HTTP, at an address that is the Model Context Protocol's too,
//! whether or not they come with its headers.

use matchday_testkit::mcp_client::send;
use matchday_testkit::test_league::{TestLeague, endpoint, quick, short};
use serde_json::{Value, json};

fn codes_and_ids(body: &str) -> Value {
    let brief = |response: &Value| match response.get("error") {
        Some(error) => json!([error["code"], response["id"]]),
        None => json!(["ok", response["id"]]),
    };
    match serde_json::from_str(body) {
        Ok(Value::Array(responses)) => Value::Array(responses.iter().map(brief).collect()),
        Ok(response) => brief(&response),
        Err(_) => {
            assert!(body.is_empty(), "an answer is JSON or nothing: {body}");
            Value::Null
        }
    }
}

#[tokio::test]
async fn the_examples_of_the_specification_are_answered_as_it_says() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let player = test_league
        .player(1, &endpoint(manager.address()), "random")
        .await;
    let examples: Vec<Value> =
        serde_json::from_str(include_str!("../../../core/tests/jsonrpc_examples.json")).unwrap();
    for address in [manager.address(), player.address()] {
        for headers in [&[][..], &[("mcp-protocol-version", "2025-11-25")]] {
            for example in &examples {
                let reply = send(address, "POST", headers, example["body"].as_str().unwrap()).await;
                let answered = json!([reply.status, codes_and_ids(&reply.body)]);
                assert_eq!(
                    answered,
                    json!([example["status"], example["codes_and_ids"]]),
                    "{}",
                    example["name"]
                );
            }
        }
    }
}
