//! Who gets in, under which id, and who is turned away.

use crate::desk::*;
use matchday_core::agent::{Ask, Content, Payload};
use matchday_core::league::{EndpointCheck, Invitation, LeagueSettings};
use matchday_core::protocol::decode::{Conformance, Rejection};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{
    Body, ConversationId, DisplayName, ErrorCode, GameType, Message, Sender, Token, UntrustedText,
};
use std::time::Duration;

/// Registers in a conversation of its own, as an agent does that was started (again).
fn register(desk: &mut Desk, meta: PlayerMeta, token: Option<Token>) -> Message {
    let mut message = desk.message(
        &player(77),
        LeagueRegisterRequest {
            player_meta: meta,
            join_code: None,
        },
    );
    message.envelope.auth_token = token;
    message.envelope.conversation_id =
        ConversationId::new(format!("conv-register-{}", desk.events.len()));
    desk.ask(message)
}

fn answer(message: &Message) -> &RegisterAnswer {
    match &message.body {
        Body::LeagueRegisterResponse(response) => &response.answer,
        Body::RefereeRegisterResponse(response) => &response.answer,
        other => panic!("expected a registration response, got {other:?}"),
    }
}

fn rejected_with(message: &Message) -> ErrorCode {
    let answer = answer(message);
    assert_eq!(answer.status, RegisterStatus::Rejected);
    assert!(answer.reason.is_some());
    assert!(message.envelope.auth_token.is_none());
    answer.error_code.clone().unwrap()
}

#[test]
fn players_and_referees_are_numbered_as_they_come() {
    let mut desk = Desk::new(quick());
    assert_eq!(desk.register_player(1), player(1));
    assert_eq!(desk.register_referee(1, 2), referee(1));
    assert_eq!(desk.register_player(2), player(2));
    assert_eq!(desk.register_referee(2, 2), referee(2));
}

#[test]
fn an_accepted_agent_is_told_its_token_and_its_league() {
    let mut desk = Desk::new(quick());
    let response = register(&mut desk, player_meta(1), None);
    let token = response.envelope.auth_token.clone().unwrap();
    assert!(token.reveal().starts_with("tok_p01_"));
    assert_eq!(answer(&response).league_id, Some(league_id()));
    assert_eq!(answer(&response).match_tokens, Some(true));
}

#[test]
fn the_log_holds_no_token_only_its_hash() {
    let mut desk = Desk::new(quick());
    let token = register(&mut desk, player_meta(1), None)
        .envelope
        .auth_token
        .unwrap();
    let log = serde_json::to_string(
        &desk
            .events
            .iter()
            .map(|(_, event)| event)
            .collect::<Vec<_>>(),
    )
    .unwrap();
    assert!(!log.contains(token.reveal()));
    assert!(!format!("{:?}", desk.manager).contains(token.reveal()));
}

#[test]
fn an_agent_that_registers_again_before_the_start_keeps_its_id_and_its_old_token_dies() {
    let mut desk = Desk::new(quick());
    let old = register(&mut desk, player_meta(1), None)
        .envelope
        .auth_token
        .unwrap();
    let again = register(&mut desk, player_meta(1), None);
    assert_eq!(answer_id(&again.body), player(1));
    let new = again.envelope.auth_token.unwrap();
    let kept = &desk.manager.league().players.values().next().unwrap().token;
    assert!(kept.admits(&new) && !kept.admits(&old));
}

#[test]
fn a_registration_that_arrives_twice_leaves_its_token_alive() {
    let mut desk = Desk::new(quick());
    let message = desk.message(
        &player(77),
        LeagueRegisterRequest {
            player_meta: player_meta(1),
            join_code: None,
        },
    );
    let first = desk.ask(message.clone()).envelope.auth_token.unwrap();
    let second = desk.ask(message).envelope.auth_token.unwrap();
    assert_eq!(first, second);
    assert!(
        desk.manager
            .league()
            .players
            .values()
            .next()
            .unwrap()
            .token
            .admits(&first)
    );
}

