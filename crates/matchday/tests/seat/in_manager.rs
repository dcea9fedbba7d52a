//! Seats at the manager's own address.

use crate::ground::{Ground, endpoint, free_port, quick, until_completed, until_registered};
use crate::http::{Legacy, ask, call};
use crate::room::{join, make_move, settings, turn, unhurried};
use matchday::seat::Seats;
use matchday::shell::{self, Options};
use matchday::store::Stream;
use matchday_core::league::Manager;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_manager_with_seats_has_their_tools_and_plays_them() {
    let ground = Ground::new();
    let listener = free_port().await;
    let address = listener.local_addr().unwrap();
    let to = endpoint(address);
    let seats = settings(&to, address);
    let seats = Seats::open(seats, address, ground.store.clone(), ground.options("seats")).unwrap();
    let options = Options { seats: Some(seats), ..ground.options("league") };
    let manager = Manager::new(quick(unhurried()));
    let manager = shell::run(manager, listener, ground.store.clone(), Stream::league(), options).unwrap();
    let _referee = ground.referee(1, &to, unhurried()).await;

    let listed = ask(address, "tools/list", json!({})).await.json();
    let names = listed["result"]["tools"].as_array().unwrap();
    for name in ["get_standings", "join_league", "wait_for_turn", "make_move", "standings", "my_history"] {
        assert!(names.iter().any(|tool| tool["name"] == name), "{name}");
    }
    let prompt = ask(address, "prompts/get", json!({"name": "play_this_league"})).await.json();
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("join_league") && !text.contains("register_player"), "{text}");

    let first = join(address, "Ann").await;
    let session = Legacy::connect(address).await;
    session.call("join_league", json!({"name": "Bob"})).await;
    until_registered(&manager, 2, 1).await;
    ground.start(&manager).await;
    let asked = turn(address, &first).await;
    make_move(address, &first, &asked, "even").await;
    loop {
        let told = session.call("wait_for_turn", json!({})).await;
        if told["structuredContent"]["happened"] == "your_turn" {
            break;
        }
    }
    session.call("make_move", json!({"choice": "odd"})).await;
    let done = until_completed(&manager, Duration::from_secs(20)).await;
    assert_eq!(done.matches_decided, 1);
    let told = call(address, "my_history", json!({"seat": first})).await;
    assert_eq!(told["structuredContent"]["moves_made_for_you"], 0, "{told}");
    manager.shutdown().await.unwrap();
}
