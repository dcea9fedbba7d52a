//! Players that do not answer, cannot be reached, or answer at the last moment.

use crate::bench::*;
use matchday_core::agent::{Answer, Ask, Content, Failure};
use matchday_core::protocol::MessageType::{ChooseParityCall, GameError, GameInvitation, GameOver};
use matchday_core::protocol::messages::Parity;
use matchday_core::retry::RetryPolicy;
use serde_json::{Value, json};

fn exponential() -> Bench {
    let mut settings = settings();
    settings.timing.retry = RetryPolicy::EXPONENTIAL;
    let mut bench = Bench::with(settings);
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    bench
}

fn just_before(seconds: f64) -> f64 {
    seconds - 0.000_001
}

#[test]
fn a_silent_player_is_invited_again_two_seconds_after_each_try_and_forfeits_after_the_fourth() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    bench.until(just_before(26.0));
    assert_eq!(bench.times(2, GameInvitation), [0.0, 7.0, 14.0, 21.0]);
    assert_eq!(bench.decisions(), 0);
    bench.until(26.0);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
    assert_eq!(
        bench.reason(),
        "P02 failed to respond within timeout - P01 wins by default"
    );
    assert_eq!(bench.times(2, GameError), [5.0, 12.0, 19.0, 26.0]);
}

#[test]
fn an_exponential_policy_doubles_the_pauses() {
    let mut bench = exponential();
    bench.joins(1, "R1M1");
    bench.until(60.0);
    assert_eq!(bench.times(2, GameInvitation), [0.0, 6.0, 13.0, 22.0]);
    assert_eq!(bench.times(2, GameError), [5.0, 11.0, 18.0, 27.0]);
}

#[test]
fn a_silent_chooser_has_thirty_seconds_each_time() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.until(just_before(126.0));
    assert_eq!(bench.times(2, ChooseParityCall), [0.0, 32.0, 64.0, 96.0]);
    assert_eq!(bench.decisions(), 0);
    bench.until(126.0);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
    assert_eq!(
        json!(bench.report().details.game),
        json!({"drawn_number": null, "number_parity": null, "choices": {"P01": "even", "P02": null}})
    );
    assert_eq!(bench.report().details.fairness, None);
}

#[test]
fn both_silent_is_a_double_forfeit_with_no_winner() {
    for mut bench in [Bench::invited(), Bench::joined()] {
        bench.until(200.0);
        assert_eq!(bench.verdict(), "nobody TECHNICAL_LOSS 0-0");
        assert_eq!(
            bench.reason(),
            "P01 failed to respond within timeout and P02 failed to respond within timeout - double forfeit"
        );
        for (_, error) in bench.all(GameError) {
            bench.answer(error.call, Answer::Received);
        }
        assert_eq!(bench.all(GameOver).len(), 2);
    }
}

#[test]
fn a_forfeit_waits_until_the_others_fate_is_known() {
    let mut bench = Bench::invited();
    let declined = bench.join_ack(1, "R1M1", false);
    bench.answers(1, GameInvitation, Answer::Message(Ok(declined)));
    bench.until(8.0);
    assert_eq!(bench.decisions(), 0);
    bench.joins(2, "R1M1");
    assert_eq!(bench.verdict(), "P02 TECHNICAL_LOSS 0-3");
    assert_eq!(
        bench.reason(),
        "P01 declined the invitation - P02 wins by default"
    );
}

#[test]
fn declining_is_a_forfeit_at_once_without_another_try() {
    let mut bench = Bench::invited();
    bench.joins(2, "R1M1");
    let declined = bench.join_ack(1, "R1M1", false);
    bench.answers(1, GameInvitation, Answer::Message(Ok(declined)));
    assert_eq!(bench.verdict(), "P02 TECHNICAL_LOSS 0-3");
    assert!(bench.all(GameError).is_empty());
}

#[test]
fn a_refused_connection_is_tried_again_after_the_pause_and_not_after_the_window() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    for tried in [0.0, 2.0, 4.0, 6.0] {
        bench.until(tried);
        bench.answers(2, GameInvitation, no_connection());
    }
    assert_eq!(bench.times(2, GameInvitation), [0.0, 2.0, 4.0, 6.0]);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
    assert_eq!(
        bench.reason(),
        "P02 could not be reached - P01 wins by default"
    );
    assert_eq!(written(&bench.last_to(2, GameError))["error_code"], "E009");
}

#[test]
fn a_connection_closed_without_an_answer_is_told_from_no_connection() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    for tried in [0.0, 2.0, 4.0, 6.0] {
        bench.until(tried);
        bench.answers(2, GameInvitation, Answer::Undelivered(Failure::Closed));
    }
    assert_eq!(bench.times(2, GameInvitation), [0.0, 2.0, 4.0, 6.0]);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
    let error = written(&bench.last_to(2, GameError));
    assert_eq!(error["error_code"], "E009");
    let message = error["error_message"].as_str().unwrap();
    assert!(
        message.ends_with("was closed without an answer."),
        "{message}"
    );
}

