//! Attempts that come to nothing by no fault of the players are played again; losses say whose fault they were.

use crate::desk::*;
use matchday_core::agent::{Answer, Content, Failure};
use matchday_core::league::{DecidedBy, EndpointCheck, LeagueEvent, LeagueSettings, Suspicion};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{
    Attempt, Body, ConversationId, ErrorCode, MatchId, Message, PlayerId, RefereeId, Sender,
};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

fn hand_back(desk: &mut Desk, from: &Sender, match_id: &str, attempt: u32) -> Content {
    let context = json!({"match_id": match_id, "culprit": "infrastructure"})
        .as_object()
        .cloned();
    let error = LeagueError::new(ErrorCode::Internal, "no handles left", None, context);
    let mut message = desk.message(from, error);
    message.envelope.conversation_id =
        ConversationId::of_match(&MatchId::new(match_id), Attempt(attempt));
    let ask = matchday_core::agent::Ask::Message(Ok(incoming(message)));
    desk.ask_any(ask, false).pop().expect("it is answered")
}

fn refused(content: &Content) -> ErrorCode {
    match content {
        Content::Message(Message { body, .. }) => error_code(body),
        other => panic!("no refusal: {other:?}"),
    }
}

fn holder(desk: &Desk, match_id: &str) -> Option<RefereeId> {
    desk.open_matches()
        .into_iter()
        .find(|(id, ..)| id.as_str() == match_id)
        .map(|(.., referee)| referee)
}

#[test]
fn a_match_that_is_handed_back_goes_to_another_referee_and_nobody_loses() {
    let mut desk = Desk::started(quick(), 2, 2);
    desk.settle_received();
    let first = holder(&desk, "R1M1").unwrap();
    assert_eq!(
        hand_back(&mut desk, &Sender::Referee(first.clone()), "R1M1", 1),
        Content::Received
    );
    let lost = desk.events.iter().find_map(|(_, event)| match event {
        LeagueEvent::AttemptLost {
            attempt,
            referee_id,
            culprit,
            reason,
            ..
        } => Some((*attempt, referee_id.clone(), *culprit, reason.clone())),
        _ => None,
    });
    assert_eq!(
        lost,
        Some((
            Attempt(1),
            first.clone(),
            Culprit::Infrastructure,
            "no handles left".into()
        ))
    );
    assert_eq!(holder(&desk, "R1M1"), None, "it rests a little");
    desk.pass(Duration::from_secs(2));
    let second = holder(&desk, "R1M1").unwrap();
    assert_ne!(second, first);
    desk.report("R1M1", (3, 0));
    assert_eq!(desk.manager.league().phase, Phase::Completed);
}

#[test]
fn the_only_referee_gets_the_match_again_later() {
    let mut desk = Desk::started(quick(), 2, 1);
    desk.settle_received();
    hand_back(&mut desk, &referee(1), "R1M1", 1);
    desk.pass(Duration::from_secs(2));
    assert_eq!(
        desk.manager.league().matches[&MatchId::new("R1M1")].attempt(),
        Some(Attempt(2))
    );
}

#[test]
fn a_match_that_was_handed_back_is_given_out_again_after_a_restart() {
    let mut desk = Desk::started(quick(), 2, 2);
    desk.settle_received();
    let first = holder(&desk, "R1M1").unwrap();
    hand_back(&mut desk, &Sender::Referee(first.clone()), "R1M1", 1);
    desk.crash();
    desk.players_hear_of_the_round();
    assert!(holder(&desk, "R1M1").is_some_and(|second| second != first));
}

#[test]
fn only_the_referee_of_a_match_can_hand_it_back_and_only_while_it_has_it() {
    let mut desk = Desk::started(quick(), 2, 2);
    desk.settle_received();
    let first = Sender::Referee(holder(&desk, "R1M1").unwrap());
    let other = if first == referee(1) {
        referee(2)
    } else {
        referee(1)
    };
    assert_eq!(
        refused(&hand_back(&mut desk, &other, "R1M1", 1)),
        ErrorCode::TokenInvalid
    );
    assert_eq!(
        refused(&hand_back(&mut desk, &first, "R9M9", 1)),
        ErrorCode::MatchNotFound
    );
    assert_eq!(hand_back(&mut desk, &first, "R1M1", 7), Content::Received);
    assert!(
        holder(&desk, "R1M1").is_some(),
        "another attempt is none of this one's business"
    );
    hand_back(&mut desk, &first, "R1M1", 1);
    let events = desk.events.len();
    assert_eq!(hand_back(&mut desk, &first, "R1M1", 1), Content::Received);
    assert_eq!(desk.events.len(), events, "the same again changes nothing");
    assert_eq!(
        refused(&hand_back(&mut desk, &player(1), "R1M1", 1)),
        ErrorCode::TokenMissing
    );
}

