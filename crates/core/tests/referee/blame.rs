//! Whose fault it is: a player's own costs it the match, with the evidence; the referee's own costs nobody anything.

use crate::bench::*;
use matchday_core::agent::{Agent, Answer, Failure, Input};
use matchday_core::protocol::MessageType::{
    ChooseParityCall, GameError, GameInvitation, LeagueError, MatchResultReport,
};
use matchday_core::protocol::messages::{Blame, Cause, Culprit, Parity};
use matchday_core::protocol::{Body, ErrorCode};
use matchday_core::referee::RefereeEvent;
use serde_json::json;
use std::time::Duration;

const OURS: Answer = Answer::Undelivered(Failure::Ours);
const FORBIDDEN: Answer = Answer::Undelivered(Failure::Forbidden);
const NO_ROUTE: Answer = Answer::Undelivered(Failure::NoRoute);

fn blame(bench: &Bench, player: u32) -> Option<Blame> {
    bench
        .report()
        .details
        .blame
        .and_then(|blame| blame.get(&p(player)).cloned())
}

fn handed_back(bench: &Bench) -> Vec<&str> {
    let reason = |event: &'_ RefereeEvent| matches!(event, RefereeEvent::HandedBack { .. });
    let events = bench.events.iter().filter(|event| reason(event));
    events
        .map(|event| match event {
            RefereeEvent::HandedBack { reason, .. } => reason.raw(),
            _ => unreachable!(),
        })
        .collect()
}

#[test]
fn a_silent_player_is_blamed_with_what_it_owed_how_often_and_how_long() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    bench.until(26.0);
    let found = blame(&bench, 2).unwrap();
    assert_eq!(
        (found.culprit, found.cause),
        (Culprit::Player, Cause::Silent)
    );
    assert_eq!(
        (found.owed.as_deref(), found.tries),
        (Some("GAME_JOIN_ACK"), Some(4))
    );
    assert_eq!(
        (found.since, found.until),
        (Some(bench.at(0.0)), Some(bench.at(26.0)))
    );
    assert!(
        found
            .evidence
            .unwrap()
            .raw()
            .starts_with("E001 TIMEOUT_ERROR: No GAME_JOIN_ACK")
    );
    assert_eq!(blame(&bench, 1), None);
}

#[test]
fn each_way_of_losing_has_its_cause() {
    let causes = |bench: &Bench| [1, 2].map(|player| blame(bench, player).map(|blame| blame.cause));
    let mut declined = Bench::invited();
    let ack = declined.join_ack(1, "R1M1", false);
    declined.answers(1, GameInvitation, Answer::Message(Ok(ack)));
    declined.joins(2, "R1M1");
    assert_eq!(causes(&declined), [Some(Cause::Declined), None]);

    let mut invalid = Bench::joined();
    invalid.chooses(2, "R1M1", Parity::Odd);
    invalid.answers(1, ChooseParityCall, Answer::Garbled("a page".into()));
    invalid.until(30.0);
    assert_eq!(causes(&invalid), [Some(Cause::Invalid), None]);
    assert!(
        blame(&invalid, 1)
            .unwrap()
            .evidence
            .unwrap()
            .raw()
            .contains("a page")
    );
    assert_eq!(
        blame(&invalid, 1).unwrap().tries,
        Some(2),
        "it was asked again after the invalid answer"
    );

    let mut unreachable = Bench::invited();
    unreachable.joins(2, "R1M1");
    for tries in 0..4 {
        unreachable.until(f64::from(tries) * 2.0);
        unreachable.answers(1, GameInvitation, no_connection());
    }
    assert_eq!(causes(&unreachable), [Some(Cause::Unreachable), None]);

    let mut acknowledges = Bench::invited();
    acknowledges.joins(2, "R1M1");
    acknowledges.answers(1, GameInvitation, Answer::Received);
    acknowledges.until(60.0);
    assert_eq!(causes(&acknowledges), [Some(Cause::Silent), None]);
    assert!(
        blame(&acknowledges, 1)
            .unwrap()
            .evidence
            .unwrap()
            .raw()
            .contains("only an acknowledgement")
    );

    let mut silent = Bench::invited();
    silent.until(60.0);
    assert_eq!(causes(&silent), [Some(Cause::Silent), Some(Cause::Silent)]);
}

