//! Everyone hears of a round before a match of it begins.

use crate::desk::*;
use matchday_core::agent::{Answer, Failure, Input, Outgoing, Payload};
use matchday_core::league::{LeagueEvent, Suspicion};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, Endpoint};

fn announcement(call: &Outgoing) -> Option<&RoundAnnouncement> {
    match &call.payload {
        Payload::Message(message) => match &message.body {
            Body::RoundAnnouncement(announcement) => Some(announcement),
            _ => None,
        },
        Payload::Probe | Payload::Connect => None,
    }
}

/// The announcements on their way to an endpoint.
fn announced_to<'a>(desk: &'a Desk, endpoint: &Endpoint) -> Vec<&'a RoundAnnouncement> {
    desk.outbox
        .iter()
        .filter(|call| call.to == *endpoint)
        .filter_map(announcement)
        .collect()
}

fn hears(desk: &mut Desk, player: u32, answer: Answer) {
    let at = desk
        .outbox
        .iter()
        .position(|call| call.to == player_endpoint(player))
        .unwrap();
    let call = desk.outbox.remove(at);
    assert!(announcement(&call).is_some());
    desk.hand_in(Input::Answer {
        call: call.call,
        dialect: call.dialect,
        answer,
    });
}

#[test]
fn a_match_begins_when_both_of_its_players_have_answered_the_announcement() {
    let mut desk = Desk::with(quick(), 4, 1);
    desk.start();
    assert_eq!(desk.open_matches().len(), 0);
    hears(&mut desk, 1, Answer::Received);
    hears(&mut desk, 3, Answer::Received);
    assert_eq!(desk.open_matches().len(), 0, "each match lacks one player");
    hears(&mut desk, 4, Answer::Received);
    assert_eq!(
        desk.open_matches().len(),
        1,
        "P03 and P04 need not wait for P02"
    );
    hears(&mut desk, 2, Answer::Garbled("404".into()));
    assert_eq!(desk.open_matches().len(), 2, "an error is an answer too");
}

#[test]
fn a_player_that_cannot_be_told_holds_its_match_up_for_one_answers_time_at_most() {
    let mut desk = Desk::with(quick(), 2, 1);
    desk.start();
    hears(&mut desk, 1, Answer::Received);
    desk.pass(quick().timing.other - quick().timing.retry.pause(1).unwrap());
    assert_eq!(desk.open_matches().len(), 0);
    desk.pass(quick().timing.retry.pause(1).unwrap());
    assert_eq!(desk.open_matches().len(), 1);
}

#[test]
fn a_player_that_refuses_every_try_is_waited_for_no_longer() {
    let mut desk = Desk::with(quick(), 2, 1);
    desk.start();
    hears(&mut desk, 1, Answer::Received);
    let policy = quick().timing.retry;
    for retry in 1..=policy.retries {
        hears(&mut desk, 2, Answer::Undelivered(Failure::NoConnection));
        assert_eq!(desk.open_matches().len(), 0);
        desk.pass(policy.pause(retry).unwrap());
    }
    hears(&mut desk, 2, Answer::Undelivered(Failure::NoConnection));
    assert_eq!(desk.open_matches().len(), 1);
}

#[test]
fn nobody_waits_for_a_player_that_is_suspended() {
    let mut desk = Desk::with(quick(), 2, 1);
    desk.start();
    let suspended = LeagueEvent::AgentSuspended {
        agent: player(2),
        cause: Suspicion::TechnicalLosses,
    };
    desk.events.push((desk.now, suspended));
    desk.crash();
    hears(&mut desk, 1, Answer::Received);
    assert_eq!(desk.open_matches().len(), 1);
}

#[test]
fn every_referee_hears_of_the_whole_round_and_only_its_own_copy_has_a_briefing() {
    let mut desk = Desk::with(quick(), 4, 2);
    desk.start();
    for number in [1, 2] {
        let heard = announced_to(&desk, &referee_endpoint(number));
        let [round] = heard[..] else {
            panic!("expected one announcement, got {heard:?}")
        };
        assert_eq!(round.matches.len(), 2);
        assert!(round.matches.iter().all(|game| game.briefing.is_none()));
    }
    desk.players_hear_of_the_round();
    for number in [1, 2] {
        let heard = announced_to(&desk, &referee_endpoint(number));
        let [_, own] = heard[..] else {
            panic!("expected two announcements, got {heard:?}")
        };
        assert_eq!(own.matches.len(), 1);
        assert!(own.matches[0].briefing.is_some());
    }
}

#[test]
fn a_referee_that_would_begin_at_once_hears_of_its_match_when_that_may_begin() {
    let mut desk = Desk::new(quick());
    let meta = RefereeMeta {
        capabilities: vec![MATCH_TOKENS.into()],
        ..referee_meta(1, 2)
    };
    desk.ask_as(
        &referee(1),
        RefereeRegisterRequest {
            join_code: None,
            referee_meta: meta,
        },
    );
    desk.register_player(1);
    desk.register_player(2);
    desk.start();
    assert_eq!(announced_to(&desk, &referee_endpoint(1)).len(), 0);
    desk.players_hear_of_the_round();
    assert_eq!(announced_to(&desk, &referee_endpoint(1)).len(), 1);
}