#[test]
fn an_answer_during_the_pause_counts_by_whichever_way_it_comes() {
    for separate in [false, true] {
        let mut bench = Bench::joined();
        bench.chooses(1, "R1M1", Parity::Even);
        bench.until(31.0);
        assert_eq!(bench.times(2, GameError), [30.0]);
        if separate {
            let choice = bench.choice(2, "R1M1", Parity::Odd);
            let received = bench.request(Ask::Message(Ok(choice)));
            assert_eq!(received, Content::Received);
        } else {
            bench.chooses(2, "R1M1", Parity::Odd);
        }
        assert_eq!(bench.decisions(), 1);
        assert!(bench.verdict().contains("WIN"));
    }
}

#[test]
fn a_late_answer_to_an_earlier_try_counts_in_a_later_one() {
    let mut bench = Bench::joined();
    let first = bench.last_to(2, ChooseParityCall).call;
    bench.chooses(1, "R1M1", Parity::Even);
    bench.until(40.0);
    assert_eq!(bench.times(2, ChooseParityCall), [0.0, 32.0]);
    let choice = bench.choice(2, "R1M1", Parity::Odd);
    bench.answer(first, Answer::Message(Ok(choice)));
    assert!(bench.verdict().contains("WIN"));
}

#[test]
fn just_before_the_last_deadline_is_in_time_and_at_it_is_too_late() {
    for (at, outcome) in [(just_before(126.0), "WIN"), (126.0, "TECHNICAL_LOSS")] {
        let mut bench = Bench::joined();
        bench.chooses(1, "R1M1", Parity::Even);
        bench.until(just_before(126.0));
        let call = bench.last_to(2, ChooseParityCall).call;
        bench.now = bench.at(at);
        let choice = bench.choice(2, "R1M1", Parity::Odd);
        bench.answer(call, Answer::Message(Ok(choice)));
        assert!(bench.verdict().contains(outcome), "{at}");
    }
}

#[test]
fn a_separate_answer_after_the_last_deadline_is_refused() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.until(127.0);
    let choice = bench.choice(2, "R1M1", Parity::Odd);
    let reply = bench.request(Ask::Message(Ok(choice)));
    assert_eq!(refused(&reply), "E008");
    assert_eq!(bench.decisions(), 1);
}

#[test]
fn the_drivers_word_that_time_is_up_changes_nothing_before_it_is() {
    let mut bench = Bench::invited();
    bench.until(4.0);
    bench.answers(1, GameInvitation, Answer::Undelivered(Failure::TimedOut));
    assert!(bench.all(GameError).is_empty());
    let ack = bench.join_ack(1, "R1M1", true);
    assert_eq!(bench.request(Ask::Message(Ok(ack))), Content::Received);
    bench.joins(2, "R1M1");
    assert_eq!(bench.all(ChooseParityCall).len(), 2);
}

#[test]
fn a_timeout_is_told_with_every_field_that_any_source_has() {
    let mut bench = Bench::invited();
    bench.until(5.0);
    let sent = bench.last_to(2, GameError);
    let mut error = written(&bench.last_to(2, GameError));
    assert_eq!(
        envelope(&sent).auth_token,
        Some(tokens(2, &m("R1M1"), 1).to_player)
    );
    error.as_object_mut().unwrap().remove("auth_token");
    assert_eq!(
        error,
        json!({
            "protocol": "league.v2",
            "message_type": "GAME_ERROR",
            "sender": "referee:REF01",
            "timestamp": "2025-01-15T10:00:05Z",
            "conversation_id": "conv-r1m1-001",
            "league_id": "league_2025_even_odd",
            "round_id": 1,
            "match_id": "R1M1",
            "player_id": "P02",
            "affected_player": "P02",
            "error_code": "E001",
            "error_name": "TIMEOUT_ERROR",
            "error_description": "TIMEOUT_ERROR",
            "error_message": "No GAME_JOIN_ACK came within 5 seconds.",
            "action_required": "GAME_JOIN_ACK",
            "game_state": "WAITING_FOR_PLAYERS",
            "retryable": true,
            "retry_info": {"retry_count": 1, "max_retries": 3, "next_retry_at": "2025-01-15T10:00:07Z"},
            "retry_count": 1,
            "max_retries": 3,
            "context": {"timeout_sec": 5.0},
            "consequence": "Technical loss if max retries exceeded",
        })
    );
}

#[test]
fn the_last_failure_is_told_as_the_last() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    bench.until(26.0);
    let error = written(&bench.last_to(2, GameError));
    assert_eq!(error["retryable"], false);
    assert_eq!(
        error["retry_info"],
        json!({"retry_count": 3, "max_retries": 3})
    );
    assert_eq!(error["consequence"], "Technical loss");
    assert_eq!(error["game_state"], "WAITING_FOR_PLAYERS");
    assert_eq!(error["retry_info"]["next_retry_at"], Value::Null);
}
