//! An external decider: its requests, who waits for it, and what happens without a usable decision.

use super::seat::*;
use matchday_core::agent::{
    Agent, Answer, Ask, Content, DecisionRequest, ExternalId, ExternalResult, Input, Step,
};
use matchday_core::player::PlayerEvent;
use matchday_core::player::external_decision::PENDING_MAX;
use matchday_core::protocol::Query;
use matchday_core::protocol::messages::{ChooseParityCall, ChooseParityResponse, Parity};
use matchday_core::protocol::{Body, MatchId, Timestamp, Token};
use serde_json::{Value, json};
use std::time::Duration;

const WINDOW: Duration = Duration::from_secs(30);

fn call_within(match_id: &MatchId, window: Duration) -> Ask {
    let call = ChooseParityCall {
        deadline: Timestamp::EPOCH + window,
        ..parity_call(match_id)
    };
    Ask::Message(Ok(incoming(from_referee(match_id, 1, call))))
}

fn inquiry(step: &Step<PlayerEvent>) -> DecisionRequest {
    assert!(
        step.events.is_empty() && step.replies.is_empty(),
        "nothing is known yet: {step:?}"
    );
    assert_eq!(step.decision_requests.len(), 1);
    step.decision_requests[0].clone()
}

fn decide(seat: &mut Seat, inquiry: ExternalId, decision: ExternalResult) -> Step<PlayerEvent> {
    seat.step(Input::External {
        id: inquiry,
        result: decision,
        usage: None,
    })
}

fn why(step: &Step<PlayerEvent>) -> Option<String> {
    match step.events.as_slice() {
        [PlayerEvent::Chosen { fallback, .. }] => fallback.clone(),
        other => panic!("one choice, not {other:?}"),
    }
}

fn parities(step: &Step<PlayerEvent>) -> Vec<(u64, ChooseParityResponse)> {
    let parity = |content: &Content| match content {
        Content::Message(message) => match &message.body {
            Body::ChooseParityResponse(response) => ChooseParityResponse::clone(response),
            other => panic!("a choice, not {other:?}"),
        },
        other => panic!("a message, not {other:?}"),
    };
    step.replies
        .iter()
        .map(|reply| (reply.to.0, parity(&reply.content)))
        .collect()
}

#[test]
fn the_turn_holds_what_a_mind_needs_and_no_secret() {
    let mut seat = Seat::thinking("always_even");
    let first = m(1, 1);
    seat.tell(from_referee(
        &first,
        1,
        game_over(&first, p(2), Parity::Even, Parity::Odd, 4),
    ));
    let second = m(2, 1);
    let _ = seat.say(from_referee(&second, 1, invitation(&second, None)));
    let asked = inquiry(&seat.put(1, call_within(&second, WINDOW)));
    let turn = serde_json::to_value(&asked.turn).unwrap();
    assert_eq!(turn["options"], json!(["even", "odd"]));
    assert_eq!(turn["opponent_id"], "P02");
    assert_eq!(turn["match_id"], "R2M1");
    assert_eq!(turn["time_left_ms"], 25_000);
    assert_eq!(turn["history"][0]["opponent_choice"], "odd");
    assert_eq!(turn["record"], json!({"wins": 1, "losses": 0, "draws": 0}));
    assert!(turn["rules"].as_str().unwrap().contains("from 1 to 10"));
    assert!(!turn.to_string().contains("tok_"));
}

#[test]
fn the_decision_is_stored_and_answered_in_the_step_in_which_it_comes() {
    let mut seat = Seat::thinking("always_even");
    let id = m(1, 1);
    let asked = inquiry(&seat.put(1, call_within(&id, WINDOW)));
    let step = decide(&mut seat, asked.id, Ok(json!("odd")));
    assert_eq!(why(&step), None);
    let [(1, answer)] = &parities(&step)[..] else {
        panic!("one reply to the first request")
    };
    assert_eq!(answer.parity_choice, Parity::Odd);
    let Content::Message(again) = seat.ask(call_within(&id, WINDOW)) else {
        panic!("at once")
    };
    assert_eq!(again.body, Body::from(answer.clone()));
}

