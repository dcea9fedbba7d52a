//! Registration goes on until the manager says yes or no, and a restart does not lose what was granted.

use super::seat::*;
use matchday_core::agent::{Agent, Answer, Ask, CallDeadline, Failure, Input, Outgoing, Payload};
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::{
    LeagueError, LeagueRegisterRequest, LeagueRegisterResponse, Parity, RegisterAnswer,
    RegisterStatus,
};
use matchday_core::protocol::{Body, ErrorCode, GameType, LeagueId, Message, Sender, Token};
use matchday_core::registration::RegistrationState;
use std::sync::Arc;
use std::time::Duration;

fn registration(sent: Outgoing) -> (Message, LeagueRegisterRequest) {
    let Payload::Message(message) = sent.payload else {
        panic!("a message");
    };
    match message.body.clone() {
        Body::LeagueRegisterRequest(request) => (message, Arc::unwrap_or_clone(request)),
        other => panic!("a registration, not {other:?}"),
    }
}

#[test]
fn the_first_registration_says_who_asks_and_shows_a_key_of_its_own() {
    let (message, request) = registration(Seat::empty("random").wake());
    assert_eq!(
        message.envelope.sender,
        Sender::parse("player:Agent-Alpha").unwrap()
    );
    assert!(message.envelope.auth_token.unwrap().is_registration_key());
    assert_eq!(
        request.player_meta.protocol_version.as_deref(),
        Some("2.1.0")
    );
    assert_eq!(request.player_meta.display_name.raw(), "Agent Alpha!");
    assert_eq!(request.player_meta.game_types.len(), 2);
}

#[test]
fn a_registration_waits_ten_seconds_for_its_answer() {
    let mut seat = Seat::empty("random");
    let sent = seat.wake();
    assert_eq!(sent.deadline, CallDeadline::After(Duration::from_secs(10)));
}

#[test]
fn it_registers_every_two_seconds_until_the_manager_is_there_and_less_often_if_that_does_not_decide()
 {
    let mut seat = Seat::empty("random");
    let mut call = seat.wake().call;
    let garbled = || Answer::Garbled("a page".into());
    for (failure, pause) in [
        (Answer::Undelivered(Failure::NoConnection), 2),
        (Answer::Undelivered(Failure::TimedOut), 2),
        (garbled(), 2),
        (Answer::Received, 4),
        (garbled(), 8),
        (garbled(), 16),
        (garbled(), 32),
        (garbled(), 60),
        (garbled(), 60),
        (Answer::Undelivered(Failure::NoConnection), 2),
        (garbled(), 2),
    ] {
        let _ = seat.answer(call, failure);
        assert!(matches!(
            seat.player.registration_state(),
            RegistrationState::Waiting { .. }
        ));
        assert_eq!(
            seat.player.deadline(),
            Some(seat.now + Duration::from_secs(pause))
        );
        assert!(
            seat.step(Input::Tick).outbox.is_empty(),
            "not before its time"
        );
        seat.now = seat.now + Duration::from_secs(pause);
        let sent = seat.step(Input::Tick).outbox.pop().unwrap();
        call = sent.call;
        assert_eq!(registration(sent).0.envelope.timestamp, seat.now);
    }
    let _ = seat.answer(call, Answer::Message(Ok(incoming(accepted(Some(true))))));
    assert_eq!(seat.player.registration_state(), &RegistrationState::Done);
    assert_eq!(seat.player.deadline(), None);
    assert_eq!(seat.player.identity().unwrap().id, p(1));
}

#[test]
fn an_answer_to_a_try_that_was_given_up_is_not_heard() {
    let mut seat = Seat::empty("random");
    let call = seat.wake().call;
    let _ = seat.answer(call, Answer::Undelivered(Failure::TimedOut));
    let _ = seat.answer(call, Answer::Message(Ok(incoming(accepted(Some(true))))));
    assert_eq!(seat.player.identity(), None);
}

#[test]
fn after_a_restart_it_shows_its_earlier_token_and_keeps_it() {
    let mut seat = Seat::taken("random");
    seat.crash();
    let sent = seat.wake();
    let call = sent.call;
    let (message, _) = registration(sent);
    assert_eq!(message.envelope.auth_token, Some(own_token()));
    assert_eq!(message.envelope.sender, Sender::Player(p(1)));
    let stored = seat.stored.len();
    let welcome = with_token(accepted(Some(true)), None);
    let _ = seat.answer(call, Answer::Message(Ok(incoming(welcome))));
    assert_eq!(
        seat.player.identity().unwrap().auth_token,
        Some(own_token())
    );
    assert_eq!(seat.stored.len(), stored, "nothing new was learnt");
}