#[test]
fn an_error_that_hands_nothing_back_is_refused() {
    let mut desk = Desk::started(quick(), 2, 1);
    let error = LeagueError::new(ErrorCode::Timeout, "what now", None, None);
    assert_eq!(
        error_code(&desk.ask_as(&referee(1), error)),
        ErrorCode::InvalidState
    );
}

/// Players that neither their referees nor the manager can reach do not keep a league from its end.
#[test]
fn players_whom_nobody_reaches_are_suspended_when_the_manager_has_seen_it_itself() {
    let mut desk = Desk::started(quick(), 2, 2);
    desk.settle_received();
    for attempt in 1..=2 {
        let by = Sender::Referee(holder(&desk, "R1M1").unwrap());
        hand_back(&mut desk, &by, "R1M1", attempt);
        let unreachable = [player_endpoint(1), player_endpoint(2)];
        desk.answer_calls(|call| {
            if unreachable.contains(&call.to) {
                Answer::Undelivered(Failure::NoRoute)
            } else {
                Answer::Received
            }
        });
        desk.pass(Duration::from_secs(3));
    }
    desk.report("R1M1", (0, 0));
    assert_eq!(desk.manager.league().phase, Phase::Completed);
    let decision = desk.manager.league().matches[&MatchId::new("R1M1")]
        .decision
        .clone()
        .unwrap();
    for number in [1, 2] {
        let blame = decision.blame(&PlayerId::numbered(number)).unwrap();
        assert_eq!(
            (blame.culprit, blame.cause),
            (Culprit::Player, Cause::Suspended)
        );
    }
}

#[test]
fn a_manager_that_cannot_reach_them_by_its_own_fault_suspends_nobody() {
    let mut desk = Desk::started(quick(), 2, 2);
    desk.settle_received();
    for attempt in 1..=2 {
        let by = Sender::Referee(holder(&desk, "R1M1").unwrap());
        hand_back(&mut desk, &by, "R1M1", attempt);
        desk.answer_calls(|_| Answer::Undelivered(Failure::Ours));
        desk.pass(Duration::from_secs(3));
    }
    let states: Vec<_> = desk
        .manager
        .league()
        .players
        .values()
        .map(|player| player.state)
        .collect();
    assert_eq!(states, [Lifecycle::Active, Lifecycle::Active]);
}

#[test]
fn an_agent_that_was_not_probed_by_our_own_fault_is_not_suspended_at_the_start() {
    let settings = LeagueSettings {
        endpoint_check: EndpointCheck::AtStart,
        ..quick()
    };
    let mut desk = Desk::with(settings, 2, 1);
    desk.outbox.clear();
    desk.start();
    desk.answer_calls(|_| Answer::Undelivered(Failure::Ours));
    desk.pass(Duration::from_secs(3));
    assert!(
        !desk
            .events
            .iter()
            .any(|(_, event)| matches!(event, LeagueEvent::AgentSuspended { .. }))
    );
}

#[test]
fn a_referee_that_does_not_report_is_named_as_the_culprit() {
    let mut desk = Desk::started(quick(), 2, 2);
    desk.settle_received();
    desk.pass(quick().overdue_after(&quick().timing));
    let culprits = desk.events.iter().filter_map(|(_, event)| match event {
        LeagueEvent::AttemptLost { culprit, .. } => Some(*culprit),
        _ => None,
    });
    assert_eq!(culprits.collect::<Vec<_>>(), [Culprit::Referee]);
}

#[test]
fn a_report_may_blame_those_who_lost_for_their_own_fault_and_nobody_else() {
    let blame = |culprit| Blame {
        culprit,
        ..Blame::on_player(Cause::Silent)
    };
    let a = PlayerId::numbered(1);
    let b = PlayerId::numbered(2);
    let cases = [
        (vec![(b.clone(), blame(Culprit::Player))], true),
        (vec![(b.clone(), blame(Culprit::Infrastructure))], false),
        (vec![(b.clone(), blame(Culprit::Referee))], false),
        (vec![(a.clone(), blame(Culprit::Player))], false),
        (
            vec![(a, blame(Culprit::Player)), (b, blame(Culprit::Player))],
            false,
        ),
        (vec![], false),
    ];
    for (blamed, accepted) in cases {
        let mut desk = Desk::started(quick(), 2, 1);
        let mut report = desk.report_of("R1M1", (3, 0));
        let result = Arc::make_mut(&mut report.result);
        result.status = Some(GameStatus::TechnicalLoss);
        result.details.blame = Some(Box::new(blamed.iter().cloned().collect()));
        let answer = desk.ask_as(&referee(1), report);
        assert_eq!(
            matches!(answer, Body::MatchResultAck(_)),
            accepted,
            "{blamed:?}: {answer:?}"
        );
    }
}

