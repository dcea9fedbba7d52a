//! Games of many turns: every move is legal, and a turn is answered once.

use super::seat::*;
use matchday_core::agent::Agent;
use matchday_core::entropy::Entropy;
use matchday_core::game::strategy;
use matchday_core::game::strategy::{Strategy, Turn};
use matchday_core::player::Player;
use matchday_core::protocol::ErrorCode;
use serde_json::{Value, json};

fn squares(taken: usize) -> Vec<Value> {
    (taken..9).map(|square| json!(square)).collect()
}

#[test]
fn every_strategy_makes_legal_moves_in_tic_tac_toe() {
    for entry in strategy::all() {
        let mut seat = Seat::taken(entry.name);
        for taken in 0..9 {
            let options = squares(taken);
            let call = move_call(&m(1, 1), "tic_tac_toe", "place_mark", &options);
            let answer = seat.moves(from_referee(&m(1, 1), 1, call));
            assert!(options.contains(&answer.move_data.choice), "{}", entry.name);
        }
    }
}

#[test]
fn a_request_repeated_gets_the_same_move_and_a_new_one_a_move_of_its_own() {
    let mut seat = Seat::taken("random");
    let calls: Vec<_> = (0..9)
        .map(|taken| move_call(&m(1, 1), "tic_tac_toe", "place_mark", &squares(taken)))
        .collect();
    let ask = |seat: &mut Seat| -> Vec<_> {
        let asked = calls
            .iter()
            .map(|call| from_referee(&m(1, 1), 1, call.clone()));
        asked.map(|call| seat.moves(call)).collect()
    };
    let first = ask(&mut seat);
    let nonces: std::collections::BTreeSet<_> = first
        .iter()
        .map(|answer| answer.nonce.clone().unwrap().0)
        .collect();
    assert_eq!(nonces.len(), 1, "an attempt has one nonce");
    assert_eq!(ask(&mut seat), first);
    seat.crash();
    assert_eq!(ask(&mut seat), first);
}

#[test]
fn a_turn_without_options_is_refused() {
    let mut seat = Seat::taken("random");
    let call = move_call(&m(1, 1), "tic_tac_toe", "place_mark", &[]);
    let error = seat.refused(from_referee(&m(1, 1), 1, call));
    assert_eq!(error.error_code, ErrorCode::InvalidFormat);
    assert!(error.error_message.unwrap().raw().contains("valid_options"));
}

#[derive(Debug)]
struct Unruly;

impl Strategy for Unruly {
    fn choose(&self, _: &Turn<'_>, _: &mut Entropy) -> Value {
        json!("checkmate")
    }
}

#[test]
fn a_strategy_that_breaks_the_rules_is_not_followed() {
    let mut seat = Seat::taken("random");
    let mut player = Player::new(settings(), Box::new(Unruly));
    seat.stored
        .iter()
        .for_each(|event| player.apply(seat.now, event));
    seat.player = player;
    let call = move_call(&m(1, 1), "tic_tac_toe", "place_mark", &[json!(3)]);
    let answer = seat.moves(from_referee(&m(1, 1), 1, call));
    assert_eq!(answer.move_data.choice, json!(3));
    let _ = seat.parity(from_referee(&m(1, 2), 1, parity_call(&m(1, 2))));
}