#[test]
fn the_same_name_at_another_endpoint_is_another_player() {
    let mut desk = Desk::new(quick());
    register(&mut desk, player_meta(1), None);
    let other = PlayerMeta {
        contact_endpoint: player_endpoint(2),
        ..player_meta(1)
    };
    assert_eq!(answer_id(&register(&mut desk, other, None).body), player(2));
}

#[test]
fn after_the_start_registration_is_closed() {
    let mut desk = Desk::started(quick(), 2, 1);
    let response = register(&mut desk, player_meta(9), None);
    assert_eq!(rejected_with(&response), ErrorCode::LateRegistration);
    assert_eq!(desk.manager.league().players.len(), 2);
}

#[test]
fn after_the_start_an_earlier_token_lets_its_agent_back_in_and_stays_valid() {
    let mut desk = Desk::new(quick());
    let token = register(&mut desk, player_meta(1), None)
        .envelope
        .auth_token
        .unwrap();
    desk.register_player(2);
    desk.register_referee(1, 2);
    desk.start();
    let moved = PlayerMeta {
        contact_endpoint: player_endpoint(50),
        ..player_meta(1)
    };
    let response = register(&mut desk, moved, Some(token.clone()));
    assert_eq!(answer_id(&response.body), player(1));
    assert_eq!(response.envelope.auth_token, Some(token));
    let known = desk.manager.league().players.values().next().unwrap();
    assert_eq!(known.meta.contact_endpoint, player_endpoint(50));
}

#[test]
fn after_the_start_a_false_token_does_not_let_anyone_in() {
    let mut desk = Desk::started(quick(), 2, 1);
    let response = register(&mut desk, player_meta(1), Some(Token::new("tok_p01_guess")));
    assert_eq!(rejected_with(&response), ErrorCode::LateRegistration);
}

#[test]
fn versions_of_the_protocol_from_2_0_to_2_1_are_spoken() {
    for (version, spoken) in [
        ("2.0.0", true),
        ("2.1.0", true),
        ("2.1", true),
        ("2.1.99", true),
        ("1.9.9", false),
        ("2.2.0", false),
        ("3.0.0", false),
        ("two", false),
    ] {
        let mut desk = Desk::new(quick());
        let meta = PlayerMeta {
            protocol_version: Some(version.into()),
            ..player_meta(1)
        };
        let response = register(&mut desk, meta, None);
        if spoken {
            assert_eq!(
                answer(&response).status,
                RegisterStatus::Accepted,
                "{version}"
            )
        } else {
            assert_eq!(
                rejected_with(&response),
                ErrorCode::VersionMismatch,
                "{version}"
            );
            let context = answer(&response).context.as_ref().unwrap();
            assert_eq!(context["supported"], ">=2.0.0, <2.2.0");
        }
    }
}

#[test]
fn a_registration_comes_from_a_sender_of_the_kind_that_registers() {
    for conformance in [Conformance::Strict, Conformance::Lenient] {
        let mut desk = Desk::new(LeagueSettings {
            conformance,
            ..quick()
        });
        let before = desk.manager.league().clone();
        let as_player = LeagueRegisterRequest {
            join_code: None,
            player_meta: player_meta(1),
        };
        for sender in [referee(1), Sender::LeagueManager, Sender::Launcher] {
            let message = desk.message(&sender, as_player.clone());
            let Body::LeagueError(error) = desk.ask(message).body else {
                panic!("{sender} was let in")
            };
            assert_eq!(error.error_code, ErrorCode::TokenInvalid);
            assert_eq!(error.context.as_ref().unwrap()["path"], "sender");
        }
        let as_referee = RefereeRegisterRequest {
            join_code: None,
            referee_meta: referee_meta(1, 2),
        };
        let message = desk.message(&player(1), as_referee);
        assert_eq!(error_code(&desk.ask(message).body), ErrorCode::TokenInvalid);
        assert_eq!(*desk.manager.league(), before, "{conformance:?}");
    }
}

