//! Answers that are none: each is told to the player at once, which is asked again inside the same window.

use crate::bench::*;
use matchday_core::agent::{Answer, Ask, Content};
use matchday_core::protocol::MessageType::{ChooseParityCall, GameError, GameInvitation};
use matchday_core::protocol::decode::{Conformance, Deviation, DeviationKind, Incoming};
use matchday_core::protocol::messages::{GameJoinAck, Parity};
use matchday_core::protocol::{Body, ConversationId, ErrorCode, PlayerId, Sender, Token};
use matchday_core::signature::SigningKey;
use serde_json::json;
use smol_str::SmolStr;
use std::sync::Arc;

/// Player 1 has chosen, player 2 is asked.
fn asked() -> Bench {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench
}

fn lenient() -> Bench {
    let mut settings = settings();
    settings.conformance = Conformance::Lenient;
    let mut bench = Bench::with(settings);
    bench.announce(&[even_odd("R1M1", 1, 2)]);
    bench
}

fn say(bench: &mut Bench, incoming: Incoming) {
    bench.answers(2, ChooseParityCall, Answer::Message(Ok(incoming)));
}

/// The code of the last GAME_ERROR to player 2.
fn told(bench: &Bench) -> String {
    match body(&bench.last_to(2, GameError)) {
        Body::GameError(error) => error.error_code.code().to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn an_invalid_choice_is_asked_again_inside_the_same_window() {
    let mut bench = asked();
    bench.until(11.5);
    bench.answers(
        2,
        ChooseParityCall,
        Answer::Message(Err(invalid_choice("\"Even\""))),
    );
    let error = written(&bench.last_to(2, GameError));
    assert_eq!(error["error_code"], "E004");
    assert_eq!(error["error_name"], "INVALID_PARITY_CHOICE");
    assert_eq!(error["retryable"], true);
    assert_eq!(error["time_remaining"], 18.5);
    assert_eq!(
        error["retry_info"],
        json!({"retry_count": 1, "max_retries": 3, "time_remaining": 18.5})
    );
    assert_eq!(
        error["context"],
        json!({"invalid_choice": "Even", "valid_choices": ["even", "odd"]})
    );
    assert_eq!(
        error["consequence"],
        "Technical loss if valid choice not received before timeout"
    );
    bench.until(12.5);
    let again = bench.last_to(2, ChooseParityCall);
    assert_eq!(bench.times(2, ChooseParityCall), [0.0, 12.5]);
    assert_eq!(written(&again)["deadline"], "2025-01-15T10:00:30Z");
    bench.chooses(2, "R1M1", Parity::Odd);
    assert!(bench.verdict().contains(" WIN "));
}

#[test]
fn the_window_is_not_extended_and_wrong_answers_alone_forfeit_at_its_end() {
    let mut bench = asked();
    bench.answers(
        2,
        ChooseParityCall,
        Answer::Message(Err(invalid_choice("7"))),
    );
    bench.until(29.9);
    assert_eq!(bench.decisions(), 0);
    bench.until(30.0);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
    assert_eq!(
        bench.reason(),
        "P02 gave no valid answer within timeout - P01 wins by default"
    );
}

#[test]
fn silence_after_a_wrong_answer_is_no_reason_for_another_try() {
    let mut bench = asked();
    bench.answers(2, ChooseParityCall, Answer::Garbled("<html>".into()));
    assert_eq!(told(&bench), "E002");
    bench.until(30.0);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
}

#[test]
fn joining_wrongly_is_asked_again_inside_the_five_seconds() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    bench.until(1.0);
    bench.answers(2, GameInvitation, Answer::Garbled("404".into()));
    assert_eq!(
        written(&bench.last_to(2, GameError))["action_required"],
        "GAME_JOIN_ACK"
    );
    bench.until(2.0);
    assert_eq!(bench.times(2, GameInvitation), [0.0, 2.0]);
    bench.joins(2, "R1M1");
    assert_eq!(bench.all(ChooseParityCall).len(), 2);
}

#[test]
fn another_match_id_is_e015() {
    let mut bench = asked();
    let mut choice = bench.choice(2, "R1M1", Parity::Odd);
    if let Ok(Body::ChooseParityResponse(response)) = &mut choice.body {
        Arc::make_mut(response).match_id = m("R1M2");
    }
    say(&mut bench, choice);
    assert_eq!(told(&bench), "E015");
    assert_eq!(bench.decisions(), 0);
}

#[test]
fn in_strict_the_opponents_name_is_e012_in_sender_and_in_body() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    bench.joins(2, "R1M1");
    bench.chooses(1, "R1M1", Parity::Even);
    let mut choice = bench.choice(2, "R1M1", Parity::Odd);
    choice.envelope.sender = Sender::Player(p(1));
    say(&mut bench, choice);
    assert_eq!(told(&bench), "E012");
    bench.until(1.0);
    let mut choice = bench.choice(2, "R1M1", Parity::Odd);
    if let Ok(Body::ChooseParityResponse(response)) = &mut choice.body {
        Arc::make_mut(response).player_id = p(1);
    }
    say(&mut bench, choice);
    assert_eq!(told(&bench), "E012");
    assert_eq!(bench.decisions(), 0);
}

