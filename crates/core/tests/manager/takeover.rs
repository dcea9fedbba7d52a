//! Nobody takes over a registration that is not its own: not by its name and endpoint, not by a later timestamp, not from
//! another address.

use crate::desk::*;
use crate::orders::{give, operator};
use crate::re_registration::{key, request};
use matchday_core::league::member::Member;
use matchday_core::league::{LeagueSettings, RenewedBy};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ConversationId, ErrorCode, Message, Sender, Timestamp, Token};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

const VICTIM: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const ATTACKER: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
const YEAR_2099: Timestamp = Timestamp::from_micros(4_070_908_800_000_000);

/// What a registration from an address is answered with: id and token, or the code of the rejection.
fn granted(desk: &mut Desk, from: IpAddr, message: &Message) -> Result<(Sender, Token), ErrorCode> {
    desk.client = Some(from);
    let answer = desk.ask(message.clone());
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

fn first(desk: &Desk) -> &Member<PlayerMeta> {
    desk.manager.league().players.values().next().unwrap()
}

/// A league in which player 1 has registered from its own address.
fn registered(token: Option<Token>) -> (Desk, Token) {
    let mut desk = Desk::new(quick());
    let message = request(&desk, "conv-own", token);
    let (_, token) = granted(&mut desk, VICTIM, &message).unwrap();
    desk.pass(Duration::from_secs(5));
    (desk, token)
}

/// Player 1 asks something, and so shows its token.
fn show_token(desk: &mut Desk, token: &Token) {
    desk.tokens.insert(player(1), token.clone());
    let query = LeagueQuery {
        league_id: league_id(),
        query_type: Query::Standings,
        query_params: QueryParams::default(),
    };
    assert!(matches!(
        desk.ask_as(&player(1), query),
        Body::LeagueQueryResponse(_)
    ));
}

#[test]
fn a_keyed_registration_is_not_replaced_by_its_name_and_endpoint_from_any_address() {
    for from in [ATTACKER, VICTIM] {
        for shown in [None, Some(key(2)), Some(Token::new("tok_p01_guess"))] {
            for conversation in ["conv-own", "conv-other"] {
                let (mut desk, token) = registered(Some(key(1)));
                let before = desk.manager.league().clone();
                let attack = request(&desk, conversation, shown.clone());
                assert_eq!(
                    granted(&mut desk, from, &attack),
                    Err(ErrorCode::TokenInvalid)
                );
                assert_eq!(*desk.manager.league(), before);
                assert!(first(&desk).token.admits(&token));
            }
        }
    }
}

#[test]
fn a_refusal_for_want_of_proof_says_what_would_be_one_and_whom_to_ask() {
    let (mut desk, _) = registered(Some(key(1)));
    desk.client = Some(ATTACKER);
    let attack = request(&desk, "conv-other", None);
    let Body::LeagueRegisterResponse(response) = desk.ask(attack).body else {
        panic!()
    };
    let reason = response.answer.reason.clone().unwrap();
    assert!(
        reason.raw().contains("registration key") && reason.raw().contains("operator"),
        "{reason:?}"
    );
    assert_eq!(response.answer.context.as_ref().unwrap()["id"], "P01");
}

#[test]
fn with_its_key_or_its_token_an_agent_comes_back_from_any_address_to_any_endpoint() {
    let (mut desk, token) = registered(Some(key(1)));
    for shown in [key(1), token.clone()] {
        let mut moved = request(&desk, "conv-other", Some(shown));
        let meta = PlayerMeta {
            contact_endpoint: player_endpoint(50),
            ..player_meta(1)
        };
        moved.body = LeagueRegisterRequest {
            player_meta: meta,
            join_code: None,
        }
        .into();
        assert_eq!(
            granted(&mut desk, ATTACKER, &moved),
            Ok((player(1), token.clone()))
        );
        assert_eq!(first(&desk).meta.contact_endpoint, player_endpoint(50));
    }
}

#[test]
fn an_unkeyed_registration_is_renewed_from_its_own_address_alone() {
    for conversation in ["conv-own", "conv-other"] {
        let (mut desk, token) = registered(None);
        let attack = request(&desk, conversation, None);
        assert_eq!(
            granted(&mut desk, ATTACKER, &attack),
            Err(ErrorCode::TokenInvalid)
        );
        assert!(first(&desk).token.admits(&token));
        assert_eq!(granted(&mut desk, VICTIM, &attack).unwrap().0, player(1));
    }
}

#[test]
fn an_unkeyed_registration_is_not_renewed_once_its_token_was_shown_however_late() {
    let (mut desk, token) = registered(None);
    desk.pass(Duration::from_secs(3600));
    show_token(&mut desk, &token);
    desk.crash();
    for conversation in ["conv-own", "conv-other"] {
        let again = request(&desk, conversation, None);
        assert_eq!(
            granted(&mut desk, VICTIM, &again),
            Err(ErrorCode::TokenInvalid)
        );
    }
    assert!(first(&desk).token.admits(&token));
}

#[test]
fn the_address_of_a_registration_is_known_after_a_restart() {
    let (mut desk, _) = registered(None);
    desk.crash();
    let again = request(&desk, "conv-other", None);
    assert_eq!(
        granted(&mut desk, ATTACKER, &again),
        Err(ErrorCode::TokenInvalid)
    );
    assert_eq!(granted(&mut desk, VICTIM, &again).unwrap().0, player(1));
}

#[test]
fn a_registration_whose_address_nobody_knows_is_renewed_only_with_proof() {
    let mut desk = Desk::new(quick());
    desk.client = None;
    let message = request(&desk, "conv-own", None);
    let token = desk.ask(message).envelope.auth_token.unwrap();
    for from in [ATTACKER, VICTIM] {
        let again = request(&desk, "conv-other", None);
        assert_eq!(
            granted(&mut desk, from, &again),
            Err(ErrorCode::TokenInvalid)
        );
    }
    let proven = request(&desk, "conv-other", Some(token.clone()));
    assert_eq!(granted(&mut desk, VICTIM, &proven), Ok((player(1), token)));
}

#[test]
fn a_timestamp_in_the_future_locks_nobody_out_and_is_a_deviation() {
    for (own, later) in [(None, None), (Some(key(1)), Some(key(1)))] {
        let mut desk = Desk::new(quick());
        let mut ahead = request(&desk, "conv-own", own);
        ahead.envelope.timestamp = YEAR_2099;
        granted(&mut desk, VICTIM, &ahead).unwrap();
        assert_eq!(first(&desk).deviations.get("future timestamp"), Some(&1));
        desk.pass(Duration::from_secs(5));
        let now = request(&desk, "conv-other", later);
        assert_eq!(granted(&mut desk, VICTIM, &now).unwrap().0, player(1));
    }
}

#[test]
fn every_renewal_is_recorded_with_how_the_agent_was_known() {
    let (mut desk, token) = registered(None);
    let again = request(&desk, "conv-other", None);
    let (_, token) = granted(&mut desk, VICTIM, &again)
        .map(|(id, new)| (id, (new, token).0))
        .unwrap();
    let proven = request(&desk, "conv-other", Some(token));
    granted(&mut desk, ATTACKER, &proven).unwrap();
    let how = desk.events.iter().filter_map(|(_, event)| event.renewal());
    assert_eq!(
        how.map(|renewal| (renewal.id, renewal.by, renewal.client))
            .collect::<Vec<_>>(),
        [
            ("P01", RenewedBy::Address, Some(VICTIM)),
            ("P01", RenewedBy::Token, Some(ATTACKER))
        ]
    );
    assert_eq!(first(&desk).renewals, 2);
}

#[test]
fn the_tokens_that_a_renewal_replaced_are_still_known_for_reading_old_records() {
    let (mut desk, old) = registered(None);
    let again = request(&desk, "conv-other", None);
    let (_, new) = granted(&mut desk, VICTIM, &again).unwrap();
    assert!(first(&desk).has_had(&old) && first(&desk).has_had(&new));
    assert!(
        !first(&desk).token.admits(&old),
        "but the old one opens nothing"
    );
}

#[test]
fn a_referee_is_not_taken_over_either() {
    let mut desk = Desk::new(quick());
    desk.client = Some(VICTIM);
    desk.register_referee(1, 2);
    let mut attack = desk.message(
        &referee(9),
        RefereeRegisterRequest {
            referee_meta: referee_meta(1, 10),
            join_code: None,
        },
    );
    attack.envelope.conversation_id = ConversationId::new("conv-other");
    desk.client = Some(ATTACKER);
    let Body::RefereeRegisterResponse(response) = desk.ask(attack).body else {
        panic!()
    };
    assert_eq!(response.answer.error_code, Some(ErrorCode::TokenInvalid));
    assert_eq!(desk.manager.league().referees.len(), 1);
}

#[test]
fn a_withdrawn_player_does_not_block_its_name_and_endpoint_for_others() {
    let mut desk = Desk::new(LeagueSettings {
        operator_token: Some(operator().hash()),
        ..quick()
    });
    let squatter = request(&desk, "conv-squat", Some(key(9)));
    granted(&mut desk, ATTACKER, &squatter).unwrap();
    give(&mut desk, Order::Withdraw, Some("P01"), None);
    let own = request(&desk, "conv-own", Some(key(1)));
    assert_eq!(granted(&mut desk, VICTIM, &own).unwrap().0, player(2));
    assert_eq!(
        granted(&mut desk, VICTIM, &own).unwrap().0,
        player(2),
        "and is known again"
    );
}