#[test]
fn an_agent_that_does_not_play_our_game_is_turned_away() {
    let mut desk = Desk::new(quick());
    let meta = PlayerMeta {
        game_types: vec![GameType::new("chess")],
        ..player_meta(1)
    };
    let response = register(&mut desk, meta, None);
    assert_eq!(rejected_with(&response), ErrorCode::InvalidFormat);
    assert_eq!(
        answer(&response).reason.as_ref().map(UntrustedText::raw),
        Some("Unsupported game type")
    );
    assert_eq!(
        answer(&response).context.as_ref().unwrap()["path"],
        "player_meta.game_types"
    );
}

#[test]
fn a_full_league_takes_no_more_players_but_lets_its_own_come_back() {
    let mut desk = Desk::new(LeagueSettings {
        players_max: 1,
        ..quick()
    });
    register(&mut desk, player_meta(1), None);
    assert_eq!(
        rejected_with(&register(&mut desk, player_meta(2), None)),
        ErrorCode::InvalidState
    );
    assert_eq!(
        answer_id(&register(&mut desk, player_meta(1), None).body),
        player(1)
    );
}

#[test]
fn a_message_that_breaks_a_rule_changes_nothing_and_is_answered_with_the_rule() {
    let mut desk = Desk::new(quick());
    let before = desk.manager.league().clone();
    let rejection = Rejection {
        code: ErrorCode::MissingField,
        path: "player_meta.version".into(),
        expected: "a semantic version".into(),
        came: "nothing".into(),
        message_type: Some("LEAGUE_REGISTER_REQUEST".into()),
        conversation_id: None,
    };
    let Some(Content::Message(answer)) = desk.ask_any(Ask::Message(Err(rejection)), true).pop()
    else {
        panic!("every request is answered");
    };
    assert_eq!(error_code(&answer.body), ErrorCode::MissingField);
    assert_eq!(*desk.manager.league(), before);
}

#[test]
fn when_endpoints_are_checked_at_registration_the_answer_waits_for_the_probe() {
    let settings = LeagueSettings {
        endpoint_check: EndpointCheck::AtRegistration,
        ..quick()
    };
    let mut desk = Desk::new(settings);
    let request = desk.message(
        &player(77),
        LeagueRegisterRequest {
            player_meta: player_meta(1),
            join_code: None,
        },
    );
    assert!(
        desk.ask_any(Ask::Message(Ok(incoming(request.clone()))), true)
            .is_empty()
    );
    let call = desk.outbox.pop().unwrap();
    assert_eq!(call.payload, Payload::Probe);
    let answers = desk.hand_in(matchday_core::agent::Input::Answer {
        call: call.call,
        dialect: call.dialect,
        answer: UNREACHABLE,
    });
    let Some(Content::Message(refused)) = answers.into_iter().next() else {
        panic!("the registration is answered")
    };
    assert_eq!(rejected_with(&refused), ErrorCode::Connection);
    assert_eq!(
        answer(&refused).reason.as_ref().map(UntrustedText::raw),
        Some("Contact endpoint unreachable")
    );
    assert!(desk.manager.league().players.is_empty());
}

#[test]
fn an_earlier_token_does_not_let_an_unfit_agent_back_in() {
    let mut desk = Desk::new(quick());
    let token = register(&mut desk, player_meta(1), None)
        .envelope
        .auth_token;
    let unfit = PlayerMeta {
        protocol_version: Some("3.0.0".into()),
        ..player_meta(1)
    };
    assert_eq!(
        rejected_with(&register(&mut desk, unfit, token)),
        ErrorCode::VersionMismatch
    );
}

#[test]
fn an_agent_whose_answer_was_lost_gets_it_again_though_the_league_has_started_meanwhile() {
    let mut desk = Desk::with(quick(), 1, 1);
    let message = desk.message(
        &player(77),
        LeagueRegisterRequest {
            player_meta: player_meta(2),
            join_code: None,
        },
    );
    let lost = desk.ask(message.clone());
    desk.start();
    desk.pass(Duration::from_secs(12));
    let again = desk.ask(message.clone());
    assert_eq!(again.envelope.auth_token, lost.envelope.auth_token);
    desk.pass(Duration::from_secs(60));
    assert_eq!(
        rejected_with(&desk.ask(message)),
        ErrorCode::LateRegistration,
        "but not for ever"
    );
}

