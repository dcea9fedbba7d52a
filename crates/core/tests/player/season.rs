//! A player of a season registers again when it hears of the next league.

use super::seat::*;
use matchday_core::agent::{Answer, Ask, Content, Payload, Step};
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::{
    LeagueRegisterResponse, LeagueStandingsUpdate, RegisterAnswer, RegisterStatus,
};
use matchday_core::protocol::{Body, LeagueId, Message, RoundId};
use matchday_core::registration::RegistrationState;
use std::time::Duration;

fn table_of(league: &str) -> Message {
    let body = LeagueStandingsUpdate {
        league_id: LeagueId::new(league),
        round_id: RoundId(1),
        standings: Vec::new().into(),
    };
    let token = own_token().hash().notice_token(&LeagueId::new(league));
    with_token(from_manager(body), Some(token))
}

fn hear(seat: &mut Seat, message: Message) -> Step<PlayerEvent> {
    seat.put(7, Ask::Message(Ok(incoming(message))))
}

fn accepted_to(league: &str) -> Answer {
    let answer = RegisterAnswer {
        status: RegisterStatus::Accepted,
        reason: None,
        league_id: Some(LeagueId::new(league)),
        match_tokens: Some(true),
        manager_public_key: None,
        error_code: None,
        error_name: None,
        context: None,
    };
    let body = LeagueRegisterResponse {
        player_id: Some(p(1)),
        answer,
    };
    Answer::Message(Ok(incoming(with_token(
        from_manager(body),
        Some(own_token()),
    ))))
}

#[test]
fn it_registers_with_the_next_league_by_its_token_and_takes_its_notices_then() {
    let mut seat = Seat::taken("random");
    let mut step = hear(&mut seat, table_of("league_2"));
    let sent = step.outbox.pop().expect("it registers");
    let Payload::Message(message) = &sent.payload else {
        panic!("a message")
    };
    assert!(matches!(message.body, Body::LeagueRegisterRequest(_)));
    assert_eq!(message.envelope.auth_token, Some(own_token()));
    assert_eq!(step.replies[0].content, Content::Received, "no E012");
    let _ = seat.answer(sent.call, accepted_to("league_2"));
    assert_eq!(
        seat.player.identity().unwrap().league_id,
        Some(LeagueId::new("league_2"))
    );
    seat.tell(table_of("league_2"));
}

#[test]
fn messages_of_other_leagues_make_it_register_every_ten_seconds_at_most() {
    let mut seat = Seat::taken("random");
    let sent = hear(&mut seat, table_of("league_2")).outbox.pop().unwrap();
    let _ = seat.answer(sent.call, accepted_to("league_1"));
    assert_eq!(
        seat.player.identity().unwrap().league_id,
        Some(league()),
        "it is in its league as before"
    );
    assert!(hear(&mut seat, table_of("league_2")).outbox.is_empty());
    seat.now = seat.now + Duration::from_secs(10);
    assert_eq!(hear(&mut seat, table_of("league_2")).outbox.len(), 1);
}

#[test]
fn a_refusal_then_does_not_end_it() {
    let mut seat = Seat::taken("random");
    let sent = hear(&mut seat, table_of("league_2")).outbox.pop().unwrap();
    let Answer::Message(Ok(mut refusal)) = accepted_to("league_2") else {
        panic!("a message")
    };
    if let Ok(Body::LeagueRegisterResponse(response)) = &mut refusal.body {
        let response = std::sync::Arc::make_mut(response);
        (response.player_id, response.answer.status) = (None, RegisterStatus::Rejected);
        response.answer.reason = Some("Registration closed".into());
    }
    let _ = seat.answer(sent.call, Answer::Message(Ok(refusal)));
    assert_eq!(*seat.player.registration_state(), RegistrationState::Done);
    assert_eq!(seat.player.identity().unwrap().league_id, Some(league()));
}
