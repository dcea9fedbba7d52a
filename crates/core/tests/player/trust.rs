//! With a manager of ours, a message without the token made for it changes nothing and learns nothing.

use super::seat::*;
use matchday_core::protocol::messages::Parity;
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{Body, ConversationId, ErrorCode, Message, Sender, Token};

/// Everything that a referee may send.
fn game_messages() -> Vec<Message> {
    let id = m(1, 1);
    vec![
        from_referee(&id, 1, invitation(&id, None)),
        from_referee(&id, 1, parity_call(&id)),
        from_referee(
            &id,
            1,
            move_call(&id, "tic_tac_toe", "place_mark", &[0.into()]),
        ),
        from_referee(&id, 1, game_over(&id, p(2), Parity::Even, Parity::Odd, 4)),
    ]
}

fn notices() -> Vec<Message> {
    vec![
        from_manager(announcement(1, vec![announced(&m(1, 1), 1, Some(false))])),
        from_manager(round_completed(1)),
        from_manager(league_completed()),
    ]
}

fn false_tokens() -> Vec<Token> {
    vec![
        Token::new("tok_ref01_of_the_referee"),
        Token::new(""),
        own_token(),
        match_token(&m(1, 1), 2, Direction::RefereeToPlayer),
        match_token(&m(1, 1), 1, Direction::PlayerToReferee),
        match_token(&m(1, 2), 1, Direction::RefereeToPlayer),
    ]
}

#[test]
fn a_game_message_with_a_false_token_is_refused() {
    let mut seat = Seat::taken("random");
    for message in game_messages() {
        for token in false_tokens().into_iter().chain([notice_token()]) {
            let error = seat.refused(with_token(message.clone(), Some(token.clone())));
            assert_eq!(error.error_code, ErrorCode::TokenInvalid);
            let text = serde_json::to_string(&error).unwrap();
            assert!(
                token.reveal().len() <= 8 || !text.contains(token.reveal()),
                "{text}"
            );
        }
        let error = seat.refused(with_token(message, None));
        assert_eq!(error.error_code, ErrorCode::TokenMissing);
    }
}

#[test]
fn a_notice_with_a_false_token_is_refused() {
    let mut seat = Seat::taken("random");
    let right = match_token(&m(1, 1), 1, Direction::RefereeToPlayer);
    for message in notices() {
        for token in false_tokens().into_iter().chain([right.clone()]) {
            let error = seat.refused(with_token(message.clone(), Some(token)));
            assert_eq!(error.error_code, ErrorCode::TokenInvalid);
        }
        let error = seat.refused(with_token(message.clone(), None));
        assert_eq!(error.error_code, ErrorCode::TokenMissing);
        seat.tell(message);
    }
}

#[test]
fn a_token_of_one_attempt_is_false_in_another() {
    let mut seat = Seat::taken("random");
    let mut call = from_referee(&m(1, 1), 2, parity_call(&m(1, 1)));
    call.envelope.auth_token = Some(match_token(&m(1, 1), 1, Direction::RefereeToPlayer));
    assert_eq!(
        seat.refused(call.clone()).error_code,
        ErrorCode::TokenInvalid
    );
    call.envelope.conversation_id = ConversationId::new("conv-elsewhere");
    assert_eq!(seat.refused(call).error_code, ErrorCode::TokenInvalid);
}

#[test]
fn a_player_that_plays_referee_is_refused_whatever_it_shows() {
    for mut seat in [Seat::taken("random"), Seat::foreign("random")] {
        for mut message in game_messages() {
            message.envelope.sender = Sender::Player(p(2));
            assert_eq!(seat.refused(message).error_code, ErrorCode::TokenInvalid);
        }
    }
}

#[test]
fn a_referee_announced_as_foreign_needs_no_token_and_never_sees_ours() {
    let mut seat = Seat::taken("random");
    seat.tell(from_manager(announcement(
        1,
        vec![announced(&m(1, 1), 1, Some(false))],
    )));
    for message in game_messages() {
        let message = with_token(message, Some(Token::new("tok_ref09_foreign")));
        if matches!(message.body, Body::GameOver(_)) {
            seat.tell(message);
        } else {
            let token = seat.say(message).envelope.auth_token;
            assert_eq!(
                token,
                Some(match_token(&m(1, 1), 1, Direction::PlayerToReferee))
            );
        }
    }
    let stored = serde_json::to_string(&seat.stored).unwrap();
    assert!(!stored.contains("foreign"), "a peer's token is not stored");
}

#[test]
fn a_foreign_referee_cannot_name_another_attempt_to_be_shown_its_token() {
    let mut seat = Seat::taken("random");
    seat.tell(from_manager(announcement(
        1,
        vec![announced(&m(1, 1), 1, Some(false))],
    )));
    let answer = seat.say(with_token(
        from_referee(&m(1, 1), 2, parity_call(&m(1, 1))),
        None,
    ));
    let token = match_token(&m(1, 1), 1, Direction::PlayerToReferee);
    assert_eq!(answer.envelope.auth_token, Some(token));
}

#[test]
fn only_a_plain_no_in_the_announcement_lets_a_referee_do_without_tokens() {
    for said in [None, Some(true)] {
        let mut seat = Seat::taken("random");
        seat.tell(from_manager(announcement(
            1,
            vec![announced(&m(1, 1), 1, said)],
        )));
        let call = with_token(from_referee(&m(1, 1), 1, parity_call(&m(1, 1))), None);
        assert_eq!(seat.refused(call).error_code, ErrorCode::TokenMissing);
    }
}

#[test]
fn an_announcement_of_an_earlier_attempt_that_comes_late_changes_nothing() {
    let mut seat = Seat::taken("random");
    seat.tell(from_manager(announcement(
        1,
        vec![announced(&m(1, 1), 2, Some(true))],
    )));
    seat.tell(from_manager(announcement(
        1,
        vec![announced(&m(1, 1), 1, Some(false))],
    )));
    let call = with_token(from_referee(&m(1, 1), 1, parity_call(&m(1, 1))), None);
    assert_eq!(seat.refused(call).error_code, ErrorCode::TokenMissing);
}
