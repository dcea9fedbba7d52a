//! The same question has the same answer, however often, in whatever words, and after whatever crash.

use super::seat::*;
use matchday_core::protocol::messages::Parity;
use matchday_core::protocol::{Body, ErrorCode, UntrustedText};
use serde_json::json;

#[test]
fn the_choice_and_its_nonce_are_the_same_each_time_and_after_a_crash() {
    for number in 1..=20 {
        let mut seat = Seat::taken("random");
        let id = m(1, number);
        let call = from_referee(&id, 1, parity_call(&id));
        let first = seat.parity(call.clone());
        let nonce = first.nonce.clone().unwrap().0;
        assert!(nonce.len() == 32 && nonce.bytes().all(|b| b.is_ascii_hexdigit()));
        assert_eq!(seat.parity(call.clone()), first);
        seat.crash();
        assert_eq!(seat.parity(call), first);
    }
}

#[test]
fn a_new_attempt_at_the_match_gets_the_same_choice_with_another_nonce() {
    let mut seat = Seat::taken("random");
    let first = seat.parity(from_referee(&m(1, 1), 1, parity_call(&m(1, 1))));
    let again = seat.parity(from_referee(&m(1, 1), 2, parity_call(&m(1, 1))));
    assert_eq!(first.parity_choice, again.parity_choice);
    assert_ne!(first.nonce, again.nonce);
}

#[test]
fn parity_asked_by_the_generic_pair_is_the_same_question() {
    let options = [json!("even"), json!("odd")];
    let mut seat = Seat::taken("random");
    let first = seat.parity(from_referee(&m(1, 1), 1, parity_call(&m(1, 1))));
    for (game, move_type) in [
        ("even_odd", "choose_parity"),
        ("even_odd", "parity_choose"),
        ("even_odd", "anything"),
        ("parity_deluxe", "choose_parity"),
    ] {
        let call = move_call(&m(1, 1), game, move_type, &options);
        let answer = seat.moves(from_referee(&m(1, 1), 1, call));
        assert_eq!(answer.move_data.choice, json!(first.parity_choice.as_str()));
        assert_eq!(answer.move_data.move_type, move_type);
        assert_eq!(answer.nonce, first.nonce);
    }
}

#[test]
fn a_match_that_is_over_gets_the_same_answer_until_its_round_is_closed() {
    let mut seat = Seat::taken("random");
    let id = m(1, 1);
    let call = from_referee(&id, 1, parity_call(&id));
    let first = seat.parity(call.clone());
    let over = game_over(&id, p(2), first.parity_choice, Parity::Even, 4);
    seat.tell(from_referee(&id, 1, over));
    assert_eq!(seat.parity(call), first);
    assert!(seat.player.durable().find(&id).is_some());
    seat.tell(from_manager(round_completed(1)));
    assert!(seat.player.durable().find(&id).is_none());
}

#[test]
fn once_the_round_is_closed_nothing_is_played_of_a_match_that_is_over() {
    for mut seat in [Seat::taken("random"), Seat::thinking("random")] {
        let id = m(1, 1);
        seat.tell(from_referee(
            &id,
            1,
            game_over(&id, p(2), Parity::Odd, Parity::Even, 4),
        ));
        seat.tell(from_manager(round_completed(1)));
        let late: [Body; 2] = [invitation(&id, None).into(), parity_call(&id).into()];
        for body in late {
            let error = seat.refused(from_referee(&id, 1, body));
            assert_eq!(error.error_code, ErrorCode::InvalidState);
            let why = error.error_message.as_ref().map(UntrustedText::raw);
            assert_eq!(
                why,
                Some("match R1M1 is over, as this player has been told")
            );
        }
    }
}
