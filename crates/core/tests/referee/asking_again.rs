//! When a player is asked again, when its answer still counts, and in which order it hears of it all.

use crate::bench::*;
use matchday_core::agent::{Answer, CallDeadline};
use matchday_core::protocol::MessageType::{
    ChooseParityCall, GameError, GameInvitation, GameOver, MatchResultReport,
};
use matchday_core::protocol::messages::Parity;

/// Player 1 has chosen, player 2 is asked.
fn asked() -> Bench {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench
}

fn wrong(bench: &mut Bench) {
    bench.answers(
        2,
        ChooseParityCall,
        Answer::Message(Err(invalid_choice("7"))),
    );
}

#[test]
fn after_a_wrong_answer_the_player_is_told_at_once_and_asked_a_second_later() {
    let mut bench = asked();
    bench.until(10.0);
    wrong(&mut bench);
    assert_eq!(bench.times(2, GameError), [10.0]);
    assert_eq!(bench.times(2, ChooseParityCall), [0.0]);
    bench.until(11.0);
    assert_eq!(bench.times(2, ChooseParityCall), [0.0, 11.0]);
}

#[test]
fn a_player_that_goes_on_answering_wrongly_is_asked_less_and_less_often_to_the_end_of_its_window() {
    let mut bench = asked();
    for second in 0..30 {
        bench.until(second.into());
        if bench.times(2, ChooseParityCall).last() == Some(&second.into()) {
            wrong(&mut bench);
        }
    }
    assert_eq!(
        bench.times(2, ChooseParityCall),
        [0.0, 1.0, 3.0, 7.0, 15.0, 23.0]
    );
    bench.until(30.0);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
}

#[test]
fn as_long_as_another_answer_counts_the_error_says_so() {
    let mut bench = asked();
    bench.until(29.5);
    wrong(&mut bench);
    let error = written(&bench.last_to(2, GameError));
    assert_eq!(
        error["retryable"], true,
        "no question follows, but an answer would count"
    );
    let choice = bench.choice(2, "R1M1", Parity::Odd);
    bench.answers(2, GameError, Answer::Message(Ok(choice)));
    assert!(bench.verdict().contains(" WIN "));
}

#[test]
fn the_exchange_of_a_question_stays_open_until_the_next_one() {
    let bench = Bench::invited();
    assert_eq!(
        bench.last_to(2, GameInvitation).deadline,
        CallDeadline::At(bench.at(7.0)),
        "5 s to answer, and 2 s until the retry"
    );
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    bench.until(21.0);
    assert_eq!(bench.times(2, GameInvitation), [0.0, 7.0, 14.0, 21.0]);
    assert_eq!(
        bench.last_to(2, GameInvitation).deadline,
        CallDeadline::At(bench.at(26.0)),
        "there is no fifth"
    );
}

#[test]
fn an_answer_in_the_same_exchange_that_comes_in_the_retry_delay_counts() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    bench.until(6.0);
    assert_eq!(bench.times(2, GameError), [5.0]);
    bench.joins(2, "R1M1");
    assert_eq!(
        bench.times(2, GameInvitation),
        [0.0],
        "it took six seconds, and need not be asked again"
    );
    assert_eq!(bench.times(2, ChooseParityCall), [6.0]);
}

#[test]
fn game_over_waits_until_the_error_before_it_has_been_heard() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.until(126.0);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
    assert_eq!(bench.times(2, GameError), [30.0, 62.0, 94.0, 126.0]);
    assert_eq!(bench.times(1, GameOver), [126.0]);
    assert!(bench.all_to(2, GameOver).is_empty());
    assert_eq!(
        bench.all(MatchResultReport).len(),
        1,
        "the manager does not wait"
    );
    for (_, error) in bench.all_to(2, GameError) {
        bench.answer(error.call, Answer::Received);
    }
    assert_eq!(bench.times(2, GameOver), [126.0]);
}

#[test]
fn the_end_of_the_league_does_not_swallow_a_game_over_that_waits() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.until(126.0);
    bench.acknowledge();
    bench.league_completes();
    for (_, error) in bench.all_to(2, GameError) {
        bench.answer(error.call, Answer::Received);
    }
    assert_eq!(bench.all_to(2, GameOver).len(), 1);
}