#[test]
fn all_requests_for_one_question_wait_for_the_same_decision() {
    let mut seat = Seat::thinking("always_even");
    let id = m(1, 1);
    let asked = inquiry(&seat.put(1, call_within(&id, WINDOW)));
    let step = seat.put(2, call_within(&id, WINDOW));
    assert_eq!(
        step,
        Step::default(),
        "nothing new is asked, and nothing answered"
    );
    let options = [json!("even"), json!("odd")];
    let mut generic = move_call(&id, "even_odd", "choose_parity", &options);
    generic.deadline = Timestamp::EPOCH + WINDOW;
    let step = seat.put(3, Ask::Message(Ok(incoming(from_referee(&id, 2, generic)))));
    assert_eq!(
        step,
        Step::default(),
        "it is the same question in other words"
    );
    let step = decide(&mut seat, asked.id, Ok(json!("odd")));
    let told: Vec<u64> = step.replies.iter().map(|reply| reply.to.0).collect();
    assert_eq!(told, [1, 2, 3]);
    assert_eq!(
        step.events.len(),
        2,
        "one for each attempt, since each has its own nonce"
    );
}

#[test]
fn other_requests_are_answered_meanwhile() {
    let mut seat = Seat::thinking("always_even");
    let one = inquiry(&seat.put(1, call_within(&m(1, 1), WINDOW)));
    assert_eq!(
        seat.ask(Ask::Query(Query::Ping.into())),
        Content::Data(json!({"status": "ok"}))
    );
    let two = inquiry(&seat.put(2, call_within(&m(1, 2), WINDOW)));
    assert_ne!(one.id, two.id);
    let step = decide(&mut seat, two.id, Ok(json!("odd")));
    assert_eq!(parities(&step)[0].0, 2);
}

#[test]
fn what_is_no_move_makes_the_fallback_choose_and_is_kept_as_the_reason() {
    for (decision, reason) in [
        (Ok(json!("Even")), "\"Even\" is not one of the options"),
        (Ok(Value::Null), "null is not one of the options"),
        (Err("exit code 3".to_owned()), "exit code 3"),
    ] {
        let mut seat = Seat::thinking("always_even");
        let asked = inquiry(&seat.put(1, call_within(&m(1, 1), WINDOW)));
        let step = decide(&mut seat, asked.id, decision);
        assert_eq!(why(&step).as_deref(), Some(reason));
        assert_eq!(parities(&step)[0].1.parity_choice, Parity::Even);
        let mut fallbacks = || match seat.ask(Ask::Query(Query::PlayerState.into())) {
            Content::Data(state) => state["fallbacks"].clone(),
            other => panic!("data, not {other:?}"),
        };
        assert_eq!(
            fallbacks(),
            json!({"count": 1, "last": null}),
            "nothing of a match that is still played"
        );
    }
}

#[test]
fn a_long_reason_is_cut() {
    let mut seat = Seat::thinking("always_even");
    let asked = inquiry(&seat.put(1, call_within(&m(1, 1), WINDOW)));
    let step = decide(&mut seat, asked.id, Err("ä".repeat(10_000)));
    assert_eq!(why(&step).unwrap().chars().count(), 200);
}

#[test]
fn the_fallback_chooses_before_the_referees_time_is_up() {
    for (window_s, thought_ms) in [
        (30, 25_000),
        (120, 25_000),
        (20, 17_000),
        (4, 2_600),
        (1, 250),
    ] {
        let mut seat = Seat::thinking("always_even");
        let asked = inquiry(&seat.put(1, call_within(&m(1, 1), Duration::from_secs(window_s))));
        let until = seat.now + Duration::from_millis(thought_ms);
        assert_eq!(
            (asked.until, seat.player.deadline()),
            (until, Some(until)),
            "{window_s} s"
        );
        seat.now = until;
        let step = seat.step(Input::Tick);
        assert_eq!(why(&step).as_deref(), Some("no decision came in time"));
        assert_eq!(parities(&step)[0].1.parity_choice, Parity::Even);
        assert_eq!(seat.player.deadline(), None);
        assert_eq!(
            decide(&mut seat, asked.id, Ok(json!("odd"))),
            Step::default(),
            "too late"
        );
    }
}

#[test]
fn a_deadline_that_was_over_when_the_question_was_put_leaves_the_usual_time() {
    let mut seat = Seat::thinking("always_even");
    let id = m(1, 1);
    let mut message = from_referee(&id, 1, parity_call(&id));
    message.envelope.timestamp = Timestamp::EPOCH + Duration::from_secs(7_200);
    let asked = inquiry(&seat.put(1, Ask::Message(Ok(incoming(message)))));
    assert_eq!(asked.until, seat.now + Duration::from_secs(25));
}

