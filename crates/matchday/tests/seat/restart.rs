//! Seats outlive the process that has them.

use crate::room::{League, Room, join, make_move, news, refusal, turn, unhurried};
use matchday_audit::verify::verify_file;
use matchday_testkit::mcp_client::{Legacy, call};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

async fn back(league: &League, address: std::net::SocketAddr) -> Room {
    let listener = TcpListener::bind(address).await.unwrap();
    Room::open_at(listener, &league.file(), &league.to, |settings| settings).await
}

#[tokio::test]
async fn a_seat_is_the_same_player_after_a_restart_and_knows_what_was_told() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let a = join(room.address, "Ann").await;
    let b = join(room.address, "Bob").await;
    let room = back(&league, room.close().await).await;
    let again = call(room.address, "join_league", json!({"seat": a})).await;
    assert_eq!(again["structuredContent"]["player_id"], "P01", "{again}");
    let taken = call(room.address, "join_league", json!({"name": "Bob"})).await;
    assert!(refusal(&taken).contains("is taken here"), "{taken}");

    league.begin(2).await;
    for (seat, choice) in [(&a, "even"), (&b, "odd")] {
        let asked = turn(room.address, seat).await;
        let made = make_move(room.address, seat, &asked, choice).await;
        assert_ne!(made["isError"], true, "{made}");
    }
    matchday_testkit::test_league::until_completed(&league.manager, Duration::from_secs(60)).await;
    let mut results = 0;
    loop {
        let told = news(room.address, &a).await;
        results += told["results"].as_array().unwrap().len();
        if told["happened"] == "league_over" {
            break;
        }
    }
    assert_eq!(results, 1);

    let room = back(&league, room.close().await).await;
    let told = news(room.address, &a).await;
    assert_eq!(
        (&told["happened"], &told["results"]),
        (&"league_over".into(), &json!([])),
        "{told}"
    );
    let history = call(room.address, "my_history", json!({"seat": a})).await;
    assert_eq!(
        history["structuredContent"]["games"][0]["your_choice"], "even",
        "{history}"
    );
    room.close().await;
    let found = verify_file(league.file()).unwrap();
    assert!(found.fault.is_none(), "{found:?}");
}

#[tokio::test]
async fn a_turn_that_was_open_is_asked_again_under_the_same_name() {
    let mut timing = unhurried();
    timing.retry.retries = 5;
    let league = League::new(timing).await;
    let room = league.room().await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let seat = join(room.address, "Ann").await;
    league.begin(2).await;
    let before = turn(room.address, &seat).await;
    let room = back(&league, room.close().await).await;
    let after = turn(room.address, &seat).await;
    assert_eq!(after["turn"], before["turn"]);
    make_move(room.address, &seat, &after, "even").await;
    let told = news(room.address, &seat).await;
    assert_eq!(told["results"][0]["your_choice"], "even", "{told}");
}

#[tokio::test]
async fn a_wait_ends_when_the_process_does() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let client = Legacy::connect(room.address).await;
    client.call("join_league", json!({"name": "Ann"})).await;
    let waiting = tokio::spawn(async move {
        client
            .call("wait_for_turn", json!({"wait_seconds": 50}))
            .await
    });
    tokio::task::yield_now().await;
    let began = Instant::now();
    room.close().await;
    // It is told that the server stops, or loses its connection; it does not wait for its 50 seconds.
    let _ = waiting.await;
    assert!(
        began.elapsed() < Duration::from_secs(40),
        "{:?}",
        began.elapsed()
    );
}
