//! A referee of another make is told of its matches in the form that it knows, and one that takes none loses them at once.

use crate::desk::*;
use matchday_core::agent::{Answer, Input, Payload};
use matchday_core::league::{LeagueEvent, LossCause, Suspicion};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ErrorCode, RefereeId, Sender};
use serde_json::{Value, json};

/// A league in which the first referee is of another make, and the others are ours.
fn league(referees: u32, players: u32) -> Desk {
    let mut desk = Desk::new(quick());
    let foreign = RefereeMeta {
        capabilities: Vec::new(),
        ..referee_meta(1, 5)
    };
    desk.ask_as(
        &referee(1),
        RefereeRegisterRequest {
            join_code: None,
            referee_meta: foreign,
        },
    );
    for number in 2..=referees {
        desk.register_referee(number, 5);
    }
    for number in 1..=players {
        desk.register_player(number);
    }
    desk.start();
    desk.players_hear_of_the_round();
    desk
}

/// What the first referee is asked next, by its name on the wire; it answers like this.
fn answers(desk: &mut Desk, answer: Answer) -> Value {
    let at = desk
        .outbox
        .iter()
        .position(|call| call.to == referee_endpoint(1))
        .expect("it is told something");
    let call = desk.outbox.remove(at);
    let Payload::Message(message) = &call.payload else {
        panic!("a message")
    };
    let written = serde_json::to_value(message).unwrap();
    desk.hand_in(Input::Answer {
        call: call.call,
        dialect: call.dialect,
        answer,
    });
    written
}

fn puzzled() -> Answer {
    Answer::NotUnderstood("Method not found".into())
}

fn refuses(desk: &Desk, code: ErrorCode) -> Answer {
    let error = LeagueError::new(code, "no time for this", None, None);
    Answer::Message(Ok(incoming(desk.message(&referee(1), error))))
}

fn suspensions(desk: &Desk) -> Vec<(Sender, Suspicion)> {
    let events = desk.events.iter().filter_map(|(_, event)| match event {
        LeagueEvent::AgentSuspended { agent, cause } => Some((agent.clone(), *cause)),
        _ => None,
    });
    events.collect()
}

#[test]
fn it_is_tried_with_each_form_and_the_one_that_it_takes_is_remembered() {
    let mut desk = league(1, 3);
    let first = answers(&mut desk, puzzled());
    let second = answers(&mut desk, puzzled());
    let third = answers(&mut desk, Answer::Received);
    let names = [first, second, third].map(|message| message["message_type"].clone());
    assert_eq!(
        names,
        ["ROUND_ANNOUNCEMENT", "MATCH_ASSIGNMENT", "START_MATCH"]
    );
    assert_eq!(suspensions(&desk), []);
    desk.ask_as(&referee(1), desk.report_of("R1M1", (3, 0)));
    desk.answer_calls(|call| match &call.payload {
        Payload::Message(message) if call.to == referee_endpoint(1) => match &message.body {
            Body::MatchAssignment(given) => {
                assert_eq!(given.name, AssignmentName::StartMatch);
                Answer::Received
            }
            Body::RoundAnnouncement(_) => panic!("it does not know that"),
            _ => Answer::Received,
        },
        _ => Answer::Received,
    });
    assert_eq!(desk.open_matches().len(), 1, "the next round is on");
}

#[test]
fn an_assignment_names_players_and_endpoints_in_every_spelling() {
    let mut desk = league(1, 2);
    answers(&mut desk, puzzled());
    let given = answers(&mut desk, Answer::Received);
    assert_eq!(given["match_id"], "R1M1");
    assert_eq!(given["conversation_id"], "conv-r1m1-001");
    for (id, endpoint) in [
        ("player_A_id", "player_A_endpoint"),
        ("player_a_id", "player_a_endpoint"),
        ("player1_id", "player1_endpoint"),
    ] {
        assert_eq!(given[id], "P01");
        assert_eq!(given[endpoint], json!(player_endpoint(1)));
    }
    assert_eq!(given["player2_id"], "P02");
}

#[test]
fn one_that_understands_nothing_or_refuses_loses_its_matches_at_once_and_is_suspended() {
    let mut desk = league(2, 2);
    assert_eq!(desk.open_matches()[0].3, RefereeId::numbered(1));
    for _ in 0..2 {
        answers(&mut desk, puzzled());
    }
    let refusal = refuses(&desk, ErrorCode::InvalidState);
    answers(&mut desk, refusal);
    assert_eq!(
        desk.open_matches()[0].3,
        RefereeId::numbered(2),
        "without a moment's delay"
    );
    assert_eq!(suspensions(&desk), [(referee(1), Suspicion::RefusedMatch)]);
    let lost = desk.events.iter().find_map(|(_, event)| match event {
        LeagueEvent::AttemptLost { cause, reason, .. } => Some((*cause, reason.raw().to_owned())),
        _ => None,
    });
    let (cause, reason) = lost.unwrap();
    assert_eq!(cause, LossCause::NotTaken);
    assert!(
        reason.contains("E008") && reason.contains("no time for this"),
        "{reason}"
    );
}

#[test]
fn a_referee_of_ours_that_refuses_a_match_loses_it_at_once_too() {
    let mut desk = Desk::started(quick(), 2, 2);
    let held = desk.open_matches()[0].3.clone();
    assert_eq!(held, RefereeId::numbered(1));
    answers(&mut desk, Answer::Received); // the announcement of the round to everyone
    let refusal = refuses(&desk, ErrorCode::InvalidFormat);
    answers(&mut desk, refusal);
    assert_eq!(desk.open_matches()[0].3, RefereeId::numbered(2));
}

#[test]
fn not_now_is_not_a_refusal() {
    let mut desk = league(2, 2);
    let busy = refuses(&desk, ErrorCode::RateLimited);
    answers(&mut desk, busy);
    desk.pass(quick().timing.retry.pause(1).unwrap());
    answers(&mut desk, Answer::Received);
    assert_eq!(desk.open_matches()[0].3, RefereeId::numbered(1));
    assert_eq!(suspensions(&desk), []);
}

#[test]
fn the_only_referee_is_asked_again_after_a_while_and_not_in_a_loop() {
    let mut desk = league(1, 2);
    for _ in 0..3 {
        answers(&mut desk, puzzled());
    }
    assert_eq!(desk.open_matches(), []);
    assert!(desk.sent_to(&referee_endpoint(1)).is_empty());
    desk.pass(quick().timing.retry.pause(1).unwrap());
    assert_eq!(desk.open_matches().len(), 1);
    let again = answers(&mut desk, Answer::Received);
    assert_eq!(
        again["message_type"], "ROUND_ANNOUNCEMENT",
        "from the beginning"
    );
}

#[test]
fn matches_that_are_refused_side_by_side_are_all_told_in_the_next_form() {
    let mut desk = league(1, 4);
    assert_eq!(desk.open_matches().len(), 2);
    let mut told = Vec::new();
    for answer in [
        puzzled(),
        puzzled(),
        puzzled(),
        puzzled(),
        Answer::Received,
        Answer::Received,
    ] {
        told.push(answers(&mut desk, answer)["message_type"].clone());
    }
    let [announced, assigned, started] = ["ROUND_ANNOUNCEMENT", "MATCH_ASSIGNMENT", "START_MATCH"];
    assert_eq!(
        told,
        [announced, announced, assigned, assigned, started, started]
    );
    assert_eq!(suspensions(&desk), []);
}
