//! When the manager wants its chain signed, and what it makes of what was signed.

use crate::desk::*;
use crate::orders::operator;
use matchday_core::agent::{Agent, Answer, Ask, Content, Input, Payload, Signed, Signing};
use matchday_core::league::{
    CHECKPOINT_KEY, LeagueEvent, LeagueSettings, Manager, is_successor, sign_successor,
};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ErrorCode, Sender, Token};
use matchday_core::signature::SigningKey;
use serde_json::json;
use std::time::Duration;

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed([number; 32])
}

fn announce(desk: &mut Desk, number: u8) -> Vec<Content> {
    desk.hand_in(Input::Signed(Signed::Key {
        public_key: key(number).public_key(),
        signature: None,
    }))
}

fn rotate(desk: &mut Desk) -> Vec<Content> {
    let order = Order::Rotate;
    let agent_id = Some(CHECKPOINT_KEY.into());
    let order = LeagueOrder {
        league_id: league_id(),
        order,
        player_id: None,
        match_id: None,
        agent_id,
        join_code: None,
    };
    let mut message = desk.message(&Sender::Launcher, order);
    message.envelope.auth_token = Some(operator());
    desk.ask_any(Ask::Message(Ok(incoming(message))), true)
}

fn with_operator() -> LeagueSettings {
    LeagueSettings {
        operator_token: Some(operator().hash()),
        ..quick()
    }
}

#[test]
fn a_checkpoint_is_due_when_a_round_has_ended_until_it_is_signed() {
    let mut desk = Desk::started(quick(), 4, 1);
    assert!(
        !desk.manager.signing().unwrap().checkpoint,
        "nothing has ended yet"
    );
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    desk.settle_received();
    assert!(
        !desk.manager.signing().unwrap().checkpoint,
        "one match is still played"
    );
    desk.report("R1M2", (3, 0));
    desk.settle_received();
    assert!(desk.manager.signing().unwrap().checkpoint);
    desk.hand_in(Input::Signed(Signed::Checkpoint {
        note: "signed".into(),
    }));
    assert!(!desk.manager.signing().unwrap().checkpoint);
    desk.play_out();
    assert!(
        desk.manager.signing().unwrap().checkpoint,
        "the league has ended"
    );
}

#[test]
fn a_checkpoint_that_was_not_signed_before_a_crash_is_due_after_it() {
    let mut desk = Desk::started(quick(), 2, 1);
    announce(&mut desk, 1);
    desk.report("R1M1", (3, 0));
    desk.crash();
    let due = desk.manager.signing().unwrap();
    assert!(
        due.checkpoint && due.key == Some(&key(1).public_key()),
        "{due:?}"
    );
}

#[test]
fn anyone_can_look_at_the_latest_checkpoint_where_the_league_is_open_to_readers() {
    let mut desk = Desk::new(quick());
    let look = |desk: &mut Desk| {
        desk.ask_any(
            Ask::Checkpoint {
                operator_token: None,
            },
            false,
        )
        .pop()
    };
    assert_eq!(
        look(&mut desk),
        Some(Content::Data(json!({"checkpoint": null})))
    );
    desk.hand_in(Input::Signed(Signed::Checkpoint {
        note: "signed".into(),
    }));
    assert_eq!(
        look(&mut desk),
        Some(Content::Data(json!({"checkpoint": "signed"})))
    );
    let mut closed = Desk::new(LeagueSettings {
        public_reads: false,
        ..quick()
    });
    let Some(Content::Message(refused)) = look(&mut closed) else {
        panic!("it is answered")
    };
    assert_eq!(error_code(&refused.body), ErrorCode::TokenMissing);
}