#[test]
fn a_played_match_blames_nobody() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.chooses(2, "R1M1", Parity::Even);
    assert_eq!(bench.report().details.blame, None);
}

#[test]
fn a_call_that_our_own_machine_could_not_make_is_made_again_and_not_counted() {
    let mut bench = Bench::invited();
    bench.joins(2, "R1M1");
    for tries in 0..3 {
        bench.until(f64::from(tries) * 2.0);
        bench.answers(1, GameInvitation, OURS);
    }
    assert_eq!(
        bench.all(GameError).len(),
        0,
        "the player has done nothing wrong"
    );
    bench.until(6.0);
    assert_eq!(bench.times(1, GameInvitation), [0.0, 2.0, 4.0, 6.0]);
    // From here the player has all its own tries still.
    bench.until(32.0);
    assert_eq!(
        bench.times(1, GameInvitation),
        [0.0, 2.0, 4.0, 6.0, 13.0, 20.0, 27.0]
    );
    assert_eq!(blame(&bench, 1).unwrap().tries, Some(4));
}

#[test]
fn a_match_that_our_own_machine_cannot_play_goes_back_to_the_manager() {
    let mut bench = Bench::invited();
    bench.joins(2, "R1M1");
    for tries in 0..4 {
        bench.until(f64::from(tries) * 2.0);
        bench.answers(1, GameInvitation, OURS);
    }
    assert_eq!(bench.decisions(), 0);
    assert_eq!(
        handed_back(&bench),
        ["the referee's machine could not make the call"]
    );
    assert_eq!(bench.all(MatchResultReport).len(), 0);
    let sent = bench.last(LeagueError);
    assert_eq!(sent.to, bench.settings.manager);
    let Body::LeagueError(error) = body(&sent) else {
        panic!()
    };
    assert_eq!(error.error_code, ErrorCode::Internal);
    let context = json!({"match_id": "R1M1", "culprit": "infrastructure"});
    assert_eq!(json!(error.context), context);
    assert_eq!(envelope(&sent).auth_token, Some(referee_token()));
    assert_eq!(envelope(&sent).conversation_id.as_str(), "conv-r1m1-001");
    assert_eq!(bench.referee.matches().count(), 0);
}

#[test]
fn a_match_that_was_handed_back_can_be_given_to_the_same_referee_again() {
    let mut bench = Bench::invited();
    for tries in 0..4 {
        bench.until(f64::from(tries) * 2.0);
        bench.answers(1, GameInvitation, OURS);
    }
    bench.announce(&[Announced {
        attempt: 1,
        ..even_odd("R1M1", 1, 2)
    }]);
    assert_eq!(
        bench.referee.matches().count(),
        0,
        "the attempt that it gave up is over"
    );
    bench.announce(&[Announced {
        attempt: 2,
        ..even_odd("R1M1", 1, 2)
    }]);
    assert_eq!(bench.referee.matches().count(), 1);
    bench.crash();
    assert_eq!(bench.referee.matches().count(), 1);
}

#[test]
fn a_player_whom_the_referee_may_not_call_is_left_to_another() {
    let mut bench = Bench::invited();
    bench.joins(2, "R1M1");
    bench.answers(1, GameInvitation, FORBIDDEN);
    assert_eq!(bench.decisions(), 0);
    assert_eq!(
        handed_back(&bench),
        ["the rules of the referee forbid it to call P01 (endpoint policy)"]
    );
    assert_eq!(
        bench.all(GameError).len(),
        0,
        "the player has done nothing wrong"
    );
    let sent = bench.last(LeagueError);
    let Body::LeagueError(error) = body(&sent) else {
        panic!()
    };
    assert_eq!(
        json!(error.context),
        json!({"match_id": "R1M1", "culprit": "infrastructure"})
    );
}

#[test]
fn a_player_whom_no_referee_may_call_has_lost_in_the_end() {
    let mut bench = Bench::fresh(settings());
    bench.register(true);
    bench.announce(&[Announced {
        attempt: 5,
        ..even_odd("R1M1", 1, 2)
    }]);
    bench.joins(2, "R1M1");
    for tries in 0..4 {
        bench.until(f64::from(tries) * 2.0);
        bench.answers(1, GameInvitation, FORBIDDEN);
    }
    assert_eq!(blame(&bench, 1).unwrap().cause, Cause::Unreachable);
}

