//! A crash at any step: the referee, rebuilt from its events, brings every match to exactly one decision and report.

use crate::bench::*;
use matchday_core::agent::Answer;
use matchday_core::protocol::Body;
use matchday_core::protocol::MessageType::*;
use matchday_core::protocol::messages::Parity;
use matchday_core::referee::RefereeEvent;

const STEPS: usize = 8;

/// What the world does next; each step answers the last question put to a player, as real players do.
fn act(bench: &mut Bench, step: usize) {
    match step {
        0 => drop(bench.announce(&[even_odd("R1M1", 1, 2)])),
        1 => bench.joins(1, "R1M1"),
        2 => bench.joins(2, "R1M1"),
        3 => bench.chooses(1, "R1M1", Parity::Even),
        4 => bench.chooses(2, "R1M1", Parity::Odd),
        5 => bench.answers(1, GameOver, Answer::Received),
        6 => {
            let call = bench.last(MatchResultReport).call;
            bench.answer(call, no_connection());
        }
        _ => {
            let then = bench.now + std::time::Duration::from_secs(2);
            bench.until(then.since(start()).as_secs_f64());
            bench.acknowledge();
        }
    }
}

#[test]
fn a_crash_after_any_step_leads_to_exactly_one_decision_and_one_report() {
    for crash_after in 0..STEPS {
        let mut bench = Bench::new();
        (0..=crash_after).for_each(|step| act(&mut bench, step));
        let decided = bench.decisions();
        bench.crash();
        // Undecided matches begin again with the invitation; decided ones need only be reported.
        match (decided, crash_after) {
            (0, _) => (1..STEPS).for_each(|step| act(&mut bench, step)),
            (_, 7) => {}
            _ => bench.acknowledge(),
        }
        assert_eq!(bench.decisions(), 1, "after step {crash_after}");
        let reported = |event: &&RefereeEvent| matches!(event, RefereeEvent::Reported { .. });
        assert_eq!(
            bench.events.iter().filter(reported).count(),
            1,
            "after step {crash_after}"
        );
    }
}

#[test]
fn a_match_begun_again_keeps_its_attempt_and_its_promise() {
    let mut bench = Bench::joined();
    bench.crash();
    let invitations = bench.all_to(1, GameInvitation);
    let [first, again] = &invitations[..] else {
        panic!("{invitations:?}")
    };
    assert_eq!(body(&first.1), body(&again.1), "with the same commitment");
    assert_eq!(
        envelope(&first.1).conversation_id,
        envelope(&again.1).conversation_id
    );
}

#[test]
fn a_decision_is_not_changed_by_a_crash() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.chooses(2, "R1M1", Parity::Odd);
    let before = bench.last(MatchResultReport);
    bench.crash();
    assert_eq!(body(&before), body(&bench.last(MatchResultReport)));
    assert_eq!(
        bench.all_to(1, GameOver).len(),
        2,
        "the players may not have heard"
    );
}

#[test]
fn a_restarted_referee_registers_with_the_token_it_had_and_serves_on_if_refused() {
    let mut bench = Bench::invited();
    bench.crash();
    let request = bench.last(RefereeRegisterRequest);
    assert_eq!(envelope(&request).auth_token, Some(referee_token()));
    assert_eq!(envelope(&request).sender.to_string(), "referee:REF01");
    let refusal = league_error(matchday_core::protocol::ErrorCode::LateRegistration, "");
    let answer = Answer::Message(Ok(incoming(bench.manager_envelope(), refusal)));
    bench.answer(request.call, answer);
    bench.joins(1, "R1M1");
    bench.joins(2, "R1M1");
    assert!(matches!(
        body(&bench.last(ChooseParityCall)),
        Body::ChooseParityCall(_)
    ));
}

#[test]
fn a_rejoin_under_the_same_identity_stores_nothing_new() {
    let mut bench = Bench::invited();
    bench.crash();
    let events = bench.events.len();
    bench.register(true);
    assert_eq!(bench.events.len(), events);
    assert_eq!(bench.referee.matches().count(), 1);
}
