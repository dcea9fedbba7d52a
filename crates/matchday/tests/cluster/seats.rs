//! Clients of the Model Context Protocol in the seats of a league whose owner is lost.

use crate::fixture::{Service, Services};
use matchday_testkit::eventually::eventually;
use matchday_testkit::mcp_client::modern;
use serde_json::{Value, json};

/// Calls a tool in revision 2026-07-28, again while the league changes hands.
fn call(service: &Service, tool: &str, arguments: &Value) -> Value {
    let request = modern("tools/call", json!({"name": tool, "arguments": arguments}));
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ];
    eventually("the league answers", || {
        let request = Some(serde_json::from_str(&request).unwrap());
        let answer = service.call("POST", "/leagues/spring/mcp", &headers, request);
        if answer.status == 200 {
            let result = answer.json()["result"].clone();
            assert_ne!(result["isError"], true, "{result}");
            return Some(result["structuredContent"].clone());
        }
        assert_eq!(answer.status, 503, "{answer:?}");
        None
    })
}

fn until(service: &Service, seat: &Value, wanted: &str) -> Value {
    loop {
        let news = call(
            service,
            "wait_for_turn",
            &json!({"seat": seat, "wait_seconds": 1}),
        );
        if news["happened"] == wanted {
            return news;
        }
    }
}

#[test]
fn a_turn_of_a_seat_that_is_open_when_the_owner_is_killed_is_played_at_another_service() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create(
        "spring",
        &json!({"start-when": "players=2", "seats": "on", "fallback": "none"}),
    );
    let joined = call(&other, "join_league", &json!({"name": "Ann"}));
    let seat = &joined["seat"];
    let _opponent = services.player(&other, "spring");
    until(&other, seat, "your_turn");
    assert!(owner.is(&services.owner(1)));
    // Dropping a process kills it.
    drop(owner);
    let asked = until(&other, seat, "your_turn");
    let (turn, choice) = (&asked["turn"]["turn"], &asked["turn"]["options"][0]);
    call(
        &other,
        "make_move",
        &json!({"seat": seat, "turn": turn, "choice": choice}),
    );
    until(&other, seat, "league_over");
    assert!(other.is(&services.owner(1)));
    assert_eq!(services.technical_losses(), "0");
    services.verify("spring");
}