#[test]
fn another_type_of_message_is_e002() {
    let mut bench = asked();
    let ack = bench.join_ack(2, "R1M1", true);
    say(&mut bench, ack);
    assert_eq!(told(&bench), "E002");
}

#[test]
fn a_wrong_answer_to_an_earlier_question_is_passed_over() {
    let mut bench = asked();
    let first = bench.last_to(2, ChooseParityCall).call;
    bench.until(33.0);
    let errors = bench.all_to(2, GameError).len();
    bench.answer(first, Answer::Garbled("late and wrong".into()));
    assert_eq!(bench.all_to(2, GameError).len(), errors);
}

#[test]
fn copies_of_an_answer_change_nothing() {
    let mut bench = asked();
    let other = bench.choice(1, "R1M1", Parity::Odd);
    assert_eq!(bench.request(Ask::Message(Ok(other))), Content::Received);
    let ack = bench.join_ack(1, "R1M1", true);
    assert_eq!(bench.request(Ask::Message(Ok(ack))), Content::Received);
    bench.chooses(2, "R1M1", Parity::Even);
    let details = json!(bench.report().details.game);
    assert_eq!(details["choices"], json!({"P01": "even", "P02": "even"}));
}

#[test]
fn a_player_may_answer_the_error_with_what_it_owes() {
    let mut bench = asked();
    bench.answers(
        2,
        ChooseParityCall,
        Answer::Message(Err(invalid_choice("null"))),
    );
    let choice = bench.choice(2, "R1M1", Parity::Odd);
    bench.answers(2, GameError, Answer::Message(Ok(choice)));
    assert!(bench.verdict().contains(" WIN "));
}

#[test]
fn a_foreign_player_shows_its_own_token_in_the_exchange_and_the_strict_reading_wants_one() {
    let mut bench = asked();
    let mut choice = bench.choice(2, "R1M1", Parity::Odd);
    choice.envelope.auth_token = None;
    say(&mut bench, choice.clone());
    assert_eq!(told(&bench), "E011");
    bench.until(1.0);
    choice.envelope.auth_token = Some(own_token(2));
    say(&mut bench, choice);
    assert!(bench.verdict().contains(" WIN "));
}

/// The GAME_JOIN_ACK of player 2 in the exchange, with this token.
fn joins_showing(bench: &mut Bench, token: Option<Token>) {
    let mut ack = bench.join_ack(2, "R1M1", true);
    ack.envelope.auth_token = token;
    bench.answers(2, GameInvitation, Answer::Message(Ok(ack)));
}

#[test]
fn in_strict_an_absent_token_an_echo_and_a_made_up_one_are_refused_in_the_exchange() {
    for (token, code) in [
        (None, "E011"),
        (Some(tokens(2, &m("R1M1"), 1).to_player), "E012"),
        (Some(Token::new("tok_p02_temp")), "E012"),
    ] {
        let mut bench = Bench::invited();
        joins_showing(&mut bench, token);
        assert_eq!(told(&bench), code);
    }
}

#[test]
fn in_lenient_an_absent_token_an_echo_and_a_made_up_one_are_deviations_in_the_exchange() {
    for (token, noted) in [
        (None, "missing auth_token"),
        (
            Some(tokens(2, &m("R1M1"), 1).to_player),
            "echoed auth_token",
        ),
        (Some(Token::new("tok_p02_temp")), "mismatch auth_token"),
    ] {
        let mut bench = lenient();
        bench.joins(1, "R1M1");
        joins_showing(&mut bench, token);
        bench.chooses(1, "R1M1", Parity::Even);
        bench.chooses(2, "R1M1", Parity::Odd);
        let deviations = bench.report().details.deviations.unwrap();
        assert_eq!(deviations.get(&p(2)).unwrap(), &[noted]);
    }
}