#[test]
fn under_a_manager_of_another_make_a_match_that_the_referee_may_not_play_ends() {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    bench.joins(2, "R1M1");
    for tries in 0..4 {
        bench.until(f64::from(tries) * 2.0);
        bench.answers(1, GameInvitation, FORBIDDEN);
    }
    assert_eq!(bench.decisions(), 1);
}

fn without_a_way(to: &[u32]) -> Bench {
    let mut bench = Bench::invited();
    for tries in 0..4 {
        bench.until(f64::from(tries) * 2.0);
        for player in to {
            bench.answers(*player, GameInvitation, NO_ROUTE);
        }
    }
    bench
}

#[test]
fn without_a_way_to_either_player_it_is_the_referee_that_is_cut_off() {
    let bench = without_a_way(&[1, 2]);
    assert_eq!(
        (bench.decisions(), handed_back(&bench)),
        (0, vec!["the referee could reach neither player"])
    );
}

#[test]
fn without_a_way_to_one_player_that_player_loses() {
    let mut bench = without_a_way(&[1]);
    bench.until(26.0);
    assert_eq!(bench.verdict(), "nobody TECHNICAL_LOSS 0-0");
    let mut reached = Bench::invited();
    reached.joins(2, "R1M1");
    for tries in 0..4 {
        reached.until(f64::from(tries) * 2.0);
        reached.answers(1, GameInvitation, NO_ROUTE);
    }
    assert_eq!(reached.verdict(), "P02 TECHNICAL_LOSS 0-3");
}

#[test]
fn two_players_that_refuse_connections_are_not_the_referees_fault() {
    let mut bench = Bench::invited();
    for tries in 0..4 {
        bench.until(f64::from(tries) * 2.0);
        bench.answers(1, GameInvitation, NO_ROUTE);
        bench.answers(2, GameInvitation, no_connection());
    }
    assert_eq!(bench.verdict(), "nobody TECHNICAL_LOSS 0-0");
}

#[test]
fn a_referee_that_stood_still_asks_again_and_takes_what_came_meanwhile() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    // Stopped for a minute: the answer was there long since, and is read only now.
    bench.now = bench.at(61.0);
    bench.chooses(2, "R1M1", Parity::Even);
    assert_eq!(bench.report().details.blame, None);

    let mut silent = Bench::joined();
    silent.chooses(1, "R1M1", Parity::Even);
    silent.now = silent.at(61.0);
    silent.input(Input::Tick);
    silent.until(63.0);
    assert_eq!(silent.times(2, ChooseParityCall), [0.0, 63.0]);
    assert_eq!(silent.all(GameError).len(), 0);
}

#[test]
fn a_little_late_is_late_all_the_same() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.now = bench.at(31.9);
    bench.input(Input::Tick);
    assert_eq!(bench.all(GameError).len(), 1);
}

#[test]
fn under_a_manager_of_another_make_the_match_is_begun_anew() {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    for tries in 0..4 {
        bench.until(f64::from(tries) * 2.0);
        bench.answers(1, GameInvitation, OURS);
    }
    assert_eq!(
        (
            bench.all(LeagueError).len(),
            bench.referee.matches().count()
        ),
        (0, 0)
    );
    assert!(bench.referee.deadline().is_some());
    bench.now = bench.now + Duration::from_secs(2);
    bench.input(Input::Tick);
    assert_eq!(bench.referee.matches().count(), 1);
    bench.joins(1, "R1M1");
    bench.joins(2, "R1M1");
    bench.chooses(1, "R1M1", Parity::Even);
    bench.chooses(2, "R1M1", Parity::Odd);
    assert_eq!(bench.decisions(), 1);
}

#[test]
fn a_refusal_is_recorded_in_the_players_own_words_and_not_as_a_missing_token() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    let error = matchday_core::protocol::messages::LeagueError::new(
        ErrorCode::TokenInvalid,
        "you are not my referee",
        None,
        None,
    );
    let envelope = bench.player_envelope(2, &m("R1M1")).with_token(None);
    bench.answers(
        2,
        GameInvitation,
        Answer::Message(Ok(incoming(envelope, error))),
    );
    bench.until(6.0);
    let evidence = blame(&bench, 2).unwrap().evidence.unwrap();
    assert!(
        evidence
            .raw()
            .contains("E012 AUTH_TOKEN_INVALID: you are not my referee"),
        "{evidence:?}"
    );
}
