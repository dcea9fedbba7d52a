//! What the client of a seat said and was told is kept, without its key.

use crate::room::{League, join, make_move, news, turn, unhurried};
use matchday_store::Store;
use matchday_testkit::mcp_client::call;
use serde_json::json;

#[tokio::test]
async fn calls_and_replies_are_kept_with_their_match_and_without_the_key() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let seat = join(room.address, "Ann").await;
    league.begin(2).await;
    let asked = turn(room.address, &seat).await;
    make_move(room.address, &seat, &asked, "seven").await;
    let reasoned = json!({
        "seat": seat, "turn": asked["turn"], "choice": "even", "reasoning": "Even numbers are friendly.",
    });
    call(room.address, "make_move", reasoned).await;
    while news(room.address, &seat).await["happened"] != "league_over" {}
    room.close().await;
    let kept = Store::open_read_only(league.file())
        .unwrap()
        .exchanges()
        .unwrap();
    let of_seat: Vec<_> = kept
        .iter()
        .filter(|exchange| exchange.conversation_id.as_str() == "conv-seat-P02")
        .collect();
    let said = |tool: &str| {
        of_seat
            .iter()
            .filter(|exchange| exchange.message_type.raw() == tool)
            .count()
    };
    assert_eq!(
        (said("join_league"), said("make_move")),
        (1, 2),
        "{of_seat:#?}"
    );
    let moved = of_seat
        .iter()
        .find(|exchange| exchange.request.contains("\"even\""))
        .unwrap();
    assert_eq!(
        moved.match_id.as_ref().map(|id| id.as_str()),
        Some("R1M1"),
        "{moved:?}"
    );
    assert!(moved.request.contains("friendly"), "{moved:?}");
    let wrong = of_seat
        .iter()
        .find(|exchange| exchange.request.contains("seven"))
        .unwrap();
    assert_eq!(wrong.error_code.as_deref(), Some("E010"), "{wrong:?}");
    let told = of_seat
        .iter()
        .find(|exchange| exchange.message_type.raw() == "wait_for_turn")
        .unwrap();
    assert!(
        told.answer.as_ref().unwrap().contains("your_turn"),
        "{told:?}"
    );
    assert!(!format!("{kept:?}").contains(&seat), "the key is kept");
}