#[test]
fn the_token_of_another_player_or_of_another_match_is_e012_in_every_reading() {
    for token in [
        own_token(1),
        tokens(1, &m("R1M1"), 1).from_player,
        tokens(1, &m("R1M1"), 1).to_player,
        tokens(4, &m("R1M2"), 1).from_player,
        tokens(2, &m("R1M3"), 1).to_player,
    ] {
        let mut bench = lenient();
        bench.announce(&[even_odd("R1M2", 3, 4), even_odd("R1M3", 2, 5)]);
        let mut ack = bench.join_ack(2, "R1M1", true);
        ack.envelope.auth_token = Some(token);
        let call = bench.all_to(2, GameInvitation)[0].1.call;
        bench.answer(call, Answer::Message(Ok(ack)));
        assert_eq!(told(&bench), "E012");
    }
}

#[test]
fn nothing_is_forgiven_to_a_player_with_a_key() {
    let key = SigningKey::from_seed([7; 32]).public_key();
    for (token, code) in [
        (None, "E011"),
        (Some(tokens(2, &m("R1M1"), 1).to_player), "E012"),
        (Some(Token::new("tok_p02_temp")), "E012"),
    ] {
        let mut settings = settings();
        settings.conformance = Conformance::Lenient;
        let mut bench = Bench::with(settings);
        let mut round = bench.round(&[even_odd("R1M1", 1, 2)], 0);
        let mut matches = round.matches.to_vec();
        matches[0].briefing.as_mut().unwrap().player_b_public_key = Some(key);
        round.matches = matches.into();
        let envelope = bench.manager_envelope();
        bench.told(envelope, round);
        joins_showing(&mut bench, token);
        assert_eq!(told(&bench), code);
    }
}

#[test]
fn the_conformance_of_the_league_comes_with_the_match_and_overrules_the_referees_own() {
    for (own, leagues, is_taken) in [
        (Conformance::Strict, Conformance::Lenient, true),
        (Conformance::Lenient, Conformance::Strict, false),
    ] {
        let mut settings = settings();
        settings.conformance = own;
        let mut bench = Bench::with(settings);
        let mut round = bench.round(&[even_odd("R1M1", 1, 2)], 0);
        let mut matches = round.matches.to_vec();
        matches[0].briefing.as_mut().unwrap().conformance = Some(leagues);
        round.matches = matches.into();
        let envelope = bench.manager_envelope();
        bench.told(envelope, round);
        joins_showing(&mut bench, None);
        assert_eq!(bench.all(GameError).is_empty(), is_taken, "{leagues:?}");
    }
}

#[test]
fn an_answer_that_only_the_lenient_reading_takes_is_refused_as_the_strict_one_says() {
    for mut bench in [Bench::invited(), lenient()] {
        let is_strict = bench.settings.conformance == Conformance::Strict;
        let mut ack = bench.join_ack(2, "R1M1", true);
        ack.deviations.push(Deviation {
            kind: DeviationKind::Missing,
            path: "timestamp".to_owned(),
        });
        let mut missing = invalid_choice("nothing");
        missing.code = ErrorCode::MissingField;
        ack.strict = Some(Box::new(Err(missing)));
        bench.answers(2, GameInvitation, Answer::Message(Ok(ack)));
        assert_eq!(bench.all(GameError).is_empty(), !is_strict);
        if is_strict {
            assert_eq!(told(&bench), "E003");
        }
    }
}

#[test]
fn a_manager_that_gives_out_no_tokens_has_its_referee_demand_none() {
    let mut bench = Bench::fresh(settings());
    bench.register_without_token();
    let mut single = even_odd("R1M1", 1, 2);
    single.briefed = true;
    let envelope = bench.manager_envelope().with_token(None);
    let mut round = bench.round(&[single], 0);
    let mut matches = round.matches.to_vec();
    let briefing = matches[0].briefing.as_mut().unwrap();
    briefing.player_a_tokens = None;
    briefing.player_b_tokens = None;
    round.matches = matches.into();
    bench.told(envelope, round);
    for player in [1, 2] {
        let mut ack = bench.join_ack(player, "R1M1", true);
        ack.envelope.auth_token = None;
        bench.answers(player, GameInvitation, Answer::Message(Ok(ack)));
    }
    assert_eq!(bench.all(ChooseParityCall).len(), 2);
}

#[test]
fn another_conversation_than_the_questions_is_e015_in_strict_and_noted_in_lenient() {
    for (mut bench, strict) in [(Bench::invited(), true), (lenient(), false)] {
        bench.joins(1, "R1M1");
        let mut ack = bench.join_ack(2, "R1M1", true);
        ack.envelope.conversation_id = ConversationId::new("conv-of-my-own");
        bench.answers(2, GameInvitation, Answer::Message(Ok(ack)));
        if strict {
            assert_eq!(told(&bench), "E015");
            continue;
        }
        bench.chooses(1, "R1M1", Parity::Even);
        bench.chooses(2, "R1M1", Parity::Odd);
        let deviations = bench.report().details.deviations.unwrap();
        assert_eq!(
            deviations.get(&p(2)).unwrap(),
            &["mismatch conversation_id"]
        );
    }
}

