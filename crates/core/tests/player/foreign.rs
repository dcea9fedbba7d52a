//! With somebody else's manager nothing can be proven: the player answers for matches that it has heard of.

use super::seat::*;
use matchday_core::agent::Agent;
use matchday_core::player::PlayerEvent;
use matchday_core::player::durable::MATCHES_MAX;
use matchday_core::protocol::messages::{Parity, Role};
use matchday_core::protocol::{Attempt, ConversationId, ErrorCode, Message, RoundId};

/// As a referee that knows nothing of our tokens and conversations would send it.
fn plain(mut message: Message) -> Message {
    message.envelope.auth_token = None;
    message.envelope.conversation_id = ConversationId::new("some-uuid");
    message
}

#[test]
fn a_match_never_heard_of_is_refused() {
    let mut seat = Seat::foreign("random");
    let id = m(1, 1);
    for message in [
        from_referee(&id, 1, parity_call(&id)),
        from_referee(
            &id,
            1,
            move_call(&id, "tic_tac_toe", "place_mark", &[0.into()]),
        ),
        from_referee(&id, 1, game_over(&id, p(2), Parity::Even, Parity::Odd, 4)),
    ] {
        assert_eq!(
            seat.refused(plain(message)).error_code,
            ErrorCode::MatchNotFound
        );
    }
}

#[test]
fn an_invited_match_is_answered_with_our_own_token_and_always_alike() {
    let mut seat = Seat::foreign("random");
    let id = m(1, 1);
    let ack = seat.say(plain(from_referee(&id, 1, invitation(&id, None))));
    assert_eq!(ack.envelope.auth_token, Some(own_token()));
    let call = plain(from_referee(&id, 1, parity_call(&id)));
    let first = seat.say(call.clone());
    assert_eq!(first.envelope.auth_token, Some(own_token()));
    seat.crash();
    assert_eq!(seat.say(call), first);
}

#[test]
fn an_announced_match_is_answered_without_an_invitation() {
    let mut seat = Seat::foreign("always_odd");
    let notice = announcement(1, vec![announced(&m(1, 1), 1, None)]);
    seat.tell(with_token(from_manager(notice), None));
    let answer = seat.parity(plain(from_referee(&m(1, 1), 1, parity_call(&m(1, 1)))));
    assert_eq!(answer.parity_choice, Parity::Odd);
}

#[test]
fn invitations_beyond_the_bound_are_refused_and_none_is_forgotten() {
    let mut seat = Seat::foreign("random");
    for number in 1..=MATCHES_MAX as u32 {
        // Straight into the memory: the replay check of every step would make this slow.
        let event = PlayerEvent::Invited {
            match_id: m(1, number),
            round_id: RoundId(1),
            game_type: even_odd(),
            opponent_id: p(2),
            role: Role::PlayerA,
            attempt: Attempt(1),
            draw_commitment: None,
            commitment_signature: None,
            signs: false,
        };
        seat.player.apply(seat.now, &event);
        seat.stored.push(event);
    }
    for number in 5_000..5_003 {
        let error = seat.refused(plain(from_referee(
            &m(1, number),
            1,
            invitation(&m(1, number), None),
        )));
        assert_eq!(error.error_code, ErrorCode::RateLimited);
    }
    let call = plain(from_referee(&m(1, 1), 1, parity_call(&m(1, 1))));
    let _ = seat.parity(call);
}

#[test]
fn a_choice_goes_under_both_names_to_a_referee_that_is_not_ours() {
    let mut seat = Seat::foreign("always_odd");
    let id = m(1, 1);
    seat.say(plain(from_referee(&id, 1, invitation(&id, None))));
    let foreign = seat.say(plain(from_referee(&id, 1, parity_call(&id))));
    let written = serde_json::to_value(foreign).unwrap();
    assert_eq!(
        (&written["parity_choice"], &written["choice"]),
        (&"odd".into(), &"odd".into())
    );

    let mut seat = Seat::taken("always_odd");
    let ours = seat.say(from_referee(&id, 1, parity_call(&id)));
    assert_eq!(serde_json::to_value(ours).unwrap().get("choice"), None);
}

#[test]
fn the_end_of_a_match_is_remembered_under_its_own_game() {
    let mut seat = Seat::foreign("random");
    let id = m(1, 1);
    seat.tell(with_token(
        from_manager(announcement(1, vec![announced(&id, 1, None)])),
        None,
    ));
    let mut over = serde_json::to_value(plain(from_referee(
        &id,
        1,
        game_over(&id, p(2), Parity::Even, Parity::Odd, 4),
    )))
    .unwrap();
    over.as_object_mut().unwrap().remove("game_type");
    let reading =
        matchday_testkit::golden::reading(matchday_core::protocol::decode::Conformance::Lenient);
    let read = matchday_core::protocol::decode::decode(&over, &reading).unwrap();
    let message = Message {
        envelope: read.envelope,
        body: read.body.unwrap(),
    };
    seat.tell(message);
    assert_eq!(
        seat.player
            .history()
            .overall()
            .games()
            .next()
            .unwrap()
            .game_type,
        even_odd()
    );
}

#[test]
fn a_question_without_a_conversation_is_answered_in_that_of_its_match() {
    let mut seat = Seat::foreign("random");
    let id = m(1, 1);
    let call = serde_json::json!({"message_type": "GAME_INVITATION", "sender": "referee:REF01", "match_id": "R1M1",
        "role_in_match": "PLAYER_A", "opponent_id": "P02", "league_id": "league_1", "round_id": 1});
    let reading =
        matchday_testkit::golden::reading(matchday_core::protocol::decode::Conformance::Lenient);
    let read = matchday_core::protocol::decode::decode(&call, &reading).unwrap();
    let content = seat.ask(matchday_core::agent::Ask::Message(Ok(read)));
    let matchday_core::agent::Content::Message(answer) = content else {
        panic!("an answer");
    };
    assert_eq!(
        answer.envelope.conversation_id,
        ConversationId::of_match(&id, Attempt(1))
    );
}
