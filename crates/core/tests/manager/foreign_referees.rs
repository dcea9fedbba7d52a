//! A referee of another make is told of its matches in the form that it knows, and one that takes none loses them at once.

use crate::desk::*;
use matchday_core::agent::{Answer, Input, Payload};
use matchday_core::league::{LeagueEvent, LossCause, Suspicion};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ErrorCode, PlayerId, RefereeId, Sender};
use matchday_core::timing::Timing;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A league in which the first referee is of another make, and the others are ours.
fn league(referees: u32, players: u32) -> Desk {
    let mut desk = Desk::new(quick());
    let foreign = RefereeMeta {
        capabilities: Vec::new(),
        ..referee_meta(1, 5)
    };
    let request = RefereeRegisterRequest {
        join_code: None,
        referee_meta: foreign,
    };
    let message = desk.message(&referee(1), request);
    let token = desk.ask(message).envelope.auth_token.unwrap();
    desk.tokens.insert(referee(1), token);
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

#[test]
fn one_that_acknowledges_and_does_nothing_is_asked_for_the_match_by_the_other_forms() {
    let mut desk = league(1, 2);
    let idle = quick().idle_after(&Timing::default());
    let mut told = vec![answers(&mut desk, Answer::Received)["message_type"].clone()];
    for _ in 0..2 {
        desk.pass(idle);
        told.push(answers(&mut desk, Answer::Received)["message_type"].clone());
    }
    assert_eq!(
        told,
        ["ROUND_ANNOUNCEMENT", "MATCH_ASSIGNMENT", "START_MATCH"]
    );
    assert_eq!(desk.open_matches().len(), 1, "the attempt is the same");
    assert_eq!(suspensions(&desk), []);
}

#[test]
fn one_that_plays_slowly_and_knows_no_assignment_loses_nothing_by_being_asked() {
    let mut desk = league(1, 2);
    answers(&mut desk, Answer::Received);
    desk.pass(quick().idle_after(&Timing::default()));
    answers(&mut desk, puzzled());
    answers(&mut desk, puzzled());
    assert_eq!(suspensions(&desk), []);
    let body = desk.ask_as(&referee(1), desk.report_of("R1M1", (3, 0)));
    assert!(matches!(body, Body::MatchResultAck(_)));
}

#[test]
fn a_report_that_is_refused_for_good_frees_the_match_at_once() {
    let mut desk = league(2, 2);
    answers(&mut desk, Answer::Received);
    let mut report = desk.report_of("R1M1", (3, 0));
    Arc::make_mut(&mut report.result).winner = Some(PlayerId::numbered(2));
    let body = desk.ask_as(&referee(1), report);
    assert_eq!(error_code(&body), ErrorCode::InvalidFormat);
    assert_eq!(desk.open_matches()[0].3, RefereeId::numbered(2));
}

#[test]
fn the_only_referee_that_refuses_is_asked_less_and_less_often_and_players_hear_of_the_round_once() {
    let mut desk = league(1, 2);
    let mut asked = 0;
    let mut announced = 0;
    let until = desk.now + Duration::from_secs(150);
    while desk.now < until {
        while let Some(call) = desk.outbox.pop() {
            let is_match =
                |body: &Body| matches!(body, Body::RoundAnnouncement(_) | Body::MatchAssignment(_));
            let tells =
                matches!(&call.payload, Payload::Message(message) if is_match(&message.body));
            let to_referee = call.to == referee_endpoint(1);
            asked += usize::from(to_referee && tells);
            announced += usize::from(!to_referee && tells);
            let answer = if to_referee && tells {
                puzzled()
            } else {
                Answer::Received
            };
            desk.hand_in(Input::Answer {
                call: call.call,
                dialect: call.dialect,
                answer,
            });
        }
        desk.pass(Duration::from_secs(1));
    }
    assert_eq!(announced, 2, "once each");
    assert!(asked <= 3 * 8, "{asked}");
    assert!(suspensions(&desk).len() <= 6, "{:?}", suspensions(&desk));
}

#[test]
fn one_that_asks_for_the_schedule_finds_itself_there_and_need_not_know_the_announcement() {
    let mut desk = league(1, 2);
    let query = LeagueQuery {
        league_id: league_id(),
        query_type: Query::Schedule,
        query_params: QueryParams::default(),
    };
    let Body::LeagueQueryResponse(response) = desk.ask_as(&referee(1), query) else {
        panic!("an answer");
    };
    let data = serde_json::to_value(&response.data).unwrap();
    let first = &data["rounds"][0]["matches"][0];
    assert_eq!(first["referee_endpoint"], json!(referee_endpoint(1)));
    for _ in 0..3 {
        answers(&mut desk, puzzled());
    }
    assert_eq!(suspensions(&desk), []);
    assert_eq!(desk.open_matches().len(), 1);
}

#[test]
fn one_without_a_match_hears_of_the_round_when_its_matches_may_begin() {
    let mut desk = Desk::new(quick());
    desk.register_referee(1, 5);
    for number in [2, 3] {
        let foreign = RefereeMeta {
            capabilities: Vec::new(),
            ..referee_meta(number, 5)
        };
        let request = RefereeRegisterRequest {
            join_code: None,
            referee_meta: foreign,
        };
        desk.ask_as(&referee(number), request);
    }
    for number in 1..=4 {
        desk.register_player(number);
    }
    desk.start();
    assert_eq!(desk.sent_to(&referee_endpoint(3)).len(), 1);
    assert!(matches!(
        desk.sent_to(&referee_endpoint(3))[0],
        Body::RoundAnnouncement(_)
    ));
}
