//! A game in which both move at once, round after round: asked together, and nobody told too much.

use crate::bench::*;
use matchday_core::agent::Answer;
use matchday_core::protocol::GameType;
use matchday_core::protocol::MessageType::{GameError, GameMoveCall};
use matchday_core::protocol::messages::{GameMoveResponse, MoveData};
use serde_json::{Value, json};

fn begun() -> Bench {
    let mut bench = Bench::new();
    let mut announced = even_odd("R1M1", 1, 2);
    announced.game = "rock_paper_scissors";
    bench.announce(&[announced]);
    bench.joins(1, "R1M1");
    bench.joins(2, "R1M1");
    bench
}

fn show(bench: &mut Bench, player: u32, hand: &str) {
    let response = GameMoveResponse {
        match_id: m("R1M1"),
        player_id: p(player),
        game_type: GameType::new("rock_paper_scissors"),
        move_data: MoveData {
            move_type: "show_hand".into(),
            choice: json!(hand),
        },
        nonce: None,
        signature: None,
    };
    let answer = incoming(bench.player_envelope(player, &m("R1M1")), response);
    bench.answers(player, GameMoveCall, Answer::Message(Ok(answer)));
}

fn context(bench: &Bench, player: u32) -> Value {
    written(&bench.last_to(player, GameMoveCall))["move_request"]["context"].clone()
}

#[test]
fn both_are_asked_at_once_and_the_next_round_waits_for_both() {
    let mut bench = begun();
    assert_eq!(bench.all(GameMoveCall).len(), 2);
    show(&mut bench, 1, "rock");
    assert_eq!(
        bench.all(GameMoveCall).len(),
        2,
        "nobody is asked before both have shown"
    );
    show(&mut bench, 2, "paper");
    assert_eq!(bench.all(GameMoveCall).len(), 4);
    assert_eq!(
        context(&bench, 2)["history"],
        json!([{"you": "paper", "opponent": "rock"}])
    );
    assert_eq!(context(&bench, 1)["opponent_total"], 1);
}

#[test]
fn a_player_that_is_asked_again_learns_nothing_of_a_hand_already_shown() {
    let mut bench = begun();
    let before = context(&bench, 2);
    show(&mut bench, 1, "rock");
    show(&mut bench, 2, "Rock");
    let error = written(&bench.last_to(2, GameError));
    assert_eq!(error["error_code"], "E010");
    assert_eq!(
        error["context"]["valid_choices"],
        json!(["rock", "paper", "scissors"])
    );
    bench.until(1.0);
    assert_eq!(context(&bench, 2), before);
    assert_eq!(bench.all_to(2, GameMoveCall).len(), 2);
    assert!(!error.to_string().contains("P01"), "{error}");
}

#[test]
fn the_report_tells_every_turn_so_that_the_match_can_be_played_over() {
    let mut bench = begun();
    for _ in 0..15 {
        show(&mut bench, 2, "paper");
        show(&mut bench, 1, "rock");
    }
    assert_eq!(bench.verdict(), "P02 WIN 0-3");
    assert_eq!(bench.reason(), "P02 scored 15 in 15 rounds, P01 0");
    let details = json!(bench.report().details);
    assert_eq!(
        details["turn_log"],
        json!(vec![json!({"P01": "rock", "P02": "paper"}); 15])
    );
    assert_eq!(details["totals"], json!({"P01": 0, "P02": 15}));
}

#[test]
fn a_player_that_is_silent_in_one_round_forfeits_and_the_turns_end_there() {
    let mut bench = begun();
    show(&mut bench, 1, "rock");
    show(&mut bench, 2, "rock");
    show(&mut bench, 1, "paper");
    bench.until(126.0);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
    let details = json!(bench.report().details);
    assert_eq!(
        details["turn_log"],
        json!([{"P01": "rock", "P02": "rock"}, {"P01": "paper"}])
    );
}
