//! One set of timeouts: the manager's, handed to its referees with each match.

use crate::desk::*;
use matchday_core::agent::Payload;
use matchday_core::league::{LeagueEvent, LeagueSettings, Suspicion};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Attempt, Body, ConversationId, ErrorCode, MatchId, RefereeId};
use matchday_core::retry::RetryPolicy;
use matchday_core::timing::Timing;
use std::time::Duration;

fn short() -> LeagueSettings {
    let second = Duration::from_secs(1);
    let timing = Timing {
        join: second,
        choice: second,
        report: second,
        other: second,
        ..Timing::default()
    };
    LeagueSettings { timing, ..quick() }
}

fn with_referee(settings: LeagueSettings, meta: RefereeMeta) -> Desk {
    let mut desk = Desk::new(settings);
    desk.ask_as(
        &referee(1),
        RefereeRegisterRequest {
            join_code: None,
            referee_meta: meta,
        },
    );
    desk.register_referee(2, 1);
    desk.register_player(1);
    desk.register_player(2);
    desk.start();
    desk.players_hear_of_the_round();
    desk.settle_received();
    desk
}

fn suspended(desk: &Desk) -> bool {
    desk.events.iter().any(|(_, event)| {
        matches!(event, LeagueEvent::AgentSuspended { agent, cause: Suspicion::Overdue } if *agent == referee(1))
    })
}

/// The first referee is given the match, and when it loses it.
fn overdue_after(mut desk: Desk) -> Duration {
    let given = desk.now;
    assert_eq!(desk.open_matches()[0].3, RefereeId::numbered(1));
    while !suspended(&desk) {
        desk.pass(Duration::from_secs(1));
        desk.settle_received();
    }
    desk.now.since(given)
}

#[test]
fn a_briefing_carries_the_managers_windows_and_retry_policy() {
    let settings = LeagueSettings {
        timing: Timing {
            retry: RetryPolicy::EXPONENTIAL,
            ..short().timing
        },
        ..quick()
    };
    let desk = Desk::started(settings, 2, 1);
    let sent = desk.sent_to(&referee_endpoint(1));
    let briefing = sent.iter().find_map(|body| match body {
        Body::RoundAnnouncement(round) => round.matches[0].briefing.clone(),
        _ => None,
    });
    let expected = Timeouts {
        join_ms: Some(1_000),
        choice_ms: Some(1_000),
        retries: Some(3),
        retry_delay_ms: Some(1_000),
        retry_delay_max_ms: Some(30_000),
    };
    assert_eq!(briefing.unwrap().timeouts, Some(expected));
}

#[test]
fn a_referee_that_takes_the_managers_timeouts_is_overdue_by_them() {
    let bound = short().overdue_after(&short().timing);
    assert_eq!(
        overdue_after(with_referee(short(), referee_meta(1, 10))),
        bound
    );
}

#[test]
fn one_that_allows_less_is_overdue_earlier() {
    let timeouts = Timeouts {
        retries: Some(0),
        ..Timeouts::default()
    };
    let meta = RefereeMeta {
        timeouts: Some(timeouts),
        ..referee_meta(1, 10)
    };
    let bound = short().overdue_after(&short().timing.within(&timeouts));
    assert_eq!(overdue_after(with_referee(short(), meta)), bound);
}

#[test]
fn one_that_cannot_be_handed_timeouts_has_the_time_that_the_sources_give_it() {
    let meta = RefereeMeta {
        capabilities: Vec::new(),
        ..referee_meta(1, 10)
    };
    let bound = short().overdue_after(&Timing::default());
    assert_eq!(overdue_after(with_referee(short(), meta)), bound);
}

#[test]
fn one_of_another_make_that_announces_its_own_has_the_time_for_these() {
    let timeouts = Timeouts {
        choice_ms: Some(60_000),
        ..Timeouts::default()
    };
    let meta = RefereeMeta {
        capabilities: Vec::new(),
        timeouts: Some(timeouts),
        ..referee_meta(1, 10)
    };
    let bound = short().overdue_after(&Timing::default().assigned(&timeouts));
    assert_eq!(overdue_after(with_referee(short(), meta)), bound);
}

#[test]
fn a_referee_that_lost_a_match_by_its_time_is_told_to_stop_that_attempt() {
    let mut desk = with_referee(short(), referee_meta(1, 10));
    desk.pass(short().overdue_after(&short().timing));
    let told = desk.outbox.iter().find_map(|call| match &call.payload {
        Payload::Message(message) if call.to == referee_endpoint(1) => Some(message.clone()),
        _ => None,
    });
    let told = told.unwrap();
    assert_eq!(error_code(&told.body), ErrorCode::ResultConflict);
    let attempt = ConversationId::of_match(&MatchId::new("R1M1"), Attempt(1));
    assert_eq!(told.envelope.conversation_id, attempt);
}
