//! How many agents a league takes: in all, and from one address.

use crate::desk::*;
use crate::orders::{give, operator};
use matchday_core::league::{LeagueSettings, Registration};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ErrorCode, PlayerId, Sender};
use std::net::IpAddr;

/// Whether a player may register from an address.
fn register(desk: &mut Desk, number: u32, from: &str) -> Result<Sender, (ErrorCode, String)> {
    desk.client = Some(from.parse::<IpAddr>().unwrap());
    let request = LeagueRegisterRequest {
        player_meta: player_meta(number),
        join_code: None,
    };
    match desk.ask_as(
        &Sender::Player(PlayerId::new(format!("agent{number}"))),
        request,
    ) {
        Body::LeagueRegisterResponse(response) => match &response.player_id {
            Some(id) => Ok(Sender::Player(id.clone())),
            None => {
                let answer = &response.answer;
                Err((
                    answer.error_code.clone().unwrap(),
                    answer.reason.clone().unwrap().raw().to_owned(),
                ))
            }
        },
        other => panic!("expected a registration response, got {other:?}"),
    }
}

#[test]
fn withdrawing_a_player_during_registration_frees_its_place_and_not_its_id() {
    let mut desk = Desk::new(LeagueSettings {
        players_max: 2,
        operator_token: Some(operator().hash()),
        ..quick()
    });
    desk.register_player(1);
    desk.register_player(2);
    assert_eq!(
        register(&mut desk, 3, "127.0.0.1").unwrap_err().0,
        ErrorCode::InvalidState
    );
    give(&mut desk, Order::Withdraw, Some("P01"), None);
    assert_eq!(register(&mut desk, 3, "127.0.0.1"), Ok(player(3)));
    assert_eq!(
        register(&mut desk, 4, "127.0.0.1").unwrap_err().0,
        ErrorCode::InvalidState
    );
}

#[test]
fn one_address_cannot_fill_the_league() {
    let mut desk = Desk::new(LeagueSettings {
        registrations_per_address: 2,
        ..quick()
    });
    for number in 1..=2 {
        register(&mut desk, number, "192.0.2.7").unwrap();
    }
    desk.crash();
    let (code, reason) = register(&mut desk, 3, "192.0.2.7").unwrap_err();
    assert_eq!(code, ErrorCode::InvalidState);
    assert!(
        reason.contains("192.0.2.7") && reason.contains("--agents-per-address"),
        "{reason}"
    );
    assert_eq!(
        register(&mut desk, 3, "192.0.2.8"),
        Ok(player(3)),
        "others have a count of their own"
    );
    assert_eq!(
        register(&mut desk, 1, "192.0.2.7"),
        Ok(player(1)),
        "who is in comes again"
    );
}

#[test]
fn a_league_that_is_opened_with_a_higher_limit_takes_more_from_one_address() {
    let mut desk = Desk::new(LeagueSettings {
        registrations_per_address: 1,
        ..quick()
    });
    register(&mut desk, 1, "192.0.2.7").unwrap();
    assert!(register(&mut desk, 2, "192.0.2.7").is_err());
    desk.settings.registrations_per_address = 2;
    desk.crash();
    assert_eq!(register(&mut desk, 2, "192.0.2.7"), Ok(player(2)));
}

#[test]
fn addresses_of_one_ipv6_network_are_counted_together() {
    let mut desk = Desk::new(LeagueSettings {
        registrations_per_address: 2,
        ..quick()
    });
    register(&mut desk, 1, "2001:db8::1").unwrap();
    register(&mut desk, 2, "2001:db8::ffff:2").unwrap();
    assert!(register(&mut desk, 3, "2001:db8::3").is_err());
    assert!(register(&mut desk, 3, "2001:db8:0:1::3").is_ok());
}

#[test]
fn agents_of_this_machine_and_a_bound_of_zero_are_not_counted() {
    let mut desk = Desk::new(LeagueSettings {
        registrations_per_address: 2,
        ..quick()
    });
    assert!((1..=20).all(|number| register(&mut desk, number, "127.0.0.1").is_ok()));
    let mut desk = Desk::new(LeagueSettings {
        registrations_per_address: 0,
        ..quick()
    });
    assert!((1..=20).all(|number| register(&mut desk, number, "192.0.2.7").is_ok()));
}

#[test]
fn while_registration_is_closed_only_those_who_are_here_stay() {
    let mut desk = Desk::new(quick());
    register(&mut desk, 1, "192.0.2.7").unwrap();
    desk.settings.registration = Registration::Closed;
    desk.crash();
    assert!(register(&mut desk, 2, "192.0.2.8").is_err());
    assert_eq!(register(&mut desk, 1, "192.0.2.7"), Ok(player(1)));
    desk.settings.registration = Registration::Open;
    desk.crash();
    assert_eq!(register(&mut desk, 2, "192.0.2.8"), Ok(player(2)));
}