/// What P01 is told of ends, and the checkpoint with each, until nobody is told anything more.
fn ends(desk: &mut Desk) -> Vec<(&'static str, Option<String>)> {
    let mut told = Vec::new();
    desk.answer_calls(|call| {
        if let Payload::Message(message) = &call.payload
            && call.to == player_endpoint(1)
        {
            let checkpoint = match &message.body {
                Body::RoundCompleted(completed) => Some(&completed.checkpoint),
                Body::LeagueCompleted(completed) => Some(&completed.checkpoint),
                Body::RoundAnnouncement(_) => Some(&None),
                _ => None,
            };
            let note = |checkpoint: &Option<_>| checkpoint.as_deref().map(str::to_owned);
            told.extend(
                checkpoint.map(|checkpoint| (message.message_type().name(), note(checkpoint))),
            );
        }
        Answer::Received
    });
    told
}

fn sign(desk: &mut Desk, note: &str) {
    assert!(desk.manager.signing().unwrap().checkpoint);
    desk.hand_in(Input::Signed(Signed::Checkpoint { note: note.into() }));
}

#[test]
fn the_end_of_a_round_and_of_the_league_is_told_with_the_checkpoint_that_covers_it() {
    let mut desk = Desk::started(quick(), 2, 1);
    announce(&mut desk, 1);
    ends(&mut desk);
    desk.report("R1M1", (3, 0));
    assert_eq!(ends(&mut desk), [], "it is not signed yet");
    sign(&mut desk, "first");
    assert_eq!(ends(&mut desk), [("ROUND_COMPLETED", Some("first".into()))]);
    sign(&mut desk, "second");
    assert_eq!(
        ends(&mut desk),
        [("LEAGUE_COMPLETED", Some("second".into()))]
    );
    desk.crash();
    assert_eq!(
        ends(&mut desk),
        [("LEAGUE_COMPLETED", Some("second".into()))]
    );
}

#[test]
fn the_next_round_is_announced_after_the_end_of_the_one_before() {
    let mut desk = Desk::started(quick(), 4, 1);
    announce(&mut desk, 1);
    ends(&mut desk);
    for match_id in ["R1M1", "R1M2"] {
        desk.report(match_id, (3, 0));
        assert_eq!(ends(&mut desk), []);
    }
    sign(&mut desk, "first");
    assert_eq!(
        ends(&mut desk),
        [
            ("ROUND_COMPLETED", Some("first".into())),
            ("ROUND_ANNOUNCEMENT", None)
        ]
    );
}

#[test]
fn a_manager_whose_driver_signs_no_more_tells_what_has_ended_after_a_second() {
    let mut desk = Desk::started(quick(), 2, 1);
    announce(&mut desk, 1);
    ends(&mut desk);
    desk.report("R1M1", (3, 0));
    desk.pass(Duration::from_secs(1));
    assert_eq!(ends(&mut desk), [("ROUND_COMPLETED", None)]);
    desk.pass(Duration::from_secs(1));
    assert_eq!(ends(&mut desk), [("LEAGUE_COMPLETED", None)]);
}

#[test]
fn the_key_of_checkpoints_is_told_at_registration() {
    let mut desk = Desk::new(quick());
    announce(&mut desk, 1);
    let request = LeagueRegisterRequest {
        player_meta: player_meta(1),
        join_code: None,
    };
    let Body::LeagueRegisterResponse(response) = desk.ask_as(&player(1), request) else {
        panic!()
    };
    assert_eq!(
        response.answer.manager_public_key,
        Some(key(1).public_key())
    );
    let request = RefereeRegisterRequest {
        referee_meta: referee_meta(1, 2),
        join_code: None,
    };
    let Body::RefereeRegisterResponse(response) = desk.ask_as(&referee(1), request) else {
        panic!()
    };
    assert_eq!(
        response.answer.manager_public_key,
        Some(key(1).public_key())
    );
}