#[test]
fn a_refusal_leaves_a_player_that_has_an_identity_serving() {
    let mut seat = Seat::taken("random");
    seat.crash();
    let call = seat.wake().call;
    let no = LeagueError::new(ErrorCode::LateRegistration, "too late", None, None);
    let _ = seat.answer(call, Answer::Message(Ok(incoming(from_manager(no)))));
    assert!(matches!(
        seat.player.registration_state(),
        RegistrationState::Refused { .. }
    ));
    assert_eq!(seat.player.deadline(), None);
    let _ = seat.parity(from_referee(&m(1, 1), 1, parity_call(&m(1, 1))));
}

#[test]
fn before_it_is_registered_it_answers_no_game() {
    let mut seat = Seat::empty("random");
    let error = seat.refused(from_referee(&m(1, 1), 1, invitation(&m(1, 1), None)));
    assert_eq!(error.error_code, ErrorCode::InvalidState);
}

#[test]
fn in_another_league_the_same_ids_mean_other_matches_and_other_players() {
    let mut seat = Seat::taken("random");
    let over = game_over(&m(1, 1), p(2), Parity::Even, Parity::Odd, 4);
    let _ = seat.parity(from_referee(&m(1, 1), 1, parity_call(&m(1, 1))));
    seat.tell(from_referee(&m(1, 1), 1, over));
    seat.crash();
    let call = seat.wake().call;
    let mut welcome = with_token(accepted(Some(true)), Some(Token::new("tok_p01_new")));
    if let Body::LeagueRegisterResponse(response) = &mut welcome.body {
        Arc::make_mut(response).answer.league_id = Some(LeagueId::new("league_2"));
    }
    let step = seat.answer(call, Answer::Message(Ok(incoming(welcome))));
    assert!(matches!(
        step.events.as_slice(),
        [PlayerEvent::Registered { .. }]
    ));
    let durable = seat.player.durable();
    assert!(durable.find(&m(1, 1)).is_none());
    assert!(!durable.history().has_finished(&m(1, 1)));
    assert_eq!(durable.history().against(&p(2)).played(), 0);
    assert_eq!(durable.history().overall().played(), 1);
}

#[test]
fn killed_before_its_token_was_stored_it_asks_again_with_the_same_key() {
    let mut seat = Seat::empty("random");
    let asked = |seat: &mut Seat| {
        let envelope = registration(seat.wake()).0.envelope;
        (envelope.conversation_id, envelope.auth_token)
    };
    let first = asked(&mut seat);
    seat.crash();
    assert_eq!(asked(&mut seat), first);
}

#[test]
fn a_manager_that_will_not_have_the_longer_list_of_games_is_asked_with_even_odd_alone() {
    let rejected = |reason: &str| {
        let answer = RegisterAnswer {
            status: RegisterStatus::Rejected,
            reason: Some(reason.into()),
            league_id: None,
            match_tokens: None,
            manager_public_key: None,
            error_code: None,
            error_name: None,
            context: None,
        };
        Answer::Message(Ok(incoming(from_manager(LeagueRegisterResponse {
            player_id: None,
            answer,
        }))))
    };
    let mut seat = Seat::empty("random");
    let call = seat.wake().call;
    let again = seat
        .answer(call, rejected("Unsupported game type"))
        .outbox
        .pop()
        .expect("it asks again");
    let call = again.call;
    let (_, request) = registration(again);
    assert_eq!(request.player_meta.game_types, [GameType::new("even_odd")]);
    assert!(
        seat.answer(call, rejected("Unsupported game type"))
            .outbox
            .is_empty(),
        "once"
    );
    assert!(matches!(
        seat.player.registration_state(),
        RegistrationState::Refused { .. }
    ));

    let mut seat = Seat::empty("random");
    let call = seat.wake().call;
    assert!(
        seat.answer(call, rejected("Registration closed"))
            .outbox
            .is_empty(),
        "not about games"
    );
}

fn rejected_as(reason: &str, player_id: Option<matchday_core::protocol::PlayerId>) -> Answer {
    let answer = RegisterAnswer {
        status: RegisterStatus::Rejected,
        reason: Some(reason.into()),
        league_id: None,
        match_tokens: None,
        manager_public_key: None,
        error_code: None,
        error_name: None,
        context: None,
    };
    Answer::Message(Ok(incoming(from_manager(LeagueRegisterResponse {
        player_id,
        answer,
    }))))
}

#[test]
fn already_registered_ends_the_registration_with_what_could_not_be_read_before() {
    let already = || Answer::NotUnderstood("JSON-RPC error -32000: Already registered".into());
    for (answer, told) in [
        (already(), "-32000"),
        (
            rejected_as("Player already registered", None),
            "Player already registered",
        ),
    ] {
        let mut seat = Seat::empty("random");
        let call = seat.wake().call;
        let _ = seat.answer(call, Answer::Garbled("a page".into()));
        seat.now = seat.now + Duration::from_secs(2);
        let call = seat.step(Input::Tick).outbox.pop().unwrap().call;
        assert!(seat.answer(call, answer).outbox.is_empty());
        let RegistrationState::Refused { reason, .. } = seat.player.registration_state() else {
            panic!("{:?}", seat.player.registration_state());
        };
        assert!(
            reason.raw().contains(told) && reason.raw().contains("a page"),
            "{reason:?}"
        );
        assert_eq!(seat.player.deadline(), None, "it asks no more");
    }
}

