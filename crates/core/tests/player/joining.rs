//! An invitation is answered at once, and declined only when the game is not ours.

use super::seat::*;
use matchday_core::protocol::messages::GameJoinAck;
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{Body, GameType, Message, Sender};
use std::sync::Arc;

fn ack(seat: &mut Seat, message: Message) -> GameJoinAck {
    match seat.say(message).body {
        Body::GameJoinAck(ack) => Arc::unwrap_or_clone(ack),
        other => panic!("an acknowledgement, not {other:?}"),
    }
}

#[test]
fn an_invitation_is_accepted_in_its_conversation_with_the_token_for_the_referee() {
    let mut seat = Seat::taken("random");
    let message = seat.say(from_referee(&m(1, 1), 2, invitation(&m(1, 1), None)));
    assert_eq!(message.envelope.sender, Sender::Player(p(1)));
    assert_eq!(message.envelope.conversation_id.as_str(), "conv-r1m1-002");
    let token = match_token(&m(1, 1), 2, Direction::PlayerToReferee);
    assert_eq!(message.envelope.auth_token, Some(token));
    let Body::GameJoinAck(ack) = message.body else {
        panic!("an acknowledgement");
    };
    assert!(ack.accept);
    assert_eq!((&ack.match_id, &ack.player_id), (&m(1, 1), &p(1)));
    assert_eq!(ack.arrival_timestamp, seat.now);
}

#[test]
fn a_second_invitation_is_accepted_again_and_stores_nothing() {
    let mut seat = Seat::taken("random");
    let call = from_referee(&m(1, 1), 1, invitation(&m(1, 1), None));
    assert!(ack(&mut seat, call.clone()).accept);
    let stored = seat.stored.len();
    assert!(ack(&mut seat, call).accept);
    assert_eq!(seat.stored.len(), stored);
}

#[test]
fn a_game_that_we_do_not_play_is_declined() {
    let mut seat = Seat::taken("random");
    let mut other = invitation(&m(1, 1), None);
    other.game_type = GameType::new("chess");
    let stored = seat.stored.len();
    assert!(!ack(&mut seat, from_referee(&m(1, 1), 1, other)).accept);
    assert_eq!(seat.stored.len(), stored);
}
