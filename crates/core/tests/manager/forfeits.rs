//! Matches that are decided without play: a referee decides them all the same, so that both players hear of it.

use crate::desk::*;
use crate::orders;
use matchday_core::league::{DecidedBy, LeagueEvent, Suspicion};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ErrorCode, MatchId, PlayerId};

/// Two players and a referee; player 2 is suspended before its match is given out.
fn with_one_suspended(capabilities: &[&str]) -> Desk {
    let mut desk = Desk::new(quick());
    let capabilities = capabilities.iter().map(|name| (*name).into()).collect();
    let meta = RefereeMeta {
        capabilities,
        ..referee_meta(1, 10)
    };
    let message = desk.message(
        &referee(1),
        RefereeRegisterRequest {
            join_code: None,
            referee_meta: meta,
        },
    );
    let answer = desk.ask(message);
    desk.tokens
        .insert(referee(1), answer.envelope.auth_token.unwrap());
    desk.register_player(1);
    desk.register_player(2);
    desk.start();
    let suspended = LeagueEvent::AgentSuspended {
        agent: player(2),
        cause: Suspicion::TechnicalLosses,
    };
    desk.events.push((desk.now, suspended));
    desk.crash();
    desk.players_hear_of_the_round();
    desk
}

fn briefing(desk: &Desk) -> Option<Box<Briefing>> {
    let sent = desk.sent_to(&referee_endpoint(1));
    sent.iter().rev().find_map(|body| match body {
        Body::RoundAnnouncement(round) => round.matches[0].briefing.clone(),
        _ => None,
    })
}

#[test]
fn the_match_of_a_suspended_player_goes_to_a_referee_that_is_told_who_loses() {
    let mut desk = with_one_suspended(&[MATCH_TOKENS, BRIEFING]);
    let forfeits = briefing(&desk).unwrap().forfeits.unwrap();
    assert_eq!(
        forfeits.get(&PlayerId::numbered(2)),
        Some(&Cause::Suspended)
    );
    assert_eq!(forfeits.len(), 1);
    let report = desk.without_play("R1M1").unwrap();
    let answer = desk.ask_as(&referee(1), report);
    assert!(matches!(answer, Body::MatchResultAck(_)), "{answer:?}");
}

#[test]
fn its_referee_cannot_report_it_otherwise() {
    for score in [(0, 3), (3, 0), (1, 1), (0, 0)] {
        let mut desk = with_one_suspended(&[MATCH_TOKENS, BRIEFING]);
        let report = desk.report_of("R1M1", score);
        let answer = desk.ask_as(&referee(1), report);
        assert_eq!(error_code(&answer), ErrorCode::InvalidFormat);
        assert_eq!(desk.manager.league().matches_decided, 0);
    }
}

#[test]
fn where_no_referee_can_be_told_the_manager_decides_itself() {
    let desk = with_one_suspended(&[]);
    let decision = desk.manager.league().matches[&MatchId::new("R1M1")]
        .decision
        .clone()
        .unwrap();
    assert_eq!(decision.by, DecidedBy::Manager);
    assert_eq!(decision.result.winner, Some(PlayerId::numbered(1)));
}

#[test]
fn what_a_withdrawn_player_has_under_way_is_given_out_anew_to_be_decided() {
    let mut desk = Desk::started(orders::settings(), 2, 1);
    orders::give(&mut desk, Order::Withdraw, Some("P02"), None);
    let game = &desk.manager.league().matches[&MatchId::new("R1M1")];
    assert_eq!(game.attempts.len(), 2);
    assert_eq!(game.forfeits, [(PlayerId::numbered(2), Cause::Withdrawn)]);
    assert_eq!(desk.manager.league().matches_decided, 0);
}
