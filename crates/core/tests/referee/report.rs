//! The end of a match reaches players and manager: GAME_OVER a few times, the report until it is answered.

use crate::bench::*;
use matchday_core::agent::{Answer, Failure};
use matchday_core::protocol::ErrorCode;
use matchday_core::protocol::MessageType::{GameOver, MatchResultReport};
use matchday_core::protocol::messages::Parity;
use matchday_core::referee::{AssignedMatch, RefereeEvent};

fn decided() -> Bench {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.chooses(2, "R1M1", Parity::Odd);
    bench
}

fn answer_report(bench: &mut Bench, answer: Answer) {
    let call = bench.last(MatchResultReport).call;
    bench.answer(call, answer);
}

fn refuse_report(bench: &mut Bench, code: ErrorCode) {
    let message = incoming(bench.manager_envelope(), league_error(code, "R1M1"));
    answer_report(bench, Answer::Message(Ok(message)));
}

#[test]
fn a_report_is_sent_again_until_it_is_acknowledged() {
    let mut bench = decided();
    let failures = [
        Answer::Undelivered(Failure::NoConnection),
        Answer::Undelivered(Failure::TimedOut),
        Answer::Garbled("502".into()),
        Answer::Received,
        Answer::Message(Err(invalid_choice("?"))),
        Answer::Undelivered(Failure::NoConnection),
    ];
    for (tries, failure) in failures.into_iter().enumerate() {
        assert_eq!(bench.all(MatchResultReport).len(), tries + 1);
        answer_report(&mut bench, failure);
        bench.until(2.0 * (tries + 1) as f64);
    }
    bench.acknowledge();
    assert!(matches!(
        bench.events.last(),
        Some(RefereeEvent::Reported { .. })
    ));
    let reports = bench.all(MatchResultReport);
    assert_eq!(reports.len(), 7);
    assert!(
        reports
            .iter()
            .all(|(_, sent)| body(sent) == body(&reports[0].1))
    );
}

#[test]
fn a_final_refusal_ends_the_reporting() {
    for code in [
        ErrorCode::ResultConflict,
        ErrorCode::MatchNotFound,
        ErrorCode::LeagueNotFound,
        ErrorCode::TokenInvalid,
    ] {
        let mut bench = decided();
        refuse_report(&mut bench, code.clone());
        assert!(
            matches!(bench.events.last(), Some(RefereeEvent::ReportRefused { code: c, .. }) if *c == code)
        );
        bench.until(60.0);
        assert_eq!(bench.all(MatchResultReport).len(), 1);
    }
}

#[test]
fn a_passing_refusal_does_not() {
    for code in [
        ErrorCode::InvalidState,
        ErrorCode::RateLimited,
        ErrorCode::Internal,
    ] {
        let mut bench = decided();
        refuse_report(&mut bench, code);
        bench.until(2.0);
        assert_eq!(bench.all(MatchResultReport).len(), 2);
    }
}

#[test]
fn a_foreign_manager_need_not_know_the_acknowledgement() {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    for player in [1, 2] {
        bench.joins(player, "R1M1");
    }
    for player in [1, 2] {
        bench.chooses(player, "R1M1", Parity::Odd);
    }
    answer_report(&mut bench, Answer::Received);
    assert!(matches!(
        bench.events.last(),
        Some(RefereeEvent::Reported { .. })
    ));
}

#[test]
fn game_over_is_tried_again_as_the_policy_says_and_holds_nothing_up() {
    let mut bench = decided();
    bench.acknowledge();
    for second in [0.0, 2.0, 4.0, 6.0] {
        bench.until(second);
        bench.answers(1, GameOver, no_connection());
    }
    bench.until(100.0);
    assert_eq!(bench.times(1, GameOver), [0.0, 2.0, 4.0, 6.0]);
    assert_eq!(bench.times(2, GameOver), [0.0]);
}

#[test]
fn an_announcement_of_a_decided_match_brings_its_report_at_once_and_nothing_else() {
    let mut bench = decided();
    answer_report(&mut bench, no_connection());
    bench.until(1.0);
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    assert_eq!(bench.all(MatchResultReport).len(), 2);
    bench.until(1.9);
    bench.acknowledge();
    bench.until(60.0);
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    assert_eq!(bench.all(MatchResultReport).len(), 2);
    assert_eq!(bench.decisions(), 1);
}

#[test]
fn a_match_whose_report_was_refused_can_come_back_under_a_new_attempt() {
    let mut bench = decided();
    refuse_report(&mut bench, ErrorCode::ResultConflict);
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    assert_eq!(
        bench.referee.matches().count(),
        0,
        "the same attempt is over"
    );
    let mut again = even_odd("R1M1", 1, 2);
    again.attempt = 3;
    bench.announce(&[again]);
    assert_eq!(bench.referee.matches().count(), 1);
    assert!(matches!(
        bench.referee.durable().matches()[&m("R1M1")],
        AssignedMatch::Open { .. }
    ));
}
