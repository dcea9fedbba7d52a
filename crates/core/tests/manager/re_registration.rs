//! An agent that registers again is recognised, even if it or the manager was killed meanwhile; nobody else is taken for it.

use crate::desk::*;
use matchday_core::entropy::Entropy;
use matchday_core::league::LeagueEvent;
use matchday_core::league::member::Member;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ConversationId, ErrorCode, Message, Sender, Token};
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn key(number: u64) -> Token {
    Token::new_registration_key(&mut Entropy::numbered(number))
}

/// A registration with the name and endpoint of player 1, sent now.
pub(crate) fn request(desk: &Desk, conversation: &str, token: Option<Token>) -> Message {
    let mut message = desk.message(
        &player(77),
        LeagueRegisterRequest {
            player_meta: player_meta(1),
            join_code: None,
        },
    );
    message.envelope.conversation_id = ConversationId::new(conversation);
    message.envelope.auth_token = token;
    message
}

/// What a registration is answered with: a token, or the code of a rejection.
fn granted(desk: &mut Desk, message: &Message) -> Result<Token, ErrorCode> {
    let answer = desk.ask(message.clone());
    let Body::LeagueRegisterResponse(response) = answer.body else {
        panic!("expected a registration response")
    };
    match response.answer.status {
        RegisterStatus::Accepted => {
            assert_eq!(
                response.player_id.clone().map(Sender::Player),
                Some(player(1))
            );
            Ok(answer.envelope.auth_token.unwrap())
        }
        RegisterStatus::Rejected => Err(response.answer.error_code.clone().unwrap()),
    }
}

fn known(desk: &Desk) -> &Member<PlayerMeta> {
    desk.manager.league().players.values().next().unwrap()
}

fn admits(desk: &Desk, token: &Token) -> bool {
    known(desk).token.admits(token)
}

/// The rest of a league, and its start.
fn start(desk: &mut Desk) {
    desk.register_player(2);
    desk.register_referee(1, 2);
    desk.start();
}

#[test]
fn with_its_key_an_agent_gets_the_same_token_from_a_manager_that_was_restarted() {
    let mut desk = Desk::new(quick());
    let message = request(&desk, "conv-1", Some(key(1)));
    let first = granted(&mut desk, &message).unwrap();
    assert!(first.reveal().starts_with("tok_p01_"));
    desk.crash();
    assert_eq!(granted(&mut desk, &message), Ok(first.clone()));
    assert!(admits(&desk, &first));
    assert_eq!(desk.manager.league().players.len(), 1);
}

#[test]
fn with_its_key_an_agent_comes_in_however_late_though_the_league_has_started_and_the_manager_was_killed()
 {
    let mut desk = Desk::new(quick());
    let message = request(&desk, "conv-1", Some(key(1)));
    let first = granted(&mut desk, &message).unwrap();
    start(&mut desk);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    let record = known(&desk).record;
    desk.pass(Duration::from_secs(3600));
    desk.crash();
    let again = request(&desk, "conv-1", Some(key(1)));
    assert_eq!(granted(&mut desk, &again), Ok(first));
    assert_eq!(known(&desk).record, record);
}

#[test]
fn an_agent_that_comes_in_by_its_key_is_told_what_is_open() {
    let mut desk = Desk::new(quick());
    let message = request(&desk, "conv-1", Some(key(1)));
    granted(&mut desk, &message).unwrap();
    start(&mut desk);
    desk.settle_received();
    granted(&mut desk, &message).unwrap();
    assert!(matches!(
        desk.sent_to(&player_endpoint(1))[..],
        [Body::RoundAnnouncement(_)]
    ));
}

#[test]
fn another_key_does_not_open_a_league_that_has_started() {
    let mut desk = Desk::new(quick());
    let message = request(&desk, "conv-1", Some(key(1)));
    granted(&mut desk, &message).unwrap();
    start(&mut desk);
    let other = request(&desk, "conv-1", Some(key(2)));
    assert_eq!(granted(&mut desk, &other), Err(ErrorCode::LateRegistration));
    let none = request(&desk, "conv-1", None);
    assert_eq!(granted(&mut desk, &none), Err(ErrorCode::LateRegistration));
}

#[test]
fn the_key_is_not_the_token_and_is_not_in_the_log() {
    let mut desk = Desk::new(quick());
    let message = request(&desk, "conv-1", Some(key(1)));
    let token = granted(&mut desk, &message).unwrap();
    assert!(!admits(&desk, &key(1)));
    let log = serde_json::to_string(
        &desk
            .events
            .iter()
            .map(|(_, event)| event)
            .collect::<Vec<_>>(),
    )
    .unwrap();
    let digits = |token: &Token| token.reveal().rsplit('_').next().unwrap().to_owned();
    assert!(!log.contains(&digits(&key(1))) && !log.contains(&digits(&token)));
}

