//! A player proves its part: a nonce of its own for each attempt, and a signature over every move that it makes.

use super::seat::*;
use matchday_core::fair::{MatchDraw, SCHEME};
use matchday_core::player::PlayerEvent;
use matchday_core::player::keys::Keys;
use matchday_core::protocol::draw::Commitment;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::nonce::{Nonce, NonceCommitment};
use matchday_core::protocol::{Attempt, Body, ErrorCode, MatchId};
use matchday_core::signature::PublicKey;
use matchday_core::signed_move::SignedMoves;
use serde_json::{Value, json};

fn commitment(attempt: u32) -> Commitment {
    Commitment(format!("{attempt:064x}").into())
}

fn opponent() -> NonceCommitment {
    NonceCommitment::parse(&"ab".repeat(32)).unwrap()
}

fn draw_2(match_id: &MatchId, attempt: u32) -> GameInvitation {
    let draw_scheme = Some(SCHEME.into());
    GameInvitation {
        draw_scheme,
        ..invitation(match_id, Some(commitment(attempt)))
    }
}

fn joins(seat: &mut Seat, match_id: &MatchId, attempt: u32) -> GameJoinAck {
    match seat
        .say(from_referee(match_id, attempt, draw_2(match_id, attempt)))
        .body
    {
        Body::GameJoinAck(ack) => std::sync::Arc::unwrap_or_clone(ack),
        other => panic!("{other:?}"),
    }
}

fn call(match_id: &MatchId) -> ChooseParityCall {
    ChooseParityCall {
        turn: Some(1),
        opponent_nonce_commitment: Some(opponent()),
        ..parity_call(match_id)
    }
}

fn public_key(seat: &Seat) -> PublicKey {
    let keys = seat.stored.iter().find_map(|event| match event {
        PlayerEvent::Applied(application) => Some(Keys::of(application)),
        _ => None,
    });
    keys.unwrap().public_key()
}

fn signed(
    seat: &Seat,
    match_id: &MatchId,
    attempt: u32,
    nonce: &Nonce,
    choices: &[Value],
) -> impl Fn(&matchday_core::signature::Signature) -> bool {
    let key = public_key(seat);
    let league = league();
    let match_id = match_id.clone();
    let nonce = nonce.clone();
    let choices = choices.to_vec();
    move |signature| {
        let draw = MatchDraw {
            league_id: &league,
            match_id: &match_id,
            attempt: Attempt(attempt),
        };
        let moves = SignedMoves {
            draw,
            player_id: &p(1),
            commitment: &commitment(attempt),
            opponent_nonce: Some(&opponent()),
            nonce: &nonce,
            choices: choices.iter().collect(),
        };
        moves.is_signed(&key, signature)
    }
}

#[test]
fn it_registers_the_key_that_follows_from_its_registration_key() {
    let mut seat = Seat::empty("random");
    let call = seat.wake();
    let matchday_core::agent::Payload::Message(message) = call.payload else {
        panic!()
    };
    let Body::LeagueRegisterRequest(request) = message.body else {
        panic!()
    };
    assert_eq!(request.player_meta.public_key, Some(public_key(&seat)));
}

#[test]
fn what_it_reveals_is_what_it_had_committed_to_and_signed() {
    let mut seat = Seat::taken("always_even");
    let id = m(1, 1);
    let promised = joins(&mut seat, &id, 1).nonce_commitment.unwrap();
    let choice = seat.parity(from_referee(&id, 1, call(&id)));
    let nonce = choice.nonce.unwrap();
    let league = league();
    let draw = MatchDraw {
        league_id: &league,
        match_id: &id,
        attempt: Attempt(1),
    };
    assert_eq!(draw.nonce_commitment(&p(1), &nonce), promised);
    assert!(signed(&seat, &id, 1, &nonce, &[json!("even")])(
        &choice.signature.unwrap()
    ));
    assert!(!signed(&seat, &id, 1, &nonce, &[json!("odd")])(
        &choice.signature.unwrap()
    ));
    assert!(!signed(&seat, &id, 2, &nonce, &[json!("even")])(
        &choice.signature.unwrap()
    ));
}

#[test]
fn another_attempt_gets_the_same_choice_with_another_nonce_and_another_signature() {
    let mut seat = Seat::taken("random");
    let id = m(1, 1);
    let mut nonces = std::collections::BTreeSet::new();
    let mut choices = Vec::new();
    for attempt in 1..=4 {
        let ack = joins(&mut seat, &id, attempt);
        seat.crash();
        assert_eq!(
            joins(&mut seat, &id, attempt),
            ack,
            "the same invitation has the same answer"
        );
        let question = from_referee(&id, attempt, call(&id));
        let answer = seat.parity(question.clone());
        seat.crash();
        assert_eq!(
            seat.parity(question),
            answer,
            "the same question has the same answer"
        );
        let nonce = answer.nonce.unwrap();
        let made = [json!(answer.parity_choice.as_str())];
        assert!(signed(&seat, &id, attempt, &nonce, &made)(
            &answer.signature.unwrap()
        ));
        nonces.insert(nonce.0);
        choices.push(answer.parity_choice);
    }
    assert_eq!(nonces.len(), 4);
    assert!(choices.windows(2).all(|two| two[0] == two[1]));
}

