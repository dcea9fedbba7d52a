//! What stands on the pages of a league that has been played, or has not begun.

use crate::league::League;
use crate::script::{can_be_run, plays, shows};
use matchday_testkit::cli::TOKEN;
use matchday_testkit::mcp_client::call;
use serde_json::json;

/// Markup, entities, and the longest name there may be. Characters that are not seen no name may have.
const HOSTILE: [&str; 3] = [
    "<img src=x onerror=\"window.hacked=1\">",
    "Ada<b><u>&lt;script&gt;",
    "</bdi><script>window.hacked=1</script>aaaaaaaaaaaa",
];

#[test]
fn a_match_page_explains_a_technical_loss() {
    shows("technical", League::with_a_technical_loss, &[]);
}

#[test]
fn a_hostile_name_stays_text_on_every_page() {
    assert_eq!(HOSTILE[2].chars().count(), 50);
    shows(
        "hostile",
        || League::played(&[&HOSTILE[..], &["Ada"]].concat()),
        &[&serde_json::to_string(&HOSTILE).unwrap()],
    );
}

fn is_accessible(scheme: &str, width: &str) {
    shows(
        "accessible",
        || League::played(&["Ada", "Basho", "Clio", "Dag"]),
        &[scheme, width],
    );
}

#[test]
fn no_page_has_a_serious_fault_of_accessibility_by_day() {
    is_accessible("light", "1280");
}

#[test]
fn no_page_has_a_serious_fault_of_accessibility_by_night() {
    is_accessible("dark", "1280");
}

#[test]
fn no_page_has_a_serious_fault_of_accessibility_on_a_phone() {
    is_accessible("light", "390");
}

#[test]
fn an_empty_league_says_what_to_do() {
    shows("empty", League::empty, &[]);
}

#[test]
fn a_league_that_is_not_open_to_readers_asks_for_the_operators_token() {
    shows("closed", || League::closed("Ada"), &[TOKEN]);
}

#[test]
fn nothing_is_fetched_from_another_host() {
    shows("own_host", || League::played(&["Ada", "Basho"]), &[]);
}

#[test]
fn the_inspector_finds_messages_and_shows_what_is_kept_of_them() {
    shows(
        "inspector",
        || League::played(&["Ada", "Basho", "Clio", "Dag"]),
        &[],
    );
}

#[test]
fn the_keyboard_reaches_the_whole_navigation() {
    shows(
        "keyboard",
        || League::played(&["Ada", "Basho", "Clio", "Dag"]),
        &[],
    );
}

#[test]
fn no_page_is_wider_than_a_small_phone() {
    shows(
        "narrow",
        || League::played(&[HOSTILE[2], HOSTILE[0], "Clio", "Dag"]),
        &[],
    );
}

#[test]
fn the_browser_recomputes_a_draw() {
    shows("draw", || League::played(&["Ada", "Basho"]), &[]);
}

#[test]
fn a_match_is_played_over_ply_by_ply() {
    shows("replay", || League::of_game("tic_tac_toe"), &[]);
}

/// Plays a league of two from a seat, always even.
async fn play_from_a_seat(league: &League) {
    let to = league
        .cli
        .manager
        .trim_start_matches("http://")
        .trim_end_matches("/mcp")
        .parse()
        .unwrap();
    let joined = call(to, "join_league", json!({"name": "Ann"})).await;
    let seat = joined["structuredContent"]["seat"].clone();
    league.start();
    loop {
        let told =
            call(to, "wait_for_turn", json!({"seat": seat})).await["structuredContent"].clone();
        match told["happened"].as_str().unwrap() {
            "league_over" => return,
            "your_turn" => {
                let turn = &told["turn"]["turn"];
                call(
                    to,
                    "make_move",
                    json!({"seat": seat, "turn": turn, "choice": "even"}),
                )
                .await;
            }
            _ => {}
        }
    }
}

#[test]
fn the_page_of_a_seat_shows_what_it_was_told_and_said() {
    if !can_be_run() {
        return;
    }
    let league = League::with_seats(&["Ada"]);
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(play_from_a_seat(&league));
    plays("seat", &league.cli.manager, &[]);
}