#[test]
fn a_question_without_time_is_answered_at_once() {
    let mut seat = Seat::thinking("always_even");
    let step = seat.put(1, call_within(&m(1, 1), Duration::ZERO));
    assert_eq!(
        why(&step).as_deref(),
        Some("the referee leaves no time to think")
    );
    assert!(step.decision_requests.is_empty());
    assert_eq!(parities(&step)[0].1.parity_choice, Parity::Even);
}

#[test]
fn a_second_asker_in_a_hurry_brings_the_decision_forward() {
    let mut seat = Seat::thinking("always_even");
    let _ = inquiry(&seat.put(1, call_within(&m(1, 1), WINDOW)));
    let _ = seat.put(2, call_within(&m(1, 1), Duration::from_secs(4)));
    assert_eq!(
        seat.player.deadline(),
        Some(seat.now + Duration::from_millis(2_600))
    );
}

#[test]
fn a_second_decision_changes_nothing() {
    let mut seat = Seat::thinking("always_even");
    let asked = inquiry(&seat.put(1, call_within(&m(1, 1), WINDOW)));
    let _ = decide(&mut seat, asked.id, Ok(json!("odd")));
    assert_eq!(
        decide(&mut seat, asked.id, Ok(json!("even"))),
        Step::default()
    );
}

#[test]
fn after_a_crash_the_question_is_asked_again() {
    let mut seat = Seat::thinking("always_even");
    let _ = inquiry(&seat.put(1, call_within(&m(1, 1), WINDOW)));
    seat.crash();
    assert_eq!(seat.player.deadline(), None);
    let asked = inquiry(&seat.put(1, call_within(&m(1, 1), WINDOW)));
    let step = decide(&mut seat, asked.id, Ok(json!("odd")));
    assert_eq!(parities(&step)[0].1.parity_choice, Parity::Odd);
}

#[test]
fn under_another_identity_what_was_pending_is_not_decided() {
    let mut seat = Seat::thinking("always_even");
    seat.crash();
    let call = seat.wake().call;
    let asked = inquiry(&seat.put(1, call_within(&m(1, 1), WINDOW)));
    let other = with_token(
        accepted(Some(true)),
        Some(Token::new("tok_p01_of_another_league")),
    );
    let step = seat.answer(call, Answer::Message(Ok(incoming(other))));
    let [reply] = step.replies.as_slice() else {
        panic!("one reply")
    };
    let Content::Message(message) = &reply.content else {
        panic!("a message")
    };
    let Body::LeagueError(error) = &message.body else {
        panic!("a refusal, not {message:?}")
    };
    assert_eq!(
        error.original_message_type,
        Some("CHOOSE_PARITY_CALL".into())
    );
    assert_eq!(
        decide(&mut seat, asked.id, Ok(json!("odd"))),
        Step::default()
    );
}

#[test]
fn there_is_an_end_to_how_much_is_thought_about_at_once() {
    let mut seat = Seat::thinking("always_even");
    for number in 1..=PENDING_MAX as u32 {
        let _ = inquiry(&seat.put(u64::from(number), call_within(&m(1, number), WINDOW)));
    }
    let id = m(2, 1);
    let call = ChooseParityCall {
        deadline: Timestamp::EPOCH + WINDOW,
        ..parity_call(&id)
    };
    let refusal = seat.refused(from_referee(&id, 1, call));
    assert!(
        refusal
            .error_message
            .unwrap()
            .raw()
            .contains("thinking about 64 moves")
    );
}

#[test]
fn without_a_fallback_what_is_not_decided_is_refused_and_may_be_asked_again() {
    let mut seat = Seat::thinking("always_even");
    seat.player = std::mem::replace(&mut seat.player, build("random", false)).without_fallback();
    let refused = |step: &Step<PlayerEvent>| {
        assert!(step.events.is_empty(), "nothing was chosen: {step:?}");
        match &step.replies[0].content {
            Content::Message(message) => matches!(message.body, Body::LeagueError(_)),
            _ => false,
        }
    };
    let asked = inquiry(&seat.put(1, call_within(&m(1, 1), WINDOW)));
    assert!(refused(&decide(
        &mut seat,
        asked.id,
        Err("nobody was there".to_owned())
    )));
    assert!(
        refused(&seat.put(2, call_within(&m(1, 1), Duration::ZERO))),
        "there is no time to think"
    );
    let again = inquiry(&seat.put(3, call_within(&m(1, 1), WINDOW)));
    let step = decide(&mut seat, again.id, Ok(json!("odd")));
    assert_eq!(
        (why(&step), parities(&step)[0].1.parity_choice),
        (None, Parity::Odd)
    );
}
