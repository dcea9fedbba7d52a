//! A match of even/odd that goes as it should, from announcement to report.

use crate::bench::*;
use matchday_core::agent::{Agent, Answer, CallDeadline, Content};
use matchday_core::fair::verify;
use matchday_core::protocol::messages::{GameDetails, Parity};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, Body, MessageType, Sender};
use matchday_core::referee::{AssignedMatch, Phase, RefereeEvent};
use std::sync::Arc;

fn played() -> Bench {
    let mut bench = Bench::joined();
    bench.until(1.5);
    bench.chooses(1, "R1M1", Parity::Even);
    bench.until(2.5);
    bench.chooses(2, "R1M1", Parity::Odd);
    bench
}

#[test]
fn an_announcement_is_received_and_both_are_invited_at_the_same_instant() {
    let mut bench = Bench::new();
    assert_eq!(bench.announce(&[even_odd("R1M1", 1, 2)]), Content::Received);
    let invitations = bench.all(MessageType::GameInvitation);
    assert_eq!(
        invitations.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
        [start(), start()]
    );
    assert!(
        invitations
            .iter()
            .all(|(_, invitation)| invitation.deadline == CallDeadline::At(bench.at(7.0)))
    );
}

#[test]
fn both_are_asked_for_their_choice_at_the_same_instant_once_both_have_joined() {
    let mut bench = Bench::invited();
    bench.joins(1, "R1M1");
    assert!(bench.all(MessageType::ChooseParityCall).is_empty());
    bench.until(3.0);
    bench.joins(2, "R1M1");
    let calls = bench.all(MessageType::ChooseParityCall);
    assert_eq!(
        calls.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
        [bench.at(3.0); 2]
    );
    assert!(
        calls
            .iter()
            .all(|(_, call)| written(call)["deadline"] == "2025-01-15T10:00:33Z")
    );
}

#[test]
fn a_match_goes_through_its_states() {
    let mut bench = Bench::invited();
    let phase = |bench: &Bench| bench.referee.matches().next().map(|view| view.phase);
    assert_eq!(phase(&bench), Some(Phase::WaitingForPlayers));
    bench.joins(1, "R1M1");
    bench.joins(2, "R1M1");
    assert_eq!(phase(&bench), Some(Phase::CollectingChoices));
    bench.chooses(1, "R1M1", Parity::Even);
    bench.chooses(2, "R1M1", Parity::Odd);
    assert_eq!(phase(&bench), None);
    assert!(matches!(
        bench.referee.durable().matches()[&m("R1M1")],
        AssignedMatch::Decided { .. }
    ));
}

#[test]
fn every_game_message_says_who_what_where_and_shows_the_token_made_for_the_match() {
    let bench = played();
    for wanted in [
        MessageType::GameInvitation,
        MessageType::ChooseParityCall,
        MessageType::GameOver,
    ] {
        for player in [1, 2] {
            let sent = bench.last_to(player, wanted);
            let written = written(&sent);
            assert_eq!(
                envelope(&sent).sender,
                Sender::parse("referee:REF01").unwrap()
            );
            assert_eq!(envelope(&sent).conversation_id.as_str(), "conv-r1m1-001");
            let token = envelope(&sent).auth_token.as_ref();
            assert_eq!(token, Some(&tokens(player, &m("R1M1"), 1).to_player));
            assert_eq!(written["league_id"], "league_2025_even_odd");
            assert_eq!(written["round_id"], 1);
            assert_eq!(written["match_id"], "R1M1");
            if wanted != MessageType::GameOver {
                assert_eq!(written["player_id"], p(player).as_str());
            }
        }
    }
}

#[test]
fn a_choice_is_asked_for_with_opponent_record_and_deadline() {
    let bench = Bench::joined();
    let call = written(&bench.last_to(1, MessageType::ChooseParityCall));
    assert_eq!(
        call["context"],
        serde_json::json!({
            "opponent_id": "P02",
            "round_id": 1,
            "your_standings": {"wins": 2, "losses": 1, "draws": 0},
        })
    );
    assert_eq!(call["deadline"], "2025-01-15T10:00:30Z");
}

#[test]
fn game_over_is_the_same_for_both_and_agrees_with_the_report() {
    let bench = played();
    let [a, b] = [1, 2].map(|player| bench.last_to(player, MessageType::GameOver));
    assert_eq!(body(&a), body(&b));
    let Body::GameOver(over) = body(&a) else {
        panic!()
    };
    let result = bench.report();
    assert_eq!(over.game_result.winner_player_id, result.winner);
    assert_eq!(Some(over.game_result.status), result.status);
    assert_eq!(over.game_result.details, result.details.game);
    assert_eq!(over.reason, result.reason);
    assert_eq!(over.game_result.reason, result.reason);
    assert_eq!(over.game_result.fairness, result.details.fairness);
}

