//! The next league of a season takes the players of the one before it over.

use crate::desk::*;
use matchday_core::agent::{Agent, Input};
use matchday_core::entropy::Entropy;
use matchday_core::league::{LeagueEvent, LeagueSettings, Manager, RenewedBy};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, LeagueId, PlayerId, Token};

fn next_of(desk: &Desk) -> (Manager, Vec<LeagueEvent>, Vec<String>) {
    let settings = LeagueSettings {
        league_id: LeagueId::new("nightly_2"),
        ..quick()
    };
    let carried = desk.manager.league().to_carry_over();
    let mut manager = Manager::new(settings).with_carried_over(carried);
    let step = manager.handle(desk.now, &mut Entropy::numbered(9), Input::Wake);
    let told = step
        .outbox
        .iter()
        .map(|call| call.to.raw().to_owned())
        .collect();
    (manager, step.events, told)
}

#[test]
fn players_are_in_the_next_league_under_their_ids_and_are_told_of_it() {
    let mut desk = Desk::started(crate::orders::settings(), 3, 1);
    crate::orders::give(&mut desk, Order::Withdraw, Some("P02"), None);
    desk.play_out();
    let (manager, events, told) = next_of(&desk);
    assert!(
        matches!(events[0], LeagueEvent::LeagueCreated { .. }),
        "in one step, so that a crash leaves all or nothing"
    );
    let ids: Vec<&PlayerId> = manager.league().players.keys().collect();
    assert_eq!(
        ids,
        [&PlayerId::numbered(1), &PlayerId::numbered(3)],
        "but for those the operator took out"
    );
    assert_eq!(told, [player_endpoint(1).raw(), player_endpoint(3).raw()]);
}

#[test]
fn a_player_that_was_taken_over_is_known_by_its_token_and_newcomers_get_other_ids() {
    let mut desk = Desk::new(quick());
    desk.register_referee(1, 10);
    desk.register_player(1);
    desk.register_player_with_token(2);
    let token = desk.tokens[&player(2)].clone();
    let mut next = Desk::new(LeagueSettings {
        league_id: LeagueId::new("nightly_2"),
        ..quick()
    });
    (next.manager, _, _) = next_of(&desk);
    next.tokens.insert(player(2), token);
    let request = LeagueRegisterRequest {
        player_meta: player_meta(2),
        join_code: None,
    };
    let message = next.message(&player(2), request);
    let answer = next.ask(message);
    assert_eq!(answer_id(&answer.body), player(2));
    let Body::LeagueRegisterResponse(response) = &answer.body else {
        panic!("a response")
    };
    assert_eq!(response.answer.league_id, Some(LeagueId::new("nightly_2")));
    assert_eq!(next.register_player(9), player(3));
}

#[test]
fn a_player_that_lost_its_token_is_known_by_its_key() {
    let mut desk = Desk::new(quick());
    desk.register_referee(1, 10);
    let key = Token::new_registration_key(&mut Entropy::numbered(3));
    desk.tokens.insert(player(1), key.clone());
    let request = || LeagueRegisterRequest {
        player_meta: player_meta(1),
        join_code: None,
    };
    desk.ask_as(&player(1), request());
    let mut next = Desk::new(LeagueSettings {
        league_id: LeagueId::new("nightly_2"),
        ..quick()
    });
    (next.manager, _, _) = next_of(&desk);
    next.events.clear();
    next.tokens.insert(player(1), key);
    assert_eq!(answer_id(&next.ask_as(&player(1), request())), player(1));
    let renewal = next
        .events
        .iter()
        .find_map(|(_, event)| event.renewal().map(|renewal| renewal.by));
    assert_eq!(renewal, Some(RenewedBy::Key));
}
