//! Join codes: who may register where the operator has given them out, and under which name.

use crate::desk::*;
use crate::orders::operator;
use matchday_core::agent::{Ask, Content, Input};
use matchday_core::entropy::Entropy;
use matchday_core::league::{Invitation, LeagueSettings};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{
    Body, ConversationId, DisplayName, ErrorCode, Message, PlayerId, RefereeId, Sender, Token,
};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// Drawn from other numbers than the desk's own.
fn code(number: u64) -> Token {
    Token::new_join_code(&mut Entropy::numbered(1000 + number))
}

fn key(number: u64) -> Token {
    Token::new_registration_key(&mut Entropy::numbered(number))
}

fn invitation(role: AgentRole, name: Option<&str>, number: u64) -> Invitation {
    let name = name.map(|name| DisplayName::parse(name).unwrap());
    Invitation {
        role,
        name,
        code: code(number).hash(),
    }
}

/// Ann and Bob may play, with codes 1 and 2; referees share code 9.
fn settings() -> LeagueSettings {
    let roster = vec![
        invitation(AgentRole::Player, Some("Ann"), 1),
        invitation(AgentRole::Player, Some("Bob"), 2),
        invitation(AgentRole::Referee, None, 9),
    ];
    LeagueSettings {
        roster,
        operator_token: Some(operator().hash()),
        ..quick()
    }
}

/// A registration of the player at an endpoint, in a conversation of its own.
fn request(
    desk: &Desk,
    endpoint: u32,
    join_code: Option<Token>,
    auth_token: Option<Token>,
) -> Message {
    let sender = Sender::Player(PlayerId::new("agent"));
    let request = LeagueRegisterRequest {
        player_meta: player_meta(endpoint),
        join_code,
    };
    let mut message = desk.message(&sender, request);
    message.envelope.auth_token = auth_token;
    message.envelope.conversation_id = ConversationId::new(format!("conv-{}", desk.events.len()));
    message
}

fn granted(desk: &mut Desk, message: Message) -> Result<(Sender, Token), ErrorCode> {
    let answer = desk.ask(message);
    match &answer.body {
        Body::LeagueRegisterResponse(response) => match response.answer.status {
            RegisterStatus::Accepted => {
                Ok((answer_id(&answer.body), answer.envelope.auth_token.unwrap()))
            }
            RegisterStatus::Rejected => Err(response.answer.error_code.clone().unwrap()),
        },
        other => panic!("expected a registration response, got {other:?}"),
    }
}

fn register(
    desk: &mut Desk,
    endpoint: u32,
    code: Option<Token>,
) -> Result<(Sender, Token), ErrorCode> {
    let message = request(desk, endpoint, code, None);
    granted(desk, message)
}

fn names(desk: &Desk) -> Vec<&str> {
    desk.manager
        .league()
        .players
        .values()
        .map(|player| player.meta.display_name.raw())
        .collect()
}

fn order(desk: &mut Desk, order: Order, whose: Option<&str>) -> Message {
    order_with(desk, order, whose, None)
}

fn order_with(
    desk: &mut Desk,
    order: Order,
    whose: Option<&str>,
    join_code: Option<Token>,
) -> Message {
    let order = LeagueOrder {
        league_id: league_id(),
        order,
        player_id: None,
        match_id: None,
        agent_id: whose.map(Into::into),
        join_code,
    };
    let mut message = desk.message(&Sender::Launcher, order);
    message.envelope.auth_token = Some(operator());
    desk.ask(message)
}

#[test]
fn a_name_is_put_on_the_roster_with_the_code_that_was_handed_out() {
    let mut desk = Desk::new(settings());
    let added = order_with(&mut desk, Order::Invite, Some("player:Eve"), Some(code(5)));
    assert_eq!(added.envelope.auth_token, Some(code(5)));
    register(&mut desk, 1, Some(code(5))).unwrap();
    assert_eq!(names(&desk), ["Eve"]);
}