#[test]
fn the_winner_called_the_number_that_the_reveal_gives() {
    let bench = played();
    let result = bench.report();
    let reveal = result.details.fairness.clone().unwrap();
    let mut dice = verify(&reveal, &league(), &m("R1M1"), Attempt(1), &p(1), &p(2)).unwrap();
    let number = u8::try_from(dice.uniform(1..=10)).unwrap();
    let GameDetails::Parity(details) = result.details.game else {
        panic!()
    };
    assert_eq!(details.drawn_number, Some(number));
    let winner = if Parity::of(number) == Parity::Even {
        p(1)
    } else {
        p(2)
    };
    assert_eq!(result.winner, Some(winner));
    assert_eq!(reveal.nonces.get(&p(1)).unwrap().0, "nonce of 1");
    let Body::GameInvitation(invitation) =
        body(&bench.last_to(2, MessageType::GameInvitation)).clone()
    else {
        panic!()
    };
    assert_eq!(
        invitation.draw_commitment.as_ref(),
        Some(&reveal.commitment)
    );
}

#[test]
fn the_report_tells_how_long_each_player_took() {
    let answer_ms = played().report().details.answer_ms.unwrap();
    assert_eq!(answer_ms.get(&p(1)), Some(&Some(1500)));
    assert_eq!(answer_ms.get(&p(2)), Some(&Some(2500)));
}

#[test]
fn the_report_goes_out_with_the_referees_own_token_which_no_player_ever_sees() {
    let bench = played();
    let report = bench.last(MessageType::MatchResultReport);
    assert_eq!(report.to, settings().manager);
    assert_eq!(envelope(&report).auth_token, Some(referee_token()));
    for (_, sent) in &bench.sent {
        let to_manager = sent.to == settings().manager;
        assert_eq!(
            written(sent).to_string().contains(referee_token().reveal()),
            to_manager && sent.call.0 > 1
        );
    }
}

#[test]
fn a_recorded_result_leaves_a_small_note_until_its_round_is_over() {
    let mut bench = played();
    bench.acknowledge();
    assert!(matches!(
        bench.events.last(),
        Some(RefereeEvent::Reported { .. })
    ));
    assert!(matches!(
        bench.referee.durable().matches()[&m("R1M1")],
        AssignedMatch::Closed { recorded: true, .. }
    ));
    bench.until(600.0);
    assert_eq!(bench.all(MessageType::MatchResultReport).len(), 1);
}

#[test]
fn nothing_of_a_match_under_way_is_shown_but_what_is_owed() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    let Content::Data(state) = bench.request(match_state(Some(m("R1M1")))) else {
        panic!()
    };
    assert_eq!(state["phase"], "COLLECTING_CHOICES");
    assert_eq!(state["players"][0]["owes"], serde_json::Value::Null);
    assert_eq!(state["players"][1]["owes"], "CHOOSE_PARITY_RESPONSE");
    let shown = state.to_string();
    assert!(
        !shown.contains("even\"") && !shown.contains("tok_") && !shown.contains("nonce"),
        "{shown}"
    );
}

#[test]
fn nothing_is_due_when_everything_is_done() {
    let mut bench = played();
    bench.acknowledge();
    for player in [1, 2] {
        bench.answers(player, MessageType::GameOver, Answer::Received);
    }
    assert_eq!(bench.referee.deadline(), None);
}

#[test]
fn a_player_without_a_nonce_or_with_one_too_long_takes_part_with_its_id() {
    let mut bench = Bench::joined();
    for (player, nonce) in [(1, None), (2, Some("x".repeat(65)))] {
        let mut choice = bench.choice(player, "R1M1", Parity::Even);
        if let Ok(Body::ChooseParityResponse(response)) = &mut choice.body {
            Arc::make_mut(response).nonce = nonce.map(|text| Nonce(text.into()));
        }
        bench.answers(
            player,
            MessageType::ChooseParityCall,
            Answer::Message(Ok(choice)),
        );
    }
    let reveal = bench.report().details.fairness.unwrap();
    assert_eq!(reveal.nonces.get(&p(1)).unwrap().0, "P01");
    assert_eq!(reveal.nonces.get(&p(2)).unwrap().0, "P02");
}

#[test]
fn no_secret_and_no_token_is_ever_printed() {
    let bench = Bench::joined();
    let printed = format!("{:?} {:?}", bench.referee, bench.events);
    let shown = tokens(1, &m("R1M1"), 1);
    for token in [referee_token(), shown.to_player, shown.from_player] {
        assert!(!printed.contains(token.reveal()));
    }
    assert!(printed.contains("Secret(..)"));
}
