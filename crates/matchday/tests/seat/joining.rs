//! Joining: once, twice, too late, in both revisions; and what there is before the league begins and after it is over.

use crate::room::{League, Room, default_league, join, make_move, news, refusal, turn, unhurried};
use matchday_server::seat::SeatSettings;
use matchday_testkit::mcp_client::{Legacy, call, call_with};
use matchday_testkit::test_league::{free_port, until_completed};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn joining_tells_who_one_is_what_is_played_and_what_to_do() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let joined = call(room.address, "join_league", json!({"name": "Ann"})).await;
    let joined = &joined["structuredContent"];
    assert_eq!(
        (&joined["player_id"], &joined["league_id"]),
        (&"P01".into(), &default_league().into())
    );
    assert!(joined["seat"].as_str().unwrap().len() > 32, "{joined}");
    assert!(
        joined["games"][0]["rules"].as_str().unwrap().len() > 50,
        "{joined}"
    );
    assert!(
        joined["next"].as_str().unwrap().contains("wait_for_turn"),
        "{joined}"
    );
    assert!(
        joined["if_you_do_not_move"]
            .as_str()
            .unwrap()
            .contains("always_even"),
        "{joined}"
    );
}

#[tokio::test]
async fn one_address_does_not_take_all_seats() {
    let league = League::new(unhurried()).await;
    let few = |settings: SeatSettings| SeatSettings {
        seats_per_address: Some(2),
        ..settings
    };
    let room = Room::open_behind_proxy(free_port().await, &league.file(), &league.to, few).await;
    let ask = async |arguments: Value| {
        let forwarded = [("x-forwarded-for", "192.0.2.7")];
        call_with(room.address, &forwarded, "join_league", arguments).await
    };
    let first = ask(json!({"name": "Ann"})).await;
    ask(json!({"name": "Bob"})).await;
    let third = ask(json!({"name": "Cyd"})).await;
    assert!(
        refusal(&third).contains("2 seats were opened from your address"),
        "{third}"
    );
    let again = ask(json!({"seat": first["structuredContent"]["seat"]})).await;
    assert_eq!(
        again["structuredContent"]["player_id"], "P01",
        "a seat that it has: {again}"
    );
}

#[tokio::test]
async fn before_the_league_begins_there_is_nothing_yet_and_a_table() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let seat = join(room.address, "Ann").await;
    let told = call(
        room.address,
        "wait_for_turn",
        json!({"seat": seat, "wait_seconds": 0}),
    )
    .await;
    let told = &told["structuredContent"];
    assert_eq!(
        (&told["happened"], &told["player_id"]),
        (&"nothing_yet".into(), &"P01".into()),
        "{told}"
    );
    assert!(
        told["next"]
            .as_str()
            .unwrap()
            .contains("Call wait_for_turn again"),
        "{told}"
    );
    let early = call(
        room.address,
        "make_move",
        json!({"seat": seat, "choice": "even"}),
    )
    .await;
    assert!(refusal(&early).contains("nothing to choose now"), "{early}");
    let table = call(room.address, "standings", json!({"seat": seat})).await;
    assert_eq!(
        table["structuredContent"]["standings"][0]["display_name"], "Ann",
        "{table}"
    );
}

#[tokio::test]
async fn in_a_session_joining_again_under_the_same_name_is_the_same_seat() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let client = Legacy::connect(room.address).await;
    let first = client.call("join_league", json!({"name": "Ann"})).await;
    let again = client.call("join_league", json!({"name": "ann"})).await;
    assert_eq!(
        again["structuredContent"]["player_id"], first["structuredContent"]["player_id"],
        "{again}"
    );
    assert!(
        again["structuredContent"]["seat"].is_null(),
        "the key is told once: {again}"
    );
    let told = client.call("my_history", json!({})).await;
    assert_eq!(
        told["structuredContent"]["player_id"], "P01",
        "one seat needs no name: {told}"
    );
    let second = client.call("join_league", json!({"name": "Bob"})).await;
    assert_eq!(second["structuredContent"]["player_id"], "P02", "{second}");
    let which = client.call("my_history", json!({})).await;
    assert!(refusal(&which).contains("you hold 2 seats"), "{which}");
}

#[tokio::test]
async fn without_a_session_a_seat_comes_back_by_its_key_and_a_name_is_taken_once() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let seat = join(room.address, "Ann").await;
    let again = call(room.address, "join_league", json!({"name": "Ann"})).await;
    assert!(
        refusal(&again).contains("if it is yours, call join_league with its \"seat\""),
        "{again}"
    );
    let back = call(room.address, "join_league", json!({"seat": seat})).await;
    assert_eq!(back["structuredContent"]["player_id"], "P01", "{back}");
    let other = Legacy::connect(room.address).await;
    let back = other.call("join_league", json!({"seat": seat})).await;
    assert_eq!(back["structuredContent"]["player_id"], "P01", "{back}");
    assert_ne!(other.call("my_history", json!({})).await["isError"], true);
    for name in [json!(""), json!("x".repeat(51)), json!(null)] {
        let wrong = call(room.address, "join_league", json!({"name": name})).await;
        assert!(refusal(&wrong).contains("1 to 50 characters"), "{wrong}");
    }
}

#[tokio::test]
async fn there_are_only_so_many_seats() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    for name in ["Ann", "Bob", "Cid", "Dan"] {
        join(room.address, name).await;
    }
    let fifth = call(room.address, "join_league", json!({"name": "Eve"})).await;
    assert!(refusal(&fifth).contains("all 4 seats are taken"), "{fifth}");
}

#[tokio::test]
async fn whom_the_manager_refuses_is_told_why_and_has_no_seat() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let _others = (
        league.test_league.player(1, &league.to, "random").await,
        league.test_league.player(2, &league.to, "random").await,
    );
    league.begin(2).await;
    for _ in 0..6 {
        let late = call(room.address, "join_league", json!({"name": "Ann"})).await;
        assert!(
            refusal(&late).contains("the manager of the league refuses you"),
            "{late}"
        );
    }
}

#[tokio::test]
async fn when_the_league_is_over_the_final_table_is_told_as_often_as_it_is_asked_for() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let seat = join(room.address, "Ann").await;
    league.begin(2).await;
    let asked = turn(room.address, &seat).await;
    make_move(room.address, &seat, &asked, "even").await;
    until_completed(&league.manager, Duration::from_secs(60)).await;
    loop {
        let told = news(room.address, &seat).await;
        if told["happened"] == "league_over" {
            break;
        }
        assert_eq!(told["happened"], "result", "{told}");
    }
    let told = news(room.address, &seat).await;
    assert_eq!(told["happened"], "league_over");
    assert_eq!(told["final_table"].as_array().unwrap().len(), 2, "{told}");
    assert_eq!(told["final_table"][0]["played"], 1);
    let history = call(room.address, "my_history", json!({"seat": seat})).await;
    assert_eq!(
        history["structuredContent"]["games"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "{history}"
    );
    let refused = call(room.address, "join_league", json!({"name": "Ann"})).await;
    assert!(
        refusal(&refused).contains("refuses you"),
        "the old seat makes room, the league does not: {refused}"
    );
}
