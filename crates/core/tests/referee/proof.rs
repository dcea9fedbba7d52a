//! What players prove is checked when it comes, and passed on.

use crate::bench::*;
use matchday_core::agent::Answer;
use matchday_core::fair::MatchDraw;
use matchday_core::protocol::decode::Incoming;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, Body, ErrorCode, MessageType};
use matchday_core::referee_statement::{AttemptRef, Statement, result_text};
use matchday_core::signature::SigningKey;
use matchday_core::signed_move::SignedMoves;
use serde_json::json;
use std::sync::Arc;

fn key() -> SigningKey {
    SigningKey::from_seed([1; 32])
}

fn nonce() -> Nonce {
    Nonce("nonce of 1".into())
}

fn draw<'a>(
    league_id: &'a matchday_core::protocol::LeagueId,
    match_id: &'a matchday_core::protocol::MatchId,
) -> MatchDraw<'a> {
    MatchDraw {
        league_id,
        match_id,
        attempt: Attempt(1),
    }
}

/// P01 signs, P02 does not. Both are invited.
fn invited() -> Bench {
    let mut bench = Bench::new();
    let mut round = bench.round(&[even_odd("R1M1", 1, 2)], 0);
    let mut game = round.matches.iter().next().unwrap().clone();
    game.briefing.as_mut().unwrap().player_a_public_key = Some(key().public_key());
    round.matches = vec![game].into();
    let envelope = bench.manager_envelope();
    bench.told(envelope, round);
    bench
}

fn join(bench: &mut Bench, change: impl FnOnce(&mut GameJoinAck)) {
    let mut ack = bench.join_ack(1, "R1M1", true);
    if let Ok(Body::GameJoinAck(ack)) = &mut ack.body {
        let ack = Arc::make_mut(ack);
        ack.nonce_commitment = Some(draw(&league(), &m("R1M1")).nonce_commitment(&p(1), &nonce()));
        change(ack);
    }
    bench.answers(1, MessageType::GameInvitation, Answer::Message(Ok(ack)));
}

fn joined() -> Bench {
    let mut bench = invited();
    join(&mut bench, |_| ());
    bench.joins(2, "R1M1");
    bench
}

/// The choice of P01 as it should be, and then changed.
fn choice(bench: &Bench, change: impl FnOnce(&mut ChooseParityResponse)) -> Incoming {
    let Body::GameInvitation(invitation) =
        body(&bench.last_to(1, MessageType::GameInvitation)).clone()
    else {
        panic!()
    };
    let league = league();
    let match_id = m("R1M1");
    let even = json!("even");
    let moves = SignedMoves {
        draw: draw(&league, &match_id),
        player_id: &p(1),
        commitment: invitation.draw_commitment.as_ref().unwrap(),
        opponent_nonce: None,
        nonce: &nonce(),
        choices: vec![&even],
    };
    let mut choice = bench.choice(1, "R1M1", Parity::Even);
    if let Ok(Body::ChooseParityResponse(response)) = &mut choice.body {
        let response = Arc::make_mut(response);
        response.signature = Some(moves.sign(&key()));
        change(response);
    }
    choice
}

fn last_error(bench: &Bench) -> GameError {
    match body(&bench.last_to(1, MessageType::GameError)).clone() {
        Body::GameError(error) => Arc::unwrap_or_clone(error),
        _ => panic!(),
    }
}

#[test]
fn a_signed_match_is_passed_on_with_all_its_proof() {
    let mut bench = joined();
    let Body::ChooseParityCall(call) =
        body(&bench.last_to(2, MessageType::ChooseParityCall)).clone()
    else {
        panic!()
    };
    assert_eq!(call.turn, Some(1));
    let promised = draw(&league(), &m("R1M1")).nonce_commitment(&p(1), &nonce());
    assert_eq!(call.opponent_nonce_commitment, Some(promised));
    let answer = choice(&bench, |_| ());
    bench.answers(
        1,
        MessageType::ChooseParityCall,
        Answer::Message(Ok(answer)),
    );
    bench.chooses(2, "R1M1", Parity::Odd);
    let reveal = bench.report().details.fairness.unwrap();
    assert_eq!(reveal.scheme, "matchday-draw-2");
    assert_eq!(reveal.nonce_commitment(&p(1)), Some(&promised));
    assert!(reveal.signature(&p(1)).is_some() && reveal.signature(&p(2)).is_none());
    assert_eq!(
        serde_json::to_value(reveal.proof).unwrap(),
        json!({"P01": "signed", "P02": "nonce"})
    );
}