#[test]
fn a_code_that_can_be_guessed_or_is_another_ones_is_refused() {
    let mut desk = Desk::new(settings());
    for (given, why) in [
        (Token::new("spring"), ErrorCode::InvalidFormat),
        (code(1), ErrorCode::InvalidState),
        (code(9), ErrorCode::InvalidState),
    ] {
        let refused = order_with(&mut desk, Order::Invite, Some("player:Eve"), Some(given));
        let Body::LeagueError(error) = &refused.body else {
            panic!("{refused:?}")
        };
        assert_eq!(error.error_code, why);
    }
}

#[test]
fn who_shows_a_code_of_its_own_is_let_in_from_a_crowded_address_and_takes_no_room_there() {
    let mut desk = Desk::new(LeagueSettings {
        registrations_per_address: 1,
        ..settings()
    });
    desk.client = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)));
    register(&mut desk, 1, Some(code(1))).unwrap();
    register(&mut desk, 2, Some(code(2))).unwrap();
    let referee = |number| RefereeRegisterRequest {
        referee_meta: referee_meta(number, 1),
        join_code: Some(code(9)),
    };
    let mut ask = |number| {
        let sender = Sender::Referee(RefereeId::new(format!("agent{number}")));
        match desk.ask_as(&sender, referee(number)) {
            Body::RefereeRegisterResponse(response) => response.answer.status,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        [ask(1), ask(2)],
        [RegisterStatus::Accepted, RegisterStatus::Rejected],
        "a code that many share lifts no limit"
    );
}

#[test]
fn a_code_of_ones_own_tells_how_many_have_one() {
    let desk = Desk::new(settings());
    let league = desk.manager.league();
    assert_eq!(league.places_beside(Some(&code(1))), Some(2));
    for other in [Some(&code(9)), Some(&code(7)), None] {
        assert_eq!(league.places_beside(other), None);
    }
}

#[test]
fn with_its_code_an_agent_registers_under_the_name_on_the_roster() {
    let mut desk = Desk::new(settings());
    register(&mut desk, 1, Some(code(2))).unwrap();
    assert_eq!(names(&desk), ["Bob"]);
}

#[test]
fn a_code_may_be_shown_as_join_code_as_auth_token_or_in_the_path() {
    let mut desk = Desk::new(settings());
    let message = request(&desk, 1, None, Some(code(1)));
    granted(&mut desk, message).unwrap();
    desk.join_code = Some(code(2));
    register(&mut desk, 2, None).unwrap();
    assert_eq!(names(&desk), ["Ann", "Bob"]);
}

#[test]
fn without_a_code_or_with_a_wrong_one_nobody_registers() {
    let mut desk = Desk::new(settings());
    let before = desk.manager.league().clone();
    assert_eq!(register(&mut desk, 1, None), Err(ErrorCode::TokenMissing));
    assert_eq!(
        register(&mut desk, 1, Some(code(7))),
        Err(ErrorCode::TokenInvalid)
    );
    assert_eq!(
        register(&mut desk, 1, Some(code(9))),
        Err(ErrorCode::TokenInvalid),
        "that of referees"
    );
    assert_eq!(*desk.manager.league(), before);
}

#[test]
fn a_role_of_which_the_roster_says_nothing_needs_no_code() {
    let roster = vec![invitation(AgentRole::Referee, None, 9)];
    let mut desk = Desk::new(LeagueSettings { roster, ..quick() });
    assert_eq!(desk.register_player(1), player(1));
}

#[test]
fn wrong_codes_are_slowed_like_wrong_tokens_and_the_right_one_is_not() {
    let mut desk = Desk::new(settings());
    for number in 100..110 {
        assert_eq!(
            register(&mut desk, 1, Some(code(number))),
            Err(ErrorCode::TokenInvalid)
        );
    }
    let guess = request(&desk, 1, Some(code(111)), None);
    assert!(
        desk.ask_any(Ask::Message(Ok(incoming(guess))), true)
            .is_empty(),
        "the answer is held back"
    );
    assert!(register(&mut desk, 1, Some(code(1))).is_ok());
    desk.now = desk.now + Duration::from_secs(1);
    let held = desk.hand_in(Input::Tick);
    let [
        Content::Message(Message {
            body: Body::LeagueRegisterResponse(response),
            ..
        }),
    ] = &held[..]
    else {
        panic!("{held:?}")
    };
    assert_eq!(response.answer.error_code, Some(ErrorCode::RateLimited));
}