#[test]
fn an_old_copy_does_not_move_an_agent_back() {
    let mut desk = Desk::new(quick());
    let old = request(&desk, "conv-1", Some(key(1)));
    let token = granted(&mut desk, &old).unwrap();
    desk.pass(Duration::from_secs(5));
    let mut moved = request(&desk, "conv-1", Some(token.clone()));
    if let Body::LeagueRegisterRequest(request) = &mut moved.body {
        Arc::make_mut(request).player_meta.contact_endpoint = player_endpoint(50);
    }
    granted(&mut desk, &moved).unwrap();
    desk.crash();
    assert_eq!(granted(&mut desk, &old), Ok(token));
    assert_eq!(known(&desk).meta.contact_endpoint, player_endpoint(50));
    assert_eq!(desk.manager.league().players.len(), 1);
}

#[test]
fn an_old_copy_does_not_replace_a_token_that_was_given_since() {
    let mut desk = Desk::new(quick());
    let old = request(&desk, "conv-1", None);
    granted(&mut desk, &old).unwrap();
    desk.pass(Duration::from_secs(5));
    let new = request(&desk, "conv-2", None);
    let live = granted(&mut desk, &new).unwrap();
    desk.crash();
    assert_eq!(granted(&mut desk, &old), Err(ErrorCode::InvalidState));
    assert!(admits(&desk, &live));
}

#[test]
fn an_old_copy_of_the_same_conversation_does_not_replace_the_token_after_the_start() {
    let mut desk = Desk::new(quick());
    let old = request(&desk, "conv-1", None);
    desk.pass(Duration::from_secs(5));
    let new = request(&desk, "conv-1", None);
    let live = granted(&mut desk, &new).unwrap();
    start(&mut desk);
    desk.crash();
    assert_eq!(granted(&mut desk, &old), Err(ErrorCode::InvalidState));
    assert!(admits(&desk, &live));
}

/// A league that has started, and the manager was killed; with the registration of a player that has no key.
fn keyless() -> (Desk, Message, Token) {
    let mut desk = Desk::new(quick());
    let message = request(&desk, "conv-register-001", None);
    let token = granted(&mut desk, &message).unwrap();
    start(&mut desk);
    (desk, message, token)
}

#[test]
fn without_a_key_the_conversation_gets_an_agent_another_token_if_it_asks_soon() {
    let (mut desk, message, lost) = keyless();
    desk.crash();
    desk.pass(Duration::from_secs(20));
    let fresh = granted(&mut desk, &message).unwrap();
    assert_ne!(fresh, lost);
    assert!(admits(&desk, &fresh));
    desk.pass(Duration::from_secs(11));
    assert_eq!(
        granted(&mut desk, &message),
        Err(ErrorCode::LateRegistration),
        "the time does not begin anew"
    );
    assert!(admits(&desk, &fresh));
}

#[test]
fn without_a_key_nobody_gets_the_token_of_an_agent_that_has_shown_it() {
    for killed in [false, true] {
        let (mut desk, message, token) = keyless();
        desk.tokens.insert(player(1), token.clone());
        let query = LeagueQuery {
            league_id: league_id(),
            query_type: Query::Standings,
            query_params: QueryParams::default(),
        };
        desk.ask_as(&player(1), query.clone());
        desk.ask_as(&player(1), query);
        let shown = desk
            .events
            .iter()
            .filter(|(_, event)| matches!(event, LeagueEvent::TokenShown { .. }));
        assert_eq!(shown.count(), 1, "it is said once");
        if killed {
            desk.crash();
        }
        assert_eq!(
            granted(&mut desk, &message),
            Err(ErrorCode::LateRegistration)
        );
        assert!(admits(&desk, &token));
    }
}

#[test]
fn without_a_key_another_conversation_does_not_open_a_league_that_has_started() {
    let (mut desk, _, _) = keyless();
    desk.crash();
    let other = request(&desk, "conv-register-002", None);
    assert_eq!(granted(&mut desk, &other), Err(ErrorCode::LateRegistration));
}

#[test]
fn a_player_that_was_withdrawn_before_the_start_does_not_come_in_again_by_registering() {
    let mut desk = Desk::new(quick());
    let message = request(&desk, "conv-1", None);
    granted(&mut desk, &message).unwrap();
    let withdrawn = LeagueEvent::PlayerWithdrawn {
        player_id: known_id(&desk),
    };
    desk.events.push((desk.now, withdrawn));
    desk.crash();
    let again = request(&desk, "conv-2", None);
    granted(&mut desk, &again).unwrap();
    assert!(known(&desk).withdrawn);
}

fn known_id(desk: &Desk) -> matchday_core::protocol::PlayerId {
    desk.manager.league().players.keys().next().unwrap().clone()
}