#[test]
fn in_the_exchange_any_name_of_the_agents_own_will_do_in_the_body_too() {
    for name in ["alpha", "P01", "P07", "P77"] {
        let mut bench = lenient();
        let mut ack = bench.join_ack(2, "R1M1", true);
        ack.envelope.sender = Sender::Player(PlayerId::new(name));
        if let Ok(Body::GameJoinAck(body)) = &mut ack.body {
            Arc::make_mut(body).player_id = PlayerId::new(name);
        }
        bench.answers(2, GameInvitation, Answer::Message(Ok(ack)));
        assert!(bench.all(GameError).is_empty(), "{name}");
    }
}

#[test]
fn what_the_lenient_referee_forgives_stands_in_its_report() {
    let mut bench = lenient();
    bench.joins(1, "R1M1");
    let mut ack = bench.join_ack(2, "R1M1", true);
    ack.envelope.auth_token = None;
    ack.envelope.sender = Sender::parse("player:alpha").unwrap();
    bench.answers(2, GameInvitation, Answer::Message(Ok(ack)));
    bench.chooses(1, "R1M1", Parity::Even);
    bench.chooses(2, "R1M1", Parity::Odd);
    let deviations = bench.report().details.deviations.unwrap();
    assert_eq!(deviations.get(&p(1)).unwrap(), &Vec::<SmolStr>::new());
    assert_eq!(
        deviations.get(&p(2)).unwrap(),
        &["own name sender", "missing auth_token"]
    );
}

#[test]
fn what_is_forgiven_in_the_answer_that_completes_a_match_stands_in_its_report_too() {
    let mut bench = lenient();
    bench.joins(1, "R1M1");
    bench.joins(2, "R1M1");
    bench.chooses(1, "R1M1", Parity::Even);
    let mut last = bench.choice(2, "R1M1", Parity::Odd);
    last.deviations.push(Deviation {
        kind: DeviationKind::Alias,
        path: "choice".to_owned(),
    });
    bench.answers(2, ChooseParityCall, Answer::Message(Ok(last)));
    let deviations = bench.report().details.deviations.unwrap();
    assert_eq!(deviations.get(&p(2)).unwrap(), &["alias choice"]);
}

#[test]
fn the_lenient_reading_takes_an_answer_without_token_under_a_name_of_the_agents_own() {
    let mut bench = lenient();
    for player in [1, 2] {
        let mut ack = bench.join_ack(player, "R1M1", true);
        ack.envelope.auth_token = None;
        ack.envelope.sender = Sender::parse("player:alpha").unwrap();
        bench.answers(player, GameInvitation, Answer::Message(Ok(ack)));
    }
    assert_eq!(bench.all(ChooseParityCall).len(), 2);
}

fn separately(bench: &mut Bench, parity: Parity, token: Option<Token>) -> Content {
    let mut choice = bench.choice(2, "R1M1", parity);
    choice.envelope.auth_token = token;
    bench.request(Ask::Message(Ok(choice)))
}

#[test]
fn a_separate_answer_with_the_token_of_the_match_counts_even_while_the_call_is_open() {
    let mut bench = asked();
    let token = tokens(2, &m("R1M1"), 1).from_player;
    assert_eq!(
        separately(&mut bench, Parity::Odd, Some(token)),
        Content::Received
    );
    assert!(bench.verdict().contains(" WIN "));
}

#[test]
fn received_is_followed_by_the_answer_in_the_same_window_or_by_a_timeout() {
    let mut bench = asked();
    bench.answers(2, ChooseParityCall, Answer::Received);
    bench.until(29.0);
    assert!(bench.all(GameError).is_empty());
    bench.until(30.0);
    assert_eq!(told(&bench), "E001");
}

#[test]
fn nobody_can_choose_for_another_by_a_separate_message() {
    let mut bench = asked();
    for (token, code) in [
        (None, "E011"),
        (Some(Token::new("tok_p02_guess")), "E012"),
        (Some(own_token(1)), "E012"),
        (Some(tokens(1, &m("R1M1"), 1).from_player), "E012"),
        (Some(tokens(2, &m("R1M1"), 1).to_player), "E012"),
    ] {
        assert_eq!(refused(&separately(&mut bench, Parity::Odd, token)), code);
    }
    assert!(
        bench.all(GameError).is_empty(),
        "a forgery costs the player nothing"
    );
    assert_eq!(bench.decisions(), 0);
}