#[test]
fn a_code_is_good_for_one_agent() {
    let mut desk = Desk::new(settings());
    register(&mut desk, 1, Some(code(1))).unwrap();
    assert_eq!(
        register(&mut desk, 2, Some(code(1))),
        Err(ErrorCode::TokenInvalid)
    );
    assert_eq!(desk.manager.league().players.len(), 1);
}

#[test]
fn with_its_code_an_unkeyed_agent_comes_back_to_its_endpoint_from_anywhere_and_after_the_start() {
    let mut desk = Desk::new(settings());
    let (id, old) = register(&mut desk, 1, Some(code(1))).unwrap();
    register(&mut desk, 2, Some(code(2))).unwrap();
    desk.client = Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9)));
    let (again, new) = register(&mut desk, 1, Some(code(1))).unwrap();
    assert_eq!((again, new == old), (id.clone(), false));
    desk.join_code = Some(code(9));
    desk.register_referee(1, 2);
    desk.join_code = None;
    desk.start();
    assert_eq!(register(&mut desk, 1, Some(code(1))).unwrap().0, id);
}

#[test]
fn a_code_alone_does_not_replace_an_agent_that_has_a_key() {
    let mut desk = Desk::new(settings());
    let message = request(&desk, 1, Some(code(1)), Some(key(1)));
    let (id, token) = granted(&mut desk, message).unwrap();
    assert_eq!(
        register(&mut desk, 1, Some(code(1))),
        Err(ErrorCode::TokenInvalid)
    );
    let by_key = request(&desk, 50, None, Some(key(1)));
    assert_eq!(
        granted(&mut desk, by_key),
        Ok((id, token)),
        "and its key needs no code"
    );
    assert_eq!(names(&desk), ["Ann"], "under the name on the roster still");
}

#[test]
fn a_code_that_was_rotated_opens_nothing_and_the_new_one_takes_the_place_over() {
    let mut desk = Desk::new(settings());
    let message = request(&desk, 1, Some(code(1)), Some(key(1)));
    let (id, old) = granted(&mut desk, message).unwrap();
    let new = order(&mut desk, Order::RotateCode, Some("Ann"))
        .envelope
        .auth_token
        .unwrap();
    assert!(new.is_join_code());
    desk.crash();
    assert_eq!(
        register(&mut desk, 2, Some(code(1))),
        Err(ErrorCode::TokenInvalid)
    );
    let (again, fresh) = register(&mut desk, 2, Some(new.clone())).unwrap();
    assert_eq!(again, id);
    let known = desk.manager.league().players.values().next().unwrap();
    assert!(known.token.admits(&fresh) && !known.token.admits(&old));
    assert_eq!(known.meta.contact_endpoint, player_endpoint(2));
    assert_eq!(
        register(&mut desk, 3, Some(new)),
        Err(ErrorCode::TokenInvalid),
        "and is used then"
    );
}

#[test]
fn after_the_operator_gave_out_a_token_only_a_new_code_is_as_good() {
    let mut desk = Desk::new(settings());
    let (id, _) = register(&mut desk, 1, Some(code(1))).unwrap();
    order(&mut desk, Order::Rotate, Some("P01"));
    assert_eq!(
        register(&mut desk, 1, Some(code(1))),
        Err(ErrorCode::TokenInvalid)
    );
    let new = order(&mut desk, Order::RotateCode, Some("Ann"))
        .envelope
        .auth_token
        .unwrap();
    assert_eq!(register(&mut desk, 1, Some(new)).unwrap().0, id);
    order(&mut desk, Order::Revoke, Some("P01"));
    let new = order(&mut desk, Order::RotateCode, Some("Ann"))
        .envelope
        .auth_token
        .unwrap();
    assert_eq!(
        register(&mut desk, 1, Some(new)),
        Err(ErrorCode::TokenInvalid),
        "and none once it is revoked"
    );
}

