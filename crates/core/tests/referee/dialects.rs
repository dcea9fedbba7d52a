//! What a player understands: found out in a match, and remembered.

use crate::bench::*;
use matchday_core::agent::{Answer, Input};
use matchday_core::protocol::MessageType::{ChooseParityCall, GameInvitation, GameOver};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::Parity;

/// Player 2 answers its invitation in a dialect that nobody has told of.
fn understood_otherwise() -> Bench {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    let call = bench.last_to(2, GameInvitation).call;
    let answer = Answer::Message(Ok(bench.join_ack(2, "R1M1", true)));
    bench.input(Input::Answer {
        call,
        dialect: Dialect::Bare,
        answer,
    });
    bench
}

#[test]
fn a_player_is_spoken_to_in_the_dialect_that_it_understood_in_this_match_and_the_next() {
    let mut bench = understood_otherwise();
    assert_eq!(bench.last_to(2, ChooseParityCall).dialect, Dialect::Bare);
    assert_eq!(
        bench.last_to(1, ChooseParityCall).dialect,
        Dialect::Standard
    );
    bench.announce(&[even_odd("R1M2", 3, 2)]);
    assert_eq!(bench.last_to(2, GameInvitation).dialect, Dialect::Bare);
    assert_eq!(bench.last_to(3, GameInvitation).dialect, Dialect::Standard);
}

#[test]
fn what_a_player_understands_is_not_forgotten_in_a_crash() {
    let mut bench = understood_otherwise();
    bench.crash();
    assert_eq!(bench.all_to(2, GameInvitation).len(), 2);
    assert_eq!(bench.last_to(2, GameInvitation).dialect, Dialect::Bare);
}

#[test]
fn after_a_crash_the_end_is_told_in_the_dialect_that_was_understood() {
    let mut bench = understood_otherwise();
    bench.chooses(1, "R1M1", Parity::Even);
    let call = bench.last_to(2, ChooseParityCall).call;
    let answer = Answer::Message(Ok(bench.choice(2, "R1M1", Parity::Odd)));
    bench.input(Input::Answer {
        call,
        dialect: Dialect::Bare,
        answer,
    });
    bench.crash();
    assert_eq!(bench.last_to(2, GameOver).dialect, Dialect::Bare);
}

#[test]
fn an_answer_that_is_none_teaches_nothing() {
    let mut bench = Bench::invited();
    let call = bench.last_to(2, GameInvitation).call;
    let answer = Answer::Garbled("HTTP 500".into());
    bench.input(Input::Answer {
        call,
        dialect: Dialect::Bare,
        answer,
    });
    assert_eq!(bench.last_to(2, GameInvitation).dialect, Dialect::Standard);
}