#[test]
fn the_operator_sees_the_checkpoint_of_a_league_that_is_not_open_to_readers() {
    let mut desk = Desk::new(LeagueSettings {
        public_reads: false,
        ..with_operator()
    });
    desk.hand_in(Input::Signed(Signed::Checkpoint {
        note: "signed".into(),
    }));
    let mut look = |operator_token| {
        desk.ask_any(Ask::Checkpoint { operator_token }, false)
            .pop()
    };
    assert_eq!(
        look(Some(operator())),
        Some(Content::Data(json!({"checkpoint": "signed"})))
    );
    let code = |answer: Option<Content>| match answer {
        Some(Content::Message(refused)) => error_code(&refused.body),
        other => panic!("{other:?}"),
    };
    assert_eq!(code(look(None)), ErrorCode::TokenMissing);
    let wrong = || Some(Token::new("tok_operator_wrong"));
    assert_eq!(code(look(wrong())), ErrorCode::TokenInvalid);
    assert!(
        (0..20).any(|_| look(wrong()).is_none()),
        "who guesses too often waits for an answer"
    );
}

#[test]
fn an_order_for_a_new_key_is_answered_when_it_has_been_announced() {
    let mut desk = Desk::new(with_operator());
    announce(&mut desk, 1);
    assert!(rotate(&mut desk).is_empty(), "it waits for the driver");
    assert!(desk.manager.signing().unwrap().rotation);
    let answers = announce(&mut desk, 2);
    assert!(
        matches!(&answers[..], [Content::Message(answer)] if matches!(answer.body, Body::LeagueStatus(_)))
    );
    let due = desk.manager.signing().unwrap();
    assert!(!due.rotation && due.key == Some(&key(2).public_key()));
}

#[test]
fn an_order_for_a_new_key_is_refused_where_none_can_be_made() {
    let mut desk = Desk::new(with_operator());
    let refused = |answers: Vec<Content>| match &answers[..] {
        [Content::Message(answer)] => error_code(&answer.body),
        other => panic!("expected one answer, got {other:?}"),
    };
    assert_eq!(
        refused(rotate(&mut desk)),
        ErrorCode::InvalidState,
        "no key was ever announced"
    );
    announce(&mut desk, 1);
    assert!(rotate(&mut desk).is_empty());
    assert_eq!(
        refused(rotate(&mut desk)),
        ErrorCode::InvalidState,
        "one at a time"
    );
    let failed = desk.hand_in(Input::Signed(Signed::Failed("the disk is full".into())));
    assert_eq!(refused(failed), ErrorCode::Internal);
    assert!(!desk.manager.signing().unwrap().rotation);
}

#[test]
fn a_key_vouches_for_the_next_one_of_its_league_alone() {
    let old = key(1);
    let new = key(2).public_key();
    let signature = sign_successor(&old, &league_id(), &new);
    let another = matchday_core::protocol::LeagueId::new("another");
    assert!(is_successor(
        &old.public_key(),
        &league_id(),
        &new,
        &signature
    ));
    assert!(!is_successor(&old.public_key(), &another, &new, &signature));
    assert!(!is_successor(
        &old.public_key(),
        &league_id(),
        &key(3).public_key(),
        &signature
    ));
    assert!(!is_successor(&new, &league_id(), &new, &signature));
}

#[test]
fn events_about_checkpoints_are_read_as_they_are_written() {
    let signature = sign_successor(&key(1), &league_id(), &key(2).public_key());
    for event in [
        LeagueEvent::ManagerKeyAnnounced {
            public_key: key(1).public_key(),
            signature: None,
        },
        LeagueEvent::ManagerKeyAnnounced {
            public_key: key(2).public_key(),
            signature: Some(signature),
        },
        LeagueEvent::CheckpointSigned {
            note: "a\nb".into(),
        },
    ] {
        let line = matchday_core::event_codec::encode(Desk::new(quick()).now, &event).unwrap();
        let (_, read) = matchday_core::event_codec::decode::<LeagueEvent>(&line).unwrap();
        assert_eq!(read, event);
        Manager::new(quick()).apply(Desk::new(quick()).now, &read);
    }
}