#[test]
fn a_foreign_player_is_known_by_the_token_it_joined_with() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    let mut ack = bench.join_ack(2, "R1M1", true);
    ack.envelope.auth_token = Some(own_token(2));
    bench.answers(2, GameInvitation, Answer::Message(Ok(ack)));
    bench.chooses(1, "R1M1", Parity::Even);
    let forged = separately(&mut bench, Parity::Odd, Some(Token::new("tok_p02_guess")));
    assert_eq!(refused(&forged), "E012");
    assert_eq!(
        separately(&mut bench, Parity::Odd, Some(own_token(2))),
        Content::Received
    );
    assert!(bench.verdict().contains(" WIN "));
}

/// A separate GAME_JOIN_ACK of player 2, which has only said "received" to its invitation.
fn joins_apart(bench: &mut Bench, token: Option<Token>) -> Content {
    bench.answers(2, GameInvitation, Answer::Received);
    let ack = GameJoinAck {
        match_id: m("R1M1"),
        player_id: p(2),
        arrival_timestamp: bench.now,
        accept: true,
        nonce_commitment: None,
    };
    let envelope = bench.player_envelope(2, &m("R1M1")).with_token(token);
    bench.told(envelope, ack)
}

#[test]
fn a_players_own_token_proves_a_separate_answer_in_every_reading_and_a_false_one_in_none() {
    for bench in [Bench::invited, lenient] {
        assert_eq!(
            joins_apart(&mut bench(), Some(own_token(2))),
            Content::Received
        );
        assert_eq!(
            refused(&joins_apart(
                &mut bench(),
                Some(Token::new("tok_p02_guess"))
            )),
            "E012"
        );
        assert_eq!(
            refused(&joins_apart(&mut bench(), Some(own_token(1)))),
            "E012"
        );
    }
}

/// A match under a manager of another make, which gives out tokens that its referee cannot know.
fn under_another_manager() -> Bench {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    let mut round = bench.round(&[even_odd("R1M1", 1, 2)], 0);
    let mut matches = round.matches.to_vec();
    let briefing = matches[0].briefing.as_mut().unwrap();
    briefing.player_a_tokens = None;
    briefing.player_b_tokens = None;
    round.matches = matches.into();
    let envelope = bench.manager_envelope();
    bench.told(envelope, round);
    bench
}

#[test]
fn under_another_manager_a_separate_answer_counts_from_the_address_of_an_endpoint_that_acknowledged()
 {
    for (client, acknowledged, is_taken) in [
        ("127.0.0.1", true, true),
        ("127.0.0.1", false, false),
        ("192.0.2.7", true, false),
    ] {
        let mut bench = under_another_manager();
        if acknowledged {
            bench.answers(2, GameInvitation, Answer::Received);
        }
        let mut ack = bench.join_ack(2, "R1M1", true);
        ack.envelope.auth_token = Some(own_token(2));
        let reply = bench.request_from(client, Ask::Message(Ok(ack)));
        assert_eq!(
            reply == Content::Received,
            is_taken,
            "{client} {acknowledged}"
        );
    }
}

#[test]
fn only_the_lenient_reading_takes_separate_answers_without_a_token() {
    assert_eq!(refused(&joins_apart(&mut Bench::invited(), None)), "E011");
    assert_eq!(joins_apart(&mut lenient(), None), Content::Received);
}

#[test]
fn an_unreadable_separate_answer_counts_as_wrong_if_it_is_the_players() {
    let mut bench = asked();
    let mut choice = bench.choice(2, "R1M1", Parity::Odd);
    choice.body = Err(invalid_choice("\"ODD\""));
    assert_eq!(
        refused(&bench.request(Ask::Message(Ok(choice.clone())))),
        "E004"
    );
    assert_eq!(told(&bench), "E004");
    choice.envelope.auth_token = Some(Token::new("tok_p02_guess"));
    assert_eq!(refused(&bench.request(Ask::Message(Ok(choice)))), "E012");
    assert_eq!(bench.all_to(2, GameError).len(), 1);
}

#[test]
fn answers_for_matches_that_are_not_under_way_are_refused() {
    let mut bench = Bench::invited();
    let early = bench.choice(2, "R1M1", Parity::Odd);
    assert_eq!(refused(&bench.request(Ask::Message(Ok(early)))), "E008");
    let elsewhere = bench.choice(2, "R9M9", Parity::Odd);
    assert_eq!(refused(&bench.request(Ask::Message(Ok(elsewhere)))), "E006");
}
