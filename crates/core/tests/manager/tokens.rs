//! New tokens, dead tokens, wrong tokens and too many requests.

use crate::desk::*;
use matchday_core::agent::{Ask, Content};
use matchday_core::league::{LeagueEvent, LeagueSettings};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{
    Attempt, Body, ConversationId, Envelope, ErrorCode, LeagueId, MatchId, Message, PlayerId,
    Sender, Token,
};
use std::time::Duration;

fn operator() -> Token {
    Token::new("tok_operator_secret")
}

fn settings() -> LeagueSettings {
    LeagueSettings {
        operator_token: Some(operator().hash()),
        ..quick()
    }
}

fn order(desk: &mut Desk, with: &Token, order: Order, whose: &str) -> Message {
    let order = LeagueOrder {
        league_id: league_id(),
        order,
        player_id: None,
        match_id: None,
        agent_id: Some(whose.into()),
        join_code: None,
    };
    let mut message = desk.message(&Sender::Launcher, order);
    message.envelope.auth_token = Some(with.clone());
    desk.ask(message)
}

/// A league in which player 1's token is known too.
fn desk(settings: LeagueSettings) -> (Desk, Token) {
    let mut desk = Desk::new(settings);
    desk.register_referee(1, 10);
    desk.register_referee(2, 10);
    let request = LeagueRegisterRequest {
        player_meta: player_meta(1),
        join_code: None,
    };
    let message = desk.message(&Sender::Player(PlayerId::new("agent1")), request);
    let token = desk.ask(message).envelope.auth_token.unwrap();
    desk.tokens.insert(player(1), token.clone());
    desk.register_player(2);
    (desk, token)
}

fn standings(desk: &Desk) -> LeagueQuery {
    LeagueQuery {
        league_id: desk.manager.league().settings.league_id.clone(),
        query_type: Query::Standings,
        query_params: QueryParams::default(),
    }
}

fn ask_with(desk: &mut Desk, sender: &Sender, token: &Token) -> Vec<Content> {
    let query = standings(desk);
    let mut message = desk.message(sender, query);
    message.envelope.auth_token = Some(token.clone());
    desk.ask_any(Ask::Message(Ok(incoming(message))), false)
}

fn code(contents: &[Content]) -> Option<ErrorCode> {
    match contents {
        [
            Content::Message(Message {
                body: Body::LeagueError(error),
                ..
            }),
        ] => Some(error.error_code.clone()),
        [Content::Message(_)] => None,
        other => panic!("{other:?}"),
    }
}

