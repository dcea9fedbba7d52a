//! Turns: made, made twice, too late, not at all.

use crate::room::{League, Room, hurried, join, make_move, news, refusal, turn, unhurried};
use matchday_core::game::observation::ObservationForm;
use matchday_testkit::mcp_client::call;
use matchday_testkit::test_league::until_completed;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_turn_tells_all_that_is_needed_to_choose() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let seat = join(room.address, "Ann").await;
    league.begin(2).await;
    let told = news(room.address, &seat).await;
    let turn = &told["turn"];
    assert_eq!(
        (&told["happened"], &turn["options"]),
        (&"your_turn".into(), &json!(["even", "odd"]))
    );
    assert_eq!(
        (&turn["match_id"], &turn["game_type"]),
        (&"R1M1".into(), &"even_odd".into())
    );
    assert_eq!(told["invitation"]["match_id"], "R1M1");
    assert!(turn["rules"].is_null(), "they were told on joining: {turn}");
    assert!(
        turn["text"].as_str().unwrap().ends_with("seconds."),
        "{turn}"
    );
    assert!(turn["seconds_left"].as_f64().unwrap() > 10.0, "{turn}");
    assert!(
        told["next"].as_str().unwrap().contains("make_move"),
        "{told}"
    );
    let again = news(room.address, &seat).await;
    assert_eq!(
        again["turn"]["turn"], turn["turn"],
        "an open turn is told again"
    );
}

#[tokio::test]
async fn a_move_counts_once_and_cannot_be_taken_back() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let a = join(room.address, "Ann").await;
    let b = join(room.address, "Bob").await;
    league.begin(2).await;
    let asked = turn(room.address, &a).await;
    let wrong = make_move(room.address, &a, &asked, "seven").await;
    assert_eq!(
        refusal(&wrong),
        "choice: expected one of \"even\", \"odd\" - the turn is still open: move again"
    );
    assert_eq!(wrong["structuredContent"]["retryable"], true, "{wrong}");
    let made = make_move(room.address, &a, &asked, "EVEN").await;
    assert_eq!(made["structuredContent"]["choice"], "even", "{made}");
    assert_eq!(made["structuredContent"]["already_made"], false);
    let again = make_move(room.address, &a, &asked, "even").await;
    assert_eq!(again["structuredContent"]["already_made"], true, "{again}");
    let other = make_move(room.address, &a, &asked, "odd").await;
    assert!(
        refusal(&other).contains("a move cannot be taken back"),
        "{other}"
    );
    let unnamed = call(
        room.address,
        "make_move",
        json!({"seat": a, "choice": "odd"}),
    )
    .await;
    assert!(
        refusal(&unnamed).contains("nothing to choose now"),
        "{unnamed}"
    );

    let asked = turn(room.address, &b).await;
    make_move(room.address, &b, &asked, "odd").await;
    let told = news(room.address, &a).await;
    let result = &told["results"][0];
    assert_eq!(
        (&result["your_choice"], &result["forfeited"]),
        (&"even".into(), &false.into()),
        "{told}"
    );
    assert!(result["chosen_for_you"].is_null(), "{told}");
    let late = make_move(room.address, &a, &asked, "even").await;
    assert!(
        refusal(&late).contains("this turn is not open"),
        "another's turn, and a past one: {late}"
    );
}

#[tokio::test]
async fn whoever_does_not_move_has_the_fallback_choose_and_is_told_so() {
    let league = League::new(hurried()).await;
    let room = league.room().await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let seat = join(room.address, "Ann").await;
    league.begin(2).await;
    let asked = turn(room.address, &seat).await;
    let done = until_completed(&league.manager, Duration::from_secs(60)).await;
    assert!(
        done.rows()
            .iter()
            .all(|row| row.technical_losses.unwrap_or(0) == 0),
        "{:?}",
        done.rows()
    );
    let late = make_move(room.address, &seat, &asked, "odd").await;
    assert!(refusal(&late).contains("too late"), "{late}");
    assert!(refusal(&late).contains("always_even"), "{late}");
    assert_eq!(late["structuredContent"]["retryable"], false, "{late}");
    let mut told = news(room.address, &seat).await;
    let result = told["results"][0].take();
    assert_eq!(result["your_choice"], "even", "{result}");
    assert!(
        result["chosen_for_you"]
            .as_str()
            .unwrap()
            .contains("no decision came in time"),
        "{result}"
    );
    let history = call(room.address, "my_history", json!({"seat": seat})).await;
    let history = &history["structuredContent"];
    assert_eq!(
        (&history["moves_made_for_you"], &history["played"]),
        (&1.into(), &1.into()),
        "{history}"
    );
}