#[test]
fn a_player_with_a_key_that_joins_without_a_commitment_is_asked_again() {
    let mut bench = invited();
    join(&mut bench, |ack| ack.nonce_commitment = None);
    let error = last_error(&bench);
    assert_eq!(error.error_code, ErrorCode::MissingField);
    assert!(
        error
            .error_message
            .unwrap()
            .raw()
            .starts_with("nonce_commitment: ")
    );
}

#[test]
fn a_move_that_does_not_prove_itself_is_a_wrong_answer() {
    type Change = fn(&mut ChooseParityResponse);
    let cases: [(Change, ErrorCode, &str); 5] = [
        (
            |it| it.signature = None,
            ErrorCode::MissingField,
            "signature: ",
        ),
        (
            |it| it.parity_choice = Parity::Odd,
            ErrorCode::InvalidFormat,
            "signature: ",
        ),
        (
            |it| it.signature = Some(key().sign(b"even")),
            ErrorCode::InvalidFormat,
            "signature: ",
        ),
        (|it| it.nonce = None, ErrorCode::MissingField, "nonce: "),
        (
            |it| it.nonce = Some(Nonce("another".into())),
            ErrorCode::InvalidFormat,
            "nonce: ",
        ),
    ];
    for (change, code, begins) in cases {
        let mut bench = joined();
        let wrong = choice(&bench, change);
        bench.answers(1, MessageType::ChooseParityCall, Answer::Message(Ok(wrong)));
        let error = last_error(&bench);
        assert_eq!(error.error_code, code, "{error:?}");
        assert!(
            error
                .error_message
                .clone()
                .unwrap()
                .raw()
                .starts_with(begins),
            "{error:?}"
        );
    }
}

#[test]
fn a_move_that_was_made_before_the_other_player_forfeited_is_proven_too() {
    let mut bench = joined();
    let answer = choice(&bench, |_| ());
    bench.answers(
        1,
        MessageType::ChooseParityCall,
        Answer::Message(Ok(answer)),
    );
    bench.until(600.0);
    let result = bench.report();
    assert_eq!(result.status, Some(GameStatus::TechnicalLoss));
    assert!(result.details.fairness.unwrap().signature(&p(1)).is_some());
}

#[test]
fn the_commitment_and_the_result_are_signed_with_the_key_that_the_referee_registered() {
    let mut bench = joined();
    let own = choice(&bench, |_| ());
    bench.answers(1, MessageType::ChooseParityCall, Answer::Message(Ok(own)));
    bench.chooses(2, "R1M1", Parity::Odd);
    let request = bench.last(MessageType::RefereeRegisterRequest);
    let Body::RefereeRegisterRequest(request) = body(&request) else {
        panic!()
    };
    let key = request
        .referee_meta
        .public_key
        .expect("it has registered a key");
    let league_id = league();
    let match_id = m("R1M1");
    let about = AttemptRef {
        league_id: &league_id,
        match_id: &match_id,
        attempt: Attempt(1),
    };
    for player in [1, 2] {
        let invited = bench.last_to(player, MessageType::GameInvitation);
        let Body::GameInvitation(invited) = body(&invited) else {
            panic!()
        };
        let commitment = Statement::Commitment(invited.draw_commitment.as_ref().unwrap());
        assert!(about.is_signed(&key, commitment, &invited.commitment_signature.unwrap()));
        let over = bench.last_to(player, MessageType::GameOver);
        let Body::GameOver(over) = body(&over) else {
            panic!()
        };
        let text = result_text(&over.game_result);
        assert!(about.is_signed(&key, Statement::Result(&text), &over.signature.unwrap()));
        assert_eq!(
            over.game_result,
            GameResult::of(&bench.report()),
            "as it is reported"
        );
    }
}