#[test]
fn an_endpoint_that_may_not_be_called_is_refused_with_the_rule_and_what_to_do() {
    let objection = "10.0.0.5 is a private address: ask the operator for --endpoints private";
    for earlier in [false, true] {
        let mut desk = Desk::new(quick());
        let token = earlier
            .then(|| {
                register(&mut desk, player_meta(1), None)
                    .envelope
                    .auth_token
            })
            .flatten();
        let before = desk.manager.league().clone();
        let mut request = desk.message(
            &player(77),
            LeagueRegisterRequest {
                player_meta: player_meta(1),
                join_code: None,
            },
        );
        request.envelope.auth_token = token;
        let ask = Ask::Message(Ok(incoming(request)));
        let Some(Content::Message(refused)) = desk.ask_despite(ask, true, Some(objection)).pop()
        else {
            panic!("the registration is answered")
        };
        assert_eq!(rejected_with(&refused), ErrorCode::InvalidFormat);
        let answer = answer(&refused);
        let reason = format!("Contact endpoint not allowed - {objection}");
        assert_eq!(
            answer.reason.as_ref().map(UntrustedText::raw),
            Some(reason.as_str())
        );
        let context = answer.context.as_ref().unwrap();
        assert_eq!(context["path"], "player_meta.contact_endpoint");
        assert_eq!(context["came"], player_meta(1).contact_endpoint.raw());
        assert_eq!(desk.manager.league().players, before.players);
    }
}

/// In a league of this conformance: the id that an agent gets that calls itself so.
fn registered_as(desk: &mut Desk, sender: &str, number: u32) -> Sender {
    let sender = Sender::parse(sender).unwrap();
    let body: Body = match sender {
        Sender::Referee(_) => RefereeRegisterRequest {
            referee_meta: referee_meta(number, 5),
            join_code: None,
        }
        .into(),
        _ => LeagueRegisterRequest {
            player_meta: player_meta(number),
            join_code: None,
        }
        .into(),
    };
    answer_id(&desk.ask_as(&sender, body))
}

fn lenient() -> LeagueSettings {
    LeagueSettings {
        conformance: Conformance::Lenient,
        ..quick()
    }
}

#[test]
fn in_lenient_an_agent_gets_the_free_id_that_it_calls_itself_by_and_the_others_the_next_free_one() {
    let mut desk = Desk::new(lenient());
    for (number, asked, given) in [
        (1, "player:P03", "player:P03"),
        (2, "player:alpha", "player:P01"),
        (3, "player:P03", "player:P02"),
        (4, "player:P4", "player:P04"),
        (5, "player:P007", "player:P05"),
        (6, "player:P100", "player:P06"),
        (7, "referee:REF02", "referee:REF02"),
        (8, "referee:REF02", "referee:REF01"),
        (9, "referee:whistle", "referee:REF03"),
    ] {
        assert_eq!(
            registered_as(&mut desk, asked, number).to_string(),
            given,
            "{asked}"
        );
    }
}

#[test]
fn in_strict_ids_are_given_in_the_order_of_registration() {
    let mut desk = Desk::new(quick());
    assert_eq!(registered_as(&mut desk, "player:P03", 1), player(1));
}

#[test]
fn a_place_on_a_roster_is_nobodys_by_its_number() {
    let mut desk = Desk::new(LeagueSettings {
        roster: vec![Invitation {
            role: AgentRole::Player,
            name: Some(DisplayName::parse("Agent 1").unwrap()),
            code: Token::new("tok_join_a").hash(),
        }],
        ..lenient()
    });
    desk.join_code = Some(Token::new("tok_join_a"));
    assert_eq!(registered_as(&mut desk, "player:P03", 1), player(1));
}