#[test]
fn the_operator_puts_latecomers_on_the_roster() {
    let mut desk = Desk::new(settings());
    let code = order(&mut desk, Order::Invite, Some("player:Cas"))
        .envelope
        .auth_token
        .unwrap();
    register(&mut desk, 1, Some(code)).unwrap();
    assert_eq!(names(&desk), ["Cas"]);
    let twice = order(&mut desk, Order::Invite, Some("player:Ann"));
    assert_eq!(error_code(&twice.body), ErrorCode::InvalidState);
    let unfit = order(&mut desk, Order::Invite, Some("Dan"));
    assert_eq!(error_code(&unfit.body), ErrorCode::InvalidFormat);
    let nobody = order(&mut desk, Order::RotateCode, Some("Dan"));
    assert_eq!(error_code(&nobody.body), ErrorCode::PlayerNotRegistered);
}

#[test]
fn the_roster_says_who_has_registered_and_tells_no_code() {
    let mut desk = Desk::new(settings());
    register(&mut desk, 1, Some(code(2))).unwrap();
    let answer = order(&mut desk, Order::Roster, None);
    let Body::LeagueStatus(status) = &answer.body else {
        panic!("{answer:?}")
    };
    let shown: Vec<_> = status.roster.iter().flatten().collect();
    let states: Vec<_> = shown
        .iter()
        .map(|place| {
            (
                place.display_name.as_ref().map(DisplayName::raw),
                place.state,
            )
        })
        .collect();
    assert_eq!(
        states,
        [
            (Some("Ann"), PlaceState::Open),
            (Some("Bob"), PlaceState::Registered),
            (None, PlaceState::Shared)
        ]
    );
    assert_eq!(shown[1].agent_id.as_deref(), Some("P01"));
    assert!(!serde_json::to_string(&answer).unwrap().contains("tok_join"));
}

#[test]
fn referees_share_a_code_and_keep_their_names() {
    let mut desk = Desk::new(settings());
    let sender = Sender::Referee(RefereeId::new("agent"));
    let refused = desk.ask_as(
        &sender,
        RefereeRegisterRequest {
            referee_meta: referee_meta(1, 2),
            join_code: None,
        },
    );
    let Body::RefereeRegisterResponse(refused) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(refused.answer.error_code, Some(ErrorCode::TokenMissing));
    desk.join_code = Some(code(9));
    assert_eq!(desk.register_referee(1, 2), referee(1));
    assert_eq!(desk.register_referee(2, 2), referee(2));
    let names: Vec<_> = desk
        .manager
        .league()
        .referees
        .values()
        .map(|it| it.meta.display_name.raw().to_owned())
        .collect();
    assert_eq!(names, ["Referee 1", "Referee 2"]);
    let new = order(&mut desk, Order::RotateCode, Some("referees"))
        .envelope
        .auth_token
        .unwrap();
    desk.join_code = Some(new);
    assert_eq!(desk.register_referee(3, 2), referee(3));
}

#[test]
fn the_log_holds_no_code_only_its_hash() {
    let mut desk = Desk::new(settings());
    let new = order(&mut desk, Order::RotateCode, Some("Ann"))
        .envelope
        .auth_token
        .unwrap();
    register(&mut desk, 1, Some(new.clone())).unwrap();
    let log = serde_json::to_string(
        &desk
            .events
            .iter()
            .map(|(_, event)| event)
            .collect::<Vec<_>>(),
    )
    .unwrap();
    let state = format!("{:?}", desk.manager);
    for code in [new, code(1), code(2), code(9)] {
        assert!(!log.contains(code.reveal()) && !state.contains(code.reveal()));
    }
}

#[test]
fn a_withdrawn_player_does_not_come_back_by_its_code_but_by_a_new_one_as_another() {
    let mut desk = Desk::new(settings());
    register(&mut desk, 1, Some(code(1))).unwrap();
    crate::orders::give(&mut desk, Order::Withdraw, Some("P01"), None);
    assert_eq!(
        register(&mut desk, 1, Some(code(1))),
        Err(ErrorCode::TokenInvalid)
    );
    let new = order(&mut desk, Order::RotateCode, Some("Ann"))
        .envelope
        .auth_token
        .unwrap();
    assert_eq!(register(&mut desk, 1, Some(new)).unwrap().0, player(2));
}