#[tokio::test]
async fn without_a_fallback_whoever_does_not_move_forfeits() {
    let league = League::new(hurried()).await;
    let listener = matchday_testkit::test_league::free_port().await;
    let alone = |settings| matchday_server::seat::SeatSettings {
        fallback: None,
        ..settings
    };
    let room = Room::open_at(listener, &league.file(), &league.to, alone).await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let joined = call(room.address, "join_league", json!({"name": "Ann"})).await;
    let joined = &joined["structuredContent"];
    assert!(
        joined["if_you_do_not_move"]
            .as_str()
            .unwrap()
            .contains("lost by forfeit"),
        "{joined}"
    );
    league.begin(2).await;
    let done = until_completed(&league.manager, Duration::from_secs(30)).await;
    let rows = done.rows();
    let lost = rows
        .iter()
        .find(|row| row.display_name.raw() == "Ann")
        .unwrap();
    assert_eq!(
        (lost.losses, lost.technical_losses),
        (1, Some(1)),
        "{lost:?}"
    );
    let seat = joined["seat"].as_str().unwrap();
    let told = news(room.address, seat).await;
    assert_eq!(told["results"][0]["forfeited"], true, "{told}");
}

#[tokio::test]
async fn a_seat_is_found_by_its_key_alone() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    join(room.address, "Ann").await;
    for tool in ["wait_for_turn", "make_move", "standings", "my_history"] {
        let wrong = call(
            room.address,
            tool,
            json!({"seat": "seat_1", "choice": "even"}),
        )
        .await;
        assert!(
            refusal(&wrong).contains("no seat has this key"),
            "{tool}: {wrong}"
        );
        assert_eq!(wrong["structuredContent"]["error_code"], "E012");
        let none = call(room.address, tool, json!({"choice": "even"})).await;
        assert!(
            refusal(&none).contains("call join_league first"),
            "{tool}: {none}"
        );
    }
    let unfit = call(room.address, "make_move", json!({"seat": "seat_1"})).await;
    assert!(refusal(&unfit).contains("choice"), "{unfit}");
}

#[tokio::test]
async fn an_invitation_is_told_by_itself_when_the_turn_does_not_follow() {
    let league = League::new(matchday_core::timing::Timing {
        join: Duration::from_secs(20),
        ..unhurried()
    })
    .await;
    let room = league.room().await;
    let seat = join(room.address, "Ann").await;
    // It registers and then answers nothing, so the match does not get beyond its beginning.
    let silent = matchday_testkit::test_league::free_port().await;
    let meta = json!({
        "display_name": "Silence", "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": format!("http://{}/mcp", silent.local_addr().unwrap()),
    });
    let answering = tokio::spawn(crate::room::answer_probes_only(silent));
    call(
        league.manager.address(),
        "register_player",
        json!({"player_meta": meta}),
    )
    .await;
    league.begin(2).await;
    let told = call(
        room.address,
        "wait_for_turn",
        json!({"seat": seat, "wait_seconds": 30}),
    )
    .await;
    let told = &told["structuredContent"];
    assert_eq!(
        (&told["happened"], &told["invitation"]["opponent_id"]),
        (&"invitation".into(), &"P02".into())
    );
    assert!(told["turn"].is_null(), "{told}");
    answering.abort();
}

#[tokio::test]
async fn a_turn_is_shown_in_the_form_of_the_settings() {
    for (form, has_text, has_fields) in [
        (ObservationForm::Text, true, false),
        (ObservationForm::Json, false, true),
        (ObservationForm::Both, true, true),
    ] {
        let league = League::new(unhurried()).await;
        let shown = |settings| matchday_server::seat::SeatSettings {
            observation: form,
            ..settings
        };
        let listener = matchday_testkit::test_league::free_port().await;
        let room = Room::open_at(listener, &league.file(), &league.to, shown).await;
        let _other = league.test_league.player(1, &league.to, "always_odd").await;
        let seat = join(room.address, "Ann").await;
        league.begin(2).await;
        let asked = turn(room.address, &seat).await;
        assert_eq!(asked["text"].is_string(), has_text, "{form:?}: {asked}");
        assert_eq!(asked["record"].is_object(), has_fields, "{form:?}: {asked}");
        let made = make_move(room.address, &seat, &asked, "even").await;
        assert_eq!(made["isError"], false, "{form:?}: {made}");
    }
}

/// In strict mode a model must name every argument, and has no other way to leave one out.
#[tokio::test]
async fn an_empty_argument_is_none() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let joining = json!({"name": "Ann", "seat": "", "join_code": ""});
    let joined = call(room.address, "join_league", joining).await;
    let seat = joined["structuredContent"]["seat"].clone();
    league.begin(2).await;
    turn(room.address, seat.as_str().unwrap()).await;
    let moving = json!({"seat": seat, "turn": "", "choice": "even", "reasoning": ""});
    let made = call(room.address, "make_move", moving).await;
    assert_eq!(made["isError"], false, "{made}");
}
