//! What a player does not take is answered with a LEAGUE_ERROR that says why.

use super::seat::*;
use matchday_core::agent::{Ask, Content};
use matchday_core::protocol::Query;
use matchday_core::protocol::decode::Rejection;
use matchday_core::protocol::messages::{LeagueError, StartLeague};
use matchday_core::protocol::{Body, ConversationId, ErrorCode, Message};
use std::sync::Arc;

fn error(content: Content) -> (Message, LeagueError) {
    match content {
        Content::Message(message) => match message.body.clone() {
            Body::LeagueError(error) => (message, Arc::unwrap_or_clone(error)),
            other => panic!("an error, not {other:?}"),
        },
        other => panic!("a message, not {other:?}"),
    }
}

fn rejection() -> Rejection {
    Rejection {
        code: ErrorCode::MissingField,
        path: "match_id".into(),
        expected: "a text".into(),
        came: "nothing".into(),
        message_type: Some("GAME_INVITATION".into()),
        conversation_id: Some(ConversationId::new("conv-r1m1-001")),
    }
}

#[test]
fn a_message_that_breaks_a_rule_is_told_which_in_its_own_conversation() {
    let mut seat = Seat::taken("random");
    let (message, error) = error(seat.ask(Ask::Message(Err(rejection()))));
    assert_eq!(message.envelope.conversation_id.as_str(), "conv-r1m1-001");
    assert_eq!(error.error_code, ErrorCode::MissingField);
    assert_eq!(error.original_message_type, Some("GAME_INVITATION".into()));
    assert_eq!(error.context.unwrap()["path"], "match_id");
}

#[test]
fn a_body_that_breaks_a_rule_is_judged_after_the_managers_token() {
    let mut seat = Seat::taken("random");
    for (token, code) in [
        (Some(notice_token()), ErrorCode::MissingField),
        (None, ErrorCode::TokenMissing),
    ] {
        let mut broken = incoming(with_token(from_manager(round_completed(1)), token));
        broken.body = Err(rejection());
        assert_eq!(error(seat.ask(Ask::Message(Ok(broken)))).1.error_code, code);
    }
}

#[test]
fn a_message_that_is_not_for_players_is_refused() {
    let mut seat = Seat::taken("random");
    let error = seat.refused(from_manager(StartLeague {
        league_id: league(),
    }));
    assert_eq!(error.error_code, ErrorCode::InvalidState);
    assert!(error.error_message.unwrap().raw().contains("START_LEAGUE"));
}

#[test]
fn a_message_for_another_player_is_refused() {
    let mut seat = Seat::taken("random");
    let mut call = parity_call(&m(1, 1));
    call.player_id = p(2);
    let error = seat.refused(from_referee(&m(1, 1), 1, call));
    assert_eq!(error.error_code, ErrorCode::PlayerNotRegistered);
}

#[test]
fn questions_for_other_agents_are_refused() {
    let mut seat = Seat::taken("random");
    for ask in [
        Ask::Query(Query::Standings.into()),
        Ask::Query(Query::MatchState.into()),
    ] {
        assert_eq!(error(seat.ask(ask)).1.error_code, ErrorCode::InvalidState);
    }
}