/// A referee of another make draws in its own way, or does not say how.
fn a_referee_of(scheme: Option<&str>) {
    let mut seat = Seat::taken("random");
    let id = m(1, 1);
    let answers = [1, 2].map(|attempt| {
        let draw_scheme = scheme.map(Into::into);
        let invitation = GameInvitation {
            draw_scheme,
            ..invitation(&id, Some(commitment(attempt)))
        };
        let invited = from_referee(&id, attempt, invitation);
        let Body::GameJoinAck(ack) = seat.say(invited).body else {
            panic!()
        };
        assert_eq!(ack.nonce_commitment, None);
        seat.parity(from_referee(&id, attempt, parity_call(&id)))
    });
    let [first, second] = answers;
    assert_eq!(first.parity_choice, second.parity_choice);
    assert_ne!(first.nonce, second.nonce);
    assert_eq!((first.signature, second.signature), (None, None));
}

#[test]
fn a_referee_that_names_no_scheme_gets_a_fresh_nonce_for_each_attempt_and_no_signature() {
    a_referee_of(None);
}

#[test]
fn a_referee_that_names_another_scheme_gets_a_fresh_nonce_for_each_attempt_and_no_signature() {
    a_referee_of(Some("coin-toss-1"));
}

#[test]
fn a_referee_cannot_replace_its_commitment_within_an_attempt() {
    let mut seat = Seat::taken("random");
    let id = m(1, 1);
    joins(&mut seat, &id, 1);
    seat.crash();
    let other = GameInvitation {
        draw_commitment: Some(commitment(7)),
        ..draw_2(&id, 1)
    };
    let error = seat.refused(from_referee(&id, 1, other));
    assert_eq!(error.error_code, ErrorCode::InvalidState);
    assert!(
        error
            .error_message
            .unwrap()
            .raw()
            .starts_with("draw_commitment: ")
    );
}

/// A question of tic-tac-toe as it is numbered.
fn numbered(id: &MatchId, turn: u32, options: &[Value]) -> GameMoveCall {
    let call = move_call(id, "tic_tac_toe", "place_mark", options);
    GameMoveCall {
        turn: Some(turn),
        opponent_nonce_commitment: Some(opponent()),
        ..call
    }
}

#[test]
fn every_signature_covers_all_moves_of_the_attempt() {
    let mut seat = Seat::taken("random");
    let id = m(1, 1);
    joins(&mut seat, &id, 1);
    let mut made = Vec::new();
    for (turn, options) in [
        (1, [json!(1), json!(2)]),
        (3, [json!(3), json!(4)]),
        (5, [json!(5), json!(6)]),
    ] {
        let answer = seat.moves(from_referee(&id, 1, numbered(&id, turn, &options)));
        seat.crash();
        made.push(answer.move_data.choice);
        assert!(signed(&seat, &id, 1, &answer.nonce.unwrap(), &made)(
            &answer.signature.unwrap()
        ));
    }
}

#[test]
fn it_answers_one_question_for_each_turn() {
    let mut seat = Seat::taken("random");
    let id = m(1, 1);
    joins(&mut seat, &id, 1);
    seat.moves(from_referee(
        &id,
        1,
        numbered(&id, 3, &[json!(1), json!(2)]),
    ));
    for turn in [1, 2, 3] {
        let error = seat.refused(from_referee(
            &id,
            1,
            numbered(&id, turn, &[json!(3), json!(4)]),
        ));
        assert!(
            error.error_message.unwrap().raw().starts_with("turn: "),
            "turn {turn}"
        );
    }
}

#[test]
fn it_signs_for_one_commitment_of_its_opponent_alone() {
    let mut seat = Seat::taken("random");
    let id = m(1, 1);
    joins(&mut seat, &id, 1);
    seat.moves(from_referee(
        &id,
        1,
        numbered(&id, 1, &[json!(1), json!(2)]),
    ));
    let other = NonceCommitment::parse(&"cd".repeat(32));
    let call = GameMoveCall {
        opponent_nonce_commitment: other,
        ..numbered(&id, 3, &[json!(3), json!(4)])
    };
    let error = seat.refused(from_referee(&id, 1, call));
    assert!(
        error
            .error_message
            .unwrap()
            .raw()
            .starts_with("opponent_nonce_commitment: ")
    );
}

#[test]
fn two_questions_of_one_attempt_are_not_thought_about_at_once() {
    let mut seat = Seat::thinking("random");
    let id = m(1, 1);
    joins(&mut seat, &id, 1);
    let now = |options: &[Value]| {
        let call = numbered(&id, 1, options);
        let deadline =
            matchday_core::protocol::Timestamp::EPOCH + std::time::Duration::from_secs(30);
        from_referee(&id, 1, GameMoveCall { deadline, ..call })
    };
    let ask = |message| matchday_core::agent::Ask::Message(Ok(incoming(message)));
    assert!(
        seat.put(1, ask(now(&[json!(1), json!(2)])))
            .replies
            .is_empty(),
        "it thinks"
    );
    let error = seat.refused(now(&[json!(3), json!(4)]));
    assert_eq!(error.error_code, ErrorCode::InvalidState);
}
