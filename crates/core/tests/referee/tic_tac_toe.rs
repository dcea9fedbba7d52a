//! A game of turns by the generic pair of messages, through the same referee.

use crate::bench::*;
use matchday_core::agent::{Answer, Ask, Content};
use matchday_core::protocol::GameType;
use matchday_core::protocol::MessageType::{GameError, GameMoveCall};
use matchday_core::protocol::decode::Incoming;
use matchday_core::protocol::messages::{GameMoveResponse, MoveData};
use serde_json::{Value, json};

fn begun() -> Bench {
    let mut bench = Bench::new();
    let mut announced = even_odd("R1M1", 1, 2);
    announced.game = "tic_tac_toe";
    bench.announce(&[announced]);
    bench.joins(1, "R1M1");
    bench.joins(2, "R1M1");
    bench
}

fn placed(bench: &Bench, player: u32, choice: Value) -> Incoming {
    let response = GameMoveResponse {
        match_id: m("R1M1"),
        player_id: p(player),
        game_type: GameType::new("tic_tac_toe"),
        move_data: MoveData {
            move_type: "place_mark".into(),
            choice,
        },
        nonce: None,
        signature: None,
    };
    incoming(bench.player_envelope(player, &m("R1M1")), response)
}

fn place(bench: &mut Bench, player: u32, choice: Value) {
    let response = placed(bench, player, choice);
    bench.answers(player, GameMoveCall, Answer::Message(Ok(response)));
}

#[test]
fn a_whole_game_is_played_turn_by_turn() {
    let mut bench = begun();
    for (turn, cell) in [0, 3, 1, 4, 2].into_iter().enumerate() {
        assert_eq!(
            bench.all(GameMoveCall).len(),
            turn + 1,
            "one player is asked at a time"
        );
        bench.until(turn as f64);
        place(&mut bench, 1 + turn as u32 % 2, json!(cell));
    }
    assert_eq!(bench.verdict(), "P01 WIN 3-0");
    assert_eq!(bench.reason(), "P01 (X) filled the line 0-1-2");
    let result = bench.report();
    assert_eq!(result.details.fairness, None, "nothing was drawn");
    let details = json!(result.details);
    assert_eq!(
        details["board"],
        json!(["X", "X", "X", "O", "O", null, null, null, null])
    );
    assert_eq!(details["answer_ms"], json!({"P01": 666, "P02": 1000}));
}

#[test]
fn a_player_is_asked_with_the_board_and_every_free_cell() {
    let mut bench = begun();
    place(&mut bench, 1, json!(4));
    let call = written(&bench.last_to(2, GameMoveCall));
    assert_eq!(call["game_type"], "tic_tac_toe");
    assert_eq!(call["move_request"]["move_type"], "place_mark");
    assert_eq!(
        call["move_request"]["valid_options"],
        json!([0, 1, 2, 3, 5, 6, 7, 8])
    );
    let context = &call["move_request"]["context"];
    assert_eq!(
        context["board"],
        json!([null, null, null, null, "X", null, null, null, null])
    );
    assert_eq!(
        (&context["your_mark"], &context["opponent_id"]),
        (&json!("O"), &json!("P01"))
    );
}

#[test]
fn an_illegal_move_is_e010_and_asked_again() {
    let mut bench = begun();
    place(&mut bench, 1, json!(9));
    let error = written(&bench.last_to(1, GameError));
    assert_eq!(error["error_code"], "E010");
    assert_eq!(error["context"]["invalid_choice"], 9);
    assert_eq!(error["action_required"], "GAME_MOVE_RESPONSE");
    bench.until(1.0);
    place(&mut bench, 1, json!(8));
    assert_eq!(bench.all_to(2, GameMoveCall).len(), 1);
}

#[test]
fn a_player_that_is_silent_on_its_turn_forfeits_alone() {
    let mut bench = begun();
    place(&mut bench, 1, json!(0));
    bench.until(126.0);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
}

#[test]
fn a_copy_of_an_earlier_move_is_not_taken_for_the_next() {
    let mut bench = begun();
    bench.until(1.0);
    let first = placed(&bench, 1, json!(0));
    assert_eq!(
        bench.request(Ask::Message(Ok(first.clone()))),
        Content::Received
    );
    bench.until(2.0);
    place(&mut bench, 2, json!(1));
    assert_eq!(bench.request(Ask::Message(Ok(first))), Content::Received);
    assert!(bench.all(GameError).is_empty());
    place(&mut bench, 1, json!(2));
    assert_eq!(bench.all_to(2, GameMoveCall).len(), 2);
}