fn register_again(desk: &mut Desk, conversation: &str, token: Option<Token>) -> RegisterAnswer {
    let sender = Sender::Player(PlayerId::new("agent1"));
    let envelope =
        Envelope::new(sender, desk.now, ConversationId::new(conversation)).with_token(token);
    let request = LeagueRegisterRequest {
        player_meta: player_meta(1),
        join_code: None,
    };
    match desk.ask(Message::new(envelope, request)).body {
        Body::LeagueRegisterResponse(response) => response.answer.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rotated_token_is_shown_once_and_the_old_one_is_dead() {
    let (mut desk, old) = desk(settings());
    let answer = order(&mut desk, &operator(), Order::Rotate, "P01");
    assert!(matches!(answer.body, Body::LeagueStatus(_)));
    let new = answer.envelope.auth_token.unwrap();
    assert!(new.reveal().starts_with("tok_p01_") && new.reveal().len() == "tok_p01_".len() + 64);
    assert_eq!(
        code(&ask_with(&mut desk, &player(1), &old)),
        Some(ErrorCode::TokenInvalid)
    );
    assert_eq!(code(&ask_with(&mut desk, &player(1), &new)), None);
    let log = serde_json::to_string(
        &desk
            .events
            .iter()
            .map(|(_, event)| event)
            .collect::<Vec<_>>(),
    )
    .unwrap();
    assert!(!log.contains(new.reveal()) && log.contains("token_rotated"));
    desk.crash();
    assert_eq!(
        code(&ask_with(&mut desk, &player(1), &new)),
        None,
        "it outlives a restart"
    );
}

#[test]
fn after_a_rotation_only_the_new_token_lets_the_agent_back_in() {
    for started in [false, true] {
        let (mut desk, old) = desk(settings());
        if started {
            desk.start();
        }
        let new = order(&mut desk, &operator(), Order::Rotate, "P01")
            .envelope
            .auth_token
            .unwrap();
        let key = Token::new(format!("tok_registration_{}", "7".repeat(64)));
        for token in [None, Some(old), Some(key)] {
            let answer = register_again(&mut desk, "conv-test", token);
            assert_eq!(
                answer.status,
                RegisterStatus::Rejected,
                "started: {started}"
            );
            assert_eq!(answer.error_code, Some(ErrorCode::TokenInvalid));
        }
        let answer = register_again(&mut desk, "conv-new", Some(new.clone()));
        assert_eq!(answer.status, RegisterStatus::Accepted);
        assert_eq!(code(&ask_with(&mut desk, &player(1), &new)), None);
        assert_eq!(
            register_again(&mut desk, "conv-new", None).status,
            RegisterStatus::Rejected
        );
    }
}

#[test]
fn the_key_behind_a_token_dies_with_it() {
    let mut desk = Desk::new(settings());
    let key = Token::new(format!("tok_registration_{}", "7".repeat(64)));
    assert_eq!(
        register_again(&mut desk, "conv-1", Some(key.clone())).status,
        RegisterStatus::Accepted
    );
    order(&mut desk, &operator(), Order::Revoke, "P01");
    assert_eq!(
        register_again(&mut desk, "conv-1", Some(key.clone())).error_code,
        Some(ErrorCode::TokenInvalid)
    );
    order(&mut desk, &operator(), Order::Rotate, "P01");
    assert_eq!(
        register_again(&mut desk, "conv-1", Some(key)).error_code,
        Some(ErrorCode::TokenInvalid)
    );
}

#[test]
fn a_player_whose_token_is_revoked_forfeits_until_it_has_another() {
    let (mut desk, old) = desk(settings());
    desk.register_player(3);
    desk.start();
    desk.settle_received();
    order(&mut desk, &operator(), Order::Revoke, "P01");
    assert_eq!(
        code(&ask_with(&mut desk, &player(1), &old)),
        Some(ErrorCode::TokenInvalid)
    );
    assert_eq!(
        register_again(&mut desk, "conv-test", Some(old)).status,
        RegisterStatus::Rejected
    );
    let open = desk.open_matches();
    assert!(
        open.iter()
            .all(|(_, a, b, _)| a.as_str() != "P01" && b.as_str() != "P01"),
        "{open:?}"
    );
    desk.play_out();
    let causes: Vec<_> = (desk.manager.league().matches.values())
        .filter_map(|game| game.decision.as_ref()?.blame(&PlayerId::numbered(1)))
        .map(|blame| blame.cause)
        .collect();
    assert!(
        !causes.is_empty() && causes.iter().all(|cause| *cause == Cause::Revoked),
        "{causes:?}"
    );
    let again = order(&mut desk, &operator(), Order::Revoke, "P01");
    assert_eq!(error_code(&again.body), ErrorCode::InvalidState);
    order(&mut desk, &operator(), Order::Rotate, "P01");
    assert!(desk.manager.league().players[&PlayerId::numbered(1)].is_in());
    let live = desk.manager.league().clone();
    desk.crash();
    assert_eq!(desk.manager.league().players, live.players);
}

#[test]
fn a_referee_whose_token_is_revoked_loses_its_matches_to_others() {
    let (mut desk, _) = desk(settings());
    desk.start();
    desk.settle_received();
    let (match_id, .., first) = desk.open_matches()[0].clone();
    order(&mut desk, &operator(), Order::Revoke, first.as_str());
    let (.., second) = desk.open_matches()[0].clone();
    assert_ne!(first, second);
    let report = desk.report_of(match_id.as_str(), (3, 0));
    assert_eq!(
        error_code(&desk.ask_as(&Sender::Referee(first), report)),
        ErrorCode::TokenInvalid
    );
    desk.report(match_id.as_str(), (3, 0));
    assert_eq!(desk.manager.league().phase, Phase::Completed);
}

#[test]
fn the_operators_own_token_can_be_rotated_and_not_revoked() {
    let (mut desk, _) = desk(settings());
    let revoked = order(&mut desk, &operator(), Order::Revoke, "operator");
    assert_eq!(error_code(&revoked.body), ErrorCode::InvalidState);
    let new = order(&mut desk, &operator(), Order::Rotate, "operator")
        .envelope
        .auth_token
        .unwrap();
    let old = order(&mut desk, &operator(), Order::Revoke, "P01");
    assert_eq!(error_code(&old.body), ErrorCode::TokenInvalid);
    desk.crash();
    assert!(matches!(
        order(&mut desk, &new, Order::Revoke, "P01").body,
        Body::LeagueStatus(_)
    ));
}

#[test]
fn an_order_for_nobody_is_refused() {
    let (mut desk, _) = desk(settings());
    for kind in [Order::Rotate, Order::Revoke] {
        let answer = order(&mut desk, &operator(), kind, "P77");
        assert_eq!(error_code(&answer.body), ErrorCode::PlayerNotRegistered);
        assert_eq!(answer.envelope.auth_token, None);
    }
}

/// Everything that a player ever sees, shown to the manager in every name.
#[test]
fn whatever_token_a_player_has_seen_the_manager_takes_none_but_its_own() {
    let (mut desk, own) = desk(LeagueSettings {
        token_guesses_max: 0,
        ..settings()
    });
    desk.start();
    let league = LeagueId::new(league_id().as_str());
    let mut seen = vec![own.hash().notice_token(&league)];
    for match_id in desk
        .manager
        .league()
        .matches
        .keys()
        .cloned()
        .collect::<Vec<MatchId>>()
    {
        for attempt in 1..=3 {
            for direction in [Direction::RefereeToPlayer, Direction::PlayerToReferee] {
                seen.push(
                    own.hash()
                        .match_token(&league, &match_id, Attempt(attempt), direction),
                );
            }
        }
    }
    for token in seen {
        for name in [
            player(1),
            player(2),
            referee(1),
            referee(2),
            Sender::LeagueManager,
            Sender::Launcher,
        ] {
            let refused = code(&ask_with(&mut desk, &name, &token));
            assert_eq!(refused, Some(ErrorCode::TokenInvalid), "{name} {token:?}");
            let report = desk.report_of("R1M1", (3, 0));
            let mut message = desk.message(&name, report);
            message.envelope.auth_token = Some(token.clone());
            assert_eq!(
                error_code(&desk.ask(message).body),
                ErrorCode::TokenInvalid,
                "{name} {token:?}"
            );
        }
        // It opens no registration either: it is as good as none.
        let answer = register_again(&mut desk, "conv-other", Some(token));
        assert_eq!(answer.error_code, Some(ErrorCode::LateRegistration));
    }
    for name in [player(2), referee(1), referee(2)] {
        assert_eq!(
            code(&ask_with(&mut desk, &name, &own)),
            Some(ErrorCode::TokenInvalid),
            "{name}"
        );
    }
}

fn guess(number: u32) -> Token {
    Token::new(format!("tok_p01_{number:064}"))
}

#[test]
fn wrong_tokens_in_one_name_are_answered_slower_after_ten_in_a_minute() {
    let (mut desk, _) = desk(settings());
    for number in 0..10 {
        let answer = ask_with(&mut desk, &player(1), &guess(number));
        assert_eq!(code(&answer), Some(ErrorCode::TokenInvalid));
    }
    assert!(
        ask_with(&mut desk, &player(1), &guess(11)).is_empty(),
        "the answer is held back"
    );
    desk.now = desk.now + Duration::from_secs(1);
    let held = desk.hand_in(matchday_core::agent::Input::Tick);
    let [
        Content::Message(Message {
            body: Body::LeagueError(error),
            ..
        }),
    ] = &held[..]
    else {
        panic!("{held:?}")
    };
    assert_eq!(error.error_code, ErrorCode::RateLimited);
    assert_eq!(error.context.as_ref().unwrap()["retry_after_sec"], 61);
    assert_eq!(
        error.context.as_ref().unwrap()["provided_token"],
        "tok_p01_..."
    );
    // In another name it is another count, and after a minute a new one.
    assert_eq!(
        code(&ask_with(&mut desk, &player(2), &guess(12))),
        Some(ErrorCode::TokenInvalid)
    );
    desk.pass(Duration::from_secs(60));
    assert_eq!(
        code(&ask_with(&mut desk, &player(1), &guess(13))),
        Some(ErrorCode::TokenInvalid)
    );
}

#[test]
fn an_agent_with_the_right_token_is_never_locked_out_by_guesses() {
    let (mut desk, own) = desk(settings());
    for number in 0..1_000 {
        ask_with(&mut desk, &player(1), &guess(number));
        assert_eq!(
            code(&ask_with(&mut desk, &player(1), &own)),
            None,
            "after {number} guesses"
        );
    }
}

#[test]
fn guessing_the_operators_token_and_guessing_as_a_stranger_are_slowed_too() {
    let lenient = LeagueSettings {
        conformance: Conformance::Lenient,
        ..settings()
    };
    let (mut desk, _) = desk(lenient);
    let stranger = |number: u32| Sender::Player(PlayerId::new(format!("nobody-{number}")));
    let slow = (0..20)
        .filter(|number| ask_with(&mut desk, &stranger(*number), &guess(*number)).is_empty());
    assert_eq!(
        slow.count(),
        10,
        "another name each time is no way around it"
    );
    for number in 0..20 {
        let request = LeagueOrder {
            league_id: league_id(),
            order: Order::Pause,
            player_id: None,
            match_id: None,
            agent_id: None,
            join_code: None,
        };
        let mut message = desk.message(&Sender::Launcher, request);
        message.envelope.auth_token = Some(guess(number));
        let answers = desk.ask_any(Ask::Message(Ok(incoming(message))), true);
        assert_eq!(answers.is_empty(), number >= 10, "{number}");
    }
}

#[test]
fn an_agent_that_asks_too_much_is_told_to_wait_and_others_are_not() {
    let (mut desk, own) = desk(LeagueSettings {
        requests_per_second: 5,
        ..settings()
    });
    for _ in 0..5 {
        assert_eq!(code(&ask_with(&mut desk, &player(1), &own)), None);
    }
    let answer = ask_with(&mut desk, &player(1), &own);
    let [
        Content::Message(Message {
            body: Body::LeagueError(error),
            ..
        }),
    ] = &answer[..]
    else {
        panic!()
    };
    assert_eq!(
        (error.error_code.clone(), error.retryable),
        (ErrorCode::RateLimited, Some(true))
    );
    assert_eq!(error.context.as_ref().unwrap()["retry_after_sec"], 2);
    // Wrong tokens in its name cost it nothing of this.
    assert_eq!(
        code(&ask_with(&mut desk, &player(1), &guess(1))),
        Some(ErrorCode::TokenInvalid)
    );
    let query = standings(&desk);
    assert!(matches!(
        desk.ask_as(&referee(1), query),
        Body::LeagueQueryResponse(_)
    ));
    desk.now = desk.now + Duration::from_secs(1);
    assert_eq!(code(&ask_with(&mut desk, &player(1), &own)), None);
}

#[test]
fn revocations_are_events_of_the_league() {
    let (mut desk, _) = desk(settings());
    order(&mut desk, &operator(), Order::Revoke, "REF02");
    let agent = referee(2);
    assert!(desk.events.iter().any(|(_, event)| *event
        == LeagueEvent::TokenRevoked {
            agent: agent.clone()
        }));
}