#[test]
fn a_manager_that_says_already_registered_and_as_whom_has_accepted() {
    let mut seat = Seat::empty("random");
    let call = seat.wake().call;
    let _ = seat.answer(call, rejected_as("already registered", Some(p(4))));
    assert_eq!(seat.player.registration_state(), &RegistrationState::Done);
    assert_eq!(seat.player.identity().unwrap().id, p(4));
}

#[test]
fn a_manager_that_understands_nothing_yet_is_asked_again_in_every_manner() {
    let mut seat = Seat::empty("random");
    let mut call = seat.wake().call;
    for _ in 0..2 {
        let step = seat.answer(call, Answer::NotUnderstood("HTTP 500".into()));
        call = step.outbox.last().expect("at once").call;
    }
    let _ = seat.answer(call, Answer::NotUnderstood("HTTP 500".into()));
    assert!(matches!(
        seat.player.registration_state(),
        RegistrationState::Waiting { .. }
    ));
    seat.now = seat.now + Duration::from_secs(2);
    let again = seat.step(Input::Tick).outbox.pop().unwrap();
    assert!(registration(again).0.envelope.auth_token.is_some());
}

fn refusal(code: ErrorCode, by_ours: bool) -> Answer {
    let context =
        by_ours.then(|| serde_json::Map::from_iter([("match_tokens".to_owned(), true.into())]));
    let no = LeagueError::new(code, "no", None, context);
    Answer::Message(Ok(incoming(from_manager(no))))
}

#[test]
fn a_manager_of_another_make_is_asked_without_a_token_and_then_with_the_printed_fields_alone() {
    let mut seat = Seat::empty("random");
    let code = Token::new("tok_join_abc");
    seat.player = std::mem::replace(&mut seat.player, build("random", false))
        .with_join_code(Some(code.clone()));
    let sent = seat.wake();
    let call = sent.call;
    assert!(registration(sent).0.envelope.auth_token.is_some());

    let second = seat
        .answer(call, refusal(ErrorCode::TokenInvalid, false))
        .outbox
        .pop()
        .unwrap();
    let call = second.call;
    let (message, request) = registration(second);
    assert_eq!(message.envelope.auth_token, None);
    assert!(request.player_meta.public_key.is_some());
    assert_eq!(request.join_code.as_ref(), Some(&code));

    let third = seat
        .answer(call, refusal(ErrorCode::MissingField, false))
        .outbox
        .pop()
        .unwrap();
    let call = third.call;
    let (message, request) = registration(third);
    assert_eq!(message.envelope.auth_token, None);
    let meta = serde_json::to_value(&request.player_meta).unwrap();
    let fields: Vec<_> = meta.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        ["contact_endpoint", "display_name", "game_types", "version"]
    );
    assert_eq!(request.join_code.as_ref(), Some(&code));

    let step = seat.answer(call, refusal(ErrorCode::TokenInvalid, false));
    assert!(step.outbox.is_empty(), "there is nothing less to say");
    assert!(matches!(
        seat.player.registration_state(),
        RegistrationState::Refused { .. }
    ));
}

#[test]
fn a_manager_of_ours_is_asked_once() {
    let mut seat = Seat::empty("random");
    let call = seat.wake().call;
    assert!(
        seat.answer(call, refusal(ErrorCode::TokenInvalid, true))
            .outbox
            .is_empty()
    );
    let mut seat = Seat::empty("random");
    let call = seat.wake().call;
    assert!(
        seat.answer(call, refusal(ErrorCode::LateRegistration, false))
            .outbox
            .is_empty()
    );
}

#[test]
fn without_an_answer_it_learns_who_it_is_from_the_managers_announcement() {
    let mut seat = Seat::empty("random");
    let key = registration(seat.wake()).0.envelope.auth_token.unwrap();
    let token = key.league_token(&league(), "P01");
    let announcement = announcement(1, vec![announced(&m(1, 1), 1, Some(true))]);
    let shown = token.hash().notice_token(&league());
    seat.tell(with_token(from_manager(announcement), Some(shown)));
    let identity = seat.player.identity().expect("it knows who it is");
    assert_eq!((&identity.id, &identity.auth_token), (&p(1), &Some(token)));
    assert!(
        seat.player.durable().find(&m(1, 1)).is_some(),
        "and of its match"
    );
}

#[test]
fn without_an_answer_it_believes_nobody_who_does_not_know_its_key() {
    let mut seat = Seat::empty("random");
    let _ = seat.wake();
    let announcement = announcement(1, vec![announced(&m(1, 1), 1, Some(true))]);
    let forged = Token::new("tok_guessed").hash().notice_token(&league());
    let _ = seat.put(
        7,
        Ask::Message(Ok(incoming(with_token(
            from_manager(announcement),
            Some(forged),
        )))),
    );
    assert!(seat.player.identity().is_none());
}