#[test]
fn a_players_statistics_say_why_it_lost_without_play() {
    let mut desk = Desk::started(quick(), 2, 1);
    let mut report = desk.report_of("R1M1", (3, 0));
    Arc::make_mut(&mut report.result).status = Some(GameStatus::TechnicalLoss);
    desk.ask_as(&referee(1), report);
    let query = LeagueQuery {
        league_id: league_id(),
        query_type: Query::PlayerStats,
        query_params: QueryParams {
            player_id: Some(PlayerId::numbered(2)),
            ..QueryParams::default()
        },
    };
    let Body::LeagueQueryResponse(answer) = desk.ask_as(&referee(1), query) else {
        panic!()
    };
    let stats = answer.data.clone().unwrap();
    assert_eq!(
        stats["stats"]["technical_causes"],
        json!({"unstated": 1}),
        "a foreign referee does not say"
    );
}

/// Hands R1M1 back as the referee that has it, until nobody has it or so often.
fn hand_back_all(desk: &mut Desk, most: u32) -> u32 {
    for count in 0..most {
        desk.settle_received();
        let Some(by) = holder(desk, "R1M1") else {
            return count;
        };
        let attempt = desk.manager.league().matches[&MatchId::new("R1M1")]
            .attempt()
            .unwrap();
        hand_back(desk, &Sender::Referee(by), "R1M1", attempt.0);
        desk.pass(Duration::from_secs(3));
    }
    most
}

#[test]
fn a_referee_that_hands_a_match_back_again_and_again_gets_no_more_draws_of_it() {
    let mut desk = Desk::started(quick(), 2, 1);
    assert_eq!(hand_back_all(&mut desk, 20), 5);
    let decision = desk.manager.league().matches[&MatchId::new("R1M1")]
        .decision
        .clone()
        .unwrap();
    assert_eq!(
        (decision.status, &decision.by),
        (GameStatus::Draw, &DecidedBy::Manager)
    );
    assert_eq!(decision.result.winner, None);
    assert!(
        decision
            .result
            .reason
            .as_ref()
            .unwrap()
            .raw()
            .contains("no referee could play it: 5 attempts were aborted (no handles left)")
    );
    assert!(
        decision.blame(&PlayerId::numbered(1)).is_none(),
        "nobody is to blame"
    );
    assert_eq!(desk.manager.league().phase, Phase::Completed);
}

#[test]
fn a_match_goes_round_all_referees_before_one_has_it_twice() {
    let mut desk = Desk::started(quick(), 2, 3);
    hand_back_all(&mut desk, 3);
    let mut given = desk.manager.league().matches[&MatchId::new("R1M1")]
        .attempts
        .clone();
    given.truncate(3);
    given.sort();
    assert_eq!(given, [1, 2, 3].map(RefereeId::numbered));
}

/// Hands back the first open match of such a referee.
fn hand_back_first(desk: &mut Desk, is_meant: impl Fn(&RefereeId) -> bool) {
    if let Some((match_id, .., by)) = desk
        .open_matches()
        .into_iter()
        .find(|(.., by)| is_meant(by))
    {
        let attempt = desk.manager.league().matches[&match_id].attempt().unwrap();
        hand_back(desk, &Sender::Referee(by), match_id.as_str(), attempt.0);
    }
    desk.pass(Duration::from_secs(3));
}

/// A league of two referees, of which the first has handed back so much that it is barred.
fn with_a_barred_referee() -> Desk {
    let mut desk = Desk::started(quick(), 4, 2);
    while desk.manager.league().referees[&RefereeId::numbered(1)].lost <= 5 {
        desk.settle_received();
        assert!(!desk.open_matches().is_empty(), "a match is open");
        hand_back_first(&mut desk, |_| true);
    }
    desk
}

#[test]
fn a_barred_referee_that_is_gone_does_not_keep_a_match_from_being_decided() {
    let mut desk = with_a_barred_referee();
    for _ in 0..300 {
        desk.answer_calls(|call| {
            if call.to == referee_endpoint(1) {
                Answer::Undelivered(Failure::NoConnection)
            } else {
                Answer::Received
            }
        });
        hand_back_first(&mut desk, |by| *by == RefereeId::numbered(2));
    }
    assert_eq!(desk.manager.league().phase, Phase::Completed);
}

#[test]
fn a_referee_with_too_many_lost_attempts_is_suspended_and_no_sign_of_life_lifts_it() {
    let mut desk = with_a_barred_referee();
    let id = RefereeId::numbered(1);
    let causes = desk.events.iter().filter_map(|(_, event)| match event {
        LeagueEvent::AgentSuspended { agent, cause } if *agent == referee(1) => Some(*cause),
        _ => None,
    });
    assert_eq!(causes.collect::<Vec<_>>(), [Suspicion::HandBacks]);
    desk.pass(Duration::from_secs(10));
    desk.settle_received();
    let known = &desk.manager.league().referees[&id];
    assert!(known.is_suspended() && known.lost > 5, "{known:?}");
}
