//! Which referees are given the matches of players with keys, and what a result is worth that nobody proved.

use crate::desk::*;
use crate::proof::{Played, holder, mixed_league, p, proof, r1m1, send};
use matchday_core::agent::{Agent, Answer, Payload};
use matchday_core::league::{
    ATTEMPTS_PER_REFEREE_MAX, LeagueEvent, LeagueSettings, LossCause, ProofRule, ResultProof,
    Suspicion,
};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Attempt, Body, ErrorCode, Message, RefereeId, Sender, Token};
use std::sync::Arc;
use std::time::Duration;

const PROVES: &[&str] = &[MATCH_TOKENS, BRIEFING, DRAW_2];
const DOES_NOT: &[&str] = &[MATCH_TOKENS, BRIEFING];

const OPERATOR: &str = "tok_operator_secret";

/// The first referee does not prove, and the second does.
fn mixed(keyed: &[u32]) -> Desk {
    let settings = LeagueSettings {
        operator_token: Some(Token::new(OPERATOR).hash()),
        ..quick()
    };
    mixed_league(settings, keyed, &[DOES_NOT, PROVES])
}

fn optional() -> LeagueSettings {
    LeagueSettings {
        proof: ProofRule::Optional,
        ..quick()
    }
}

fn ref_id(number: u32) -> RefereeId {
    RefereeId::numbered(number)
}

/// A report of what nobody chose and nobody drew, with nothing to prove it.
fn invented(desk: &Desk) -> MatchResultReport {
    desk.report_of("R1M1", (0, 3))
}

fn order(desk: &mut Desk, order: Order, agent: Option<&str>) -> Body {
    desk.tokens.insert(Sender::Launcher, Token::new(OPERATOR));
    let league_id = league_id();
    let agent_id = agent.map(Into::into);
    desk.ask_as(
        &Sender::Launcher,
        LeagueOrder {
            league_id,
            order,
            player_id: None,
            match_id: None,
            agent_id,
            join_code: None,
        },
    )
}

fn waiting(desk: &Desk) -> u32 {
    desk.manager.status().matches_awaiting_prover
}

/// The prover can be reached no more, and the match is taken from it.
fn lose_the_prover(desk: &mut Desk) {
    let agent = referee(2);
    let suspended = LeagueEvent::AgentSuspended {
        agent,
        cause: Suspicion::Unreachable,
    };
    let lost = LeagueEvent::AttemptLost {
        match_id: r1m1(),
        attempt: Attempt(1),
        referee_id: ref_id(2),
        culprit: Culprit::Referee,
        reason: "the match could not be assigned to it".into(),
        cause: LossCause::Unreachable,
    };
    for event in [suspended, lost] {
        desk.manager.apply(desk.now, &event);
        desk.events.push((desk.now, event));
    }
}

#[test]
fn a_match_of_players_with_keys_is_planned_for_and_given_to_a_referee_that_proves() {
    for keyed in [&[1, 2][..], &[1], &[2]] {
        let desk = mixed(keyed);
        assert_eq!(holder(&desk), Some(ref_id(2)), "{keyed:?}");
        assert_eq!(
            desk.manager.league().matches[&r1m1()].planned,
            Some(ref_id(2))
        );
    }
}

#[test]
fn a_match_of_players_without_keys_is_given_to_any_referee_and_has_nothing_to_prove() {
    let mut desk = mixed(&[]);
    assert_eq!(holder(&desk), Some(ref_id(1)));
    let report = invented(&desk);
    assert!(matches!(
        send(&mut desk, 1, report),
        Body::MatchResultAck(_)
    ));
    assert_eq!(proof(&desk), Some(ResultProof::Unprovable));
    assert_eq!(desk.manager.status().results_unproven, 0);
}

#[test]
fn a_referee_that_no_longer_announces_the_scheme_is_bound_by_the_players_keys() {
    let mut desk = mixed(&[1, 2]);
    let meta = RefereeMeta {
        capabilities: vec![MATCH_TOKENS.into()],
        ..referee_meta(2, 2)
    };
    let dialect = Dialect::Standard;
    let request = requested(desk.now);
    let renounced = LeagueEvent::RefereeRejoined {
        referee_id: ref_id(2),
        meta,
        dialect,
        request,
    };
    desk.manager.apply(desk.now, &renounced);
    let report = invented(&desk);
    let Body::LeagueError(error) = send(&mut desk, 1, report) else {
        panic!("it was recorded")
    };
    assert_eq!(error.error_code, ErrorCode::InvalidFormat);
    assert_eq!(
        error.context.as_ref().unwrap()["path"],
        "result.details.fairness"
    );
    assert_eq!(desk.manager.league().matches_decided, 0);
}

#[test]
fn each_player_with_a_key_is_protected_also_where_the_other_has_none() {
    let mut desk = mixed(&[1]);
    let mut report = Played {
        keyed: vec![1],
        ..Played::new(1)
    }
    .report(&desk);
    Arc::make_mut(&mut report.result)
        .details
        .fairness
        .as_mut()
        .unwrap()
        .signatures = None;
    assert_eq!(
        error_code(&send(&mut desk, 1, report)),
        ErrorCode::InvalidFormat
    );
    let mut desk = mixed(&[1]);
    let report = Played {
        keyed: vec![1],
        ..Played::new(1)
    }
    .report(&desk);
    assert!(matches!(
        send(&mut desk, 1, report),
        Body::MatchResultAck(_)
    ));
    assert_eq!(proof(&desk), Some(ResultProof::Proven));
}

#[test]
fn whether_proofs_are_required_is_decided_once_and_recorded() {
    let required = |desk: &Desk| {
        desk.events.iter().find_map(|(_, event)| match event {
            LeagueEvent::LeagueStarted {
                proofs_required, ..
            } => Some(*proofs_required),
            _ => None,
        })
    };
    assert_eq!(required(&mixed(&[1, 2])), Some(true));
    assert_eq!(
        required(&mixed_league(quick(), &[1, 2], &[DOES_NOT])),
        Some(false)
    );
    assert_eq!(
        required(&mixed_league(optional(), &[1, 2], &[DOES_NOT, PROVES])),
        Some(false)
    );
    let mut desk = mixed(&[1, 2]);
    desk.crash();
    assert!(desk.manager.league().proofs_required);
}

#[test]
fn where_no_referee_proves_results_count_and_are_unproven() {
    let mut desk = mixed_league(quick(), &[1, 2], &[DOES_NOT]);
    let report = invented(&desk);
    assert!(matches!(
        send(&mut desk, 1, report),
        Body::MatchResultAck(_)
    ));
    assert_eq!(proof(&desk), Some(ResultProof::Unproven));
    assert_eq!(desk.manager.status().results_unproven, 1);
}

#[test]
fn where_proofs_are_optional_every_referee_is_given_every_match() {
    let mut desk = mixed_league(optional(), &[1, 2], &[DOES_NOT, PROVES]);
    assert_eq!(holder(&desk), Some(ref_id(1)));
    let report = invented(&desk);
    assert!(matches!(
        send(&mut desk, 1, report),
        Body::MatchResultAck(_)
    ));
    assert_eq!(proof(&desk), Some(ResultProof::Unproven));
}

#[test]
fn a_proof_that_nobody_asked_for_counts_as_one() {
    let mut desk = mixed_league(optional(), &[1, 2], &[DOES_NOT]);
    let report = Played::new(1).report(&desk);
    assert!(matches!(
        send(&mut desk, 1, report),
        Body::MatchResultAck(_)
    ));
    assert_eq!(proof(&desk), Some(ResultProof::Proven));
}

#[test]
fn nobody_can_prove_that_a_player_was_silent() {
    let mut desk = mixed(&[1, 2]);
    let mut report = desk.report_of("R1M1", (3, 0));
    let result = Arc::make_mut(&mut report.result);
    result.status = Some(GameStatus::TechnicalLoss);
    let choices = ByPlayer::pair((p(1), None), (p(2), None));
    let details = ParityDetails {
        drawn_number: None,
        number_parity: None,
        choices,
    };
    result.details = ResultDetails::of(GameDetails::Parity(details));
    assert!(matches!(
        send(&mut desk, 1, report),
        Body::MatchResultAck(_)
    ));
    assert_eq!(proof(&desk), Some(ResultProof::Unprovable));
}

#[test]
fn a_prover_that_is_lost_is_waited_for_until_it_is_back() {
    let mut desk = mixed(&[1, 2]);
    assert_eq!(waiting(&desk), 0);
    lose_the_prover(&mut desk);
    assert_eq!(
        waiting(&desk),
        1,
        "the status says what the league waits for"
    );
    desk.crash();
    for _ in 0..20 {
        desk.pass(Duration::from_secs(30));
        desk.answer_calls(|call| {
            if call.to == referee_endpoint(2) {
                UNREACHABLE
            } else {
                Answer::Received
            }
        });
        assert_ne!(holder(&desk), Some(ref_id(1)));
    }
    assert_eq!(waiting(&desk), 1);
    // It answers a probe.
    desk.pass(Duration::from_secs(30));
    desk.settle_received();
    assert_eq!((holder(&desk), waiting(&desk)), (Some(ref_id(2)), 0));
}

#[test]
fn the_token_of_the_only_prover_is_no_door_to_the_others() {
    let mut desk = mixed(&[1, 2]);
    order(&mut desk, Order::Revoke, Some("REF02"));
    desk.pass(Duration::from_secs(600));
    assert_eq!((holder(&desk), waiting(&desk)), (None, 1));
    order(&mut desk, Order::Rotate, Some("REF02"));
    assert_eq!(
        waiting(&desk),
        0,
        "it has a token again, and is given the match when it comes"
    );
}

#[test]
fn a_prover_that_loses_every_attempt_gives_the_match_to_nobody_else() {
    let mut desk = mixed(&[1, 2]);
    for attempt in 1..=u32::try_from(ATTEMPTS_PER_REFEREE_MAX).unwrap() {
        assert_eq!(holder(&desk), Some(ref_id(2)), "attempt {attempt}");
        let context = serde_json::json!({"match_id": "R1M1"}).as_object().cloned();
        desk.ask_any_as(
            &referee(2),
            LeagueError::new(ErrorCode::Internal, "no", None, context),
        );
        desk.pass(Duration::from_secs(3));
        desk.settle_received();
    }
    let decision = desk.manager.league().matches[&r1m1()]
        .decision
        .clone()
        .unwrap();
    assert_eq!(
        (decision.status, decision.by.id()),
        (GameStatus::Draw, "league_manager")
    );
    assert_eq!(decision.proof, ResultProof::Unprovable);
}

#[test]
fn the_operator_may_give_the_matches_that_wait_to_every_referee() {
    let mut desk = mixed(&[1, 2]);
    lose_the_prover(&mut desk);
    assert!(matches!(
        order(&mut desk, Order::AllowUnproven, None),
        Body::LeagueStatus(_)
    ));
    assert_eq!((holder(&desk), waiting(&desk)), (Some(ref_id(1)), 0));
    let report = invented(&desk);
    assert!(matches!(
        send(&mut desk, 2, report),
        Body::MatchResultAck(_)
    ));
    assert_eq!(proof(&desk), Some(ResultProof::Unproven));
    let again = order(&mut desk, Order::AllowUnproven, None);
    assert_eq!(error_code(&again), ErrorCode::InvalidState);
}

#[test]
fn a_player_cannot_allow_it() {
    let mut desk = mixed(&[1, 2]);
    let allow = LeagueOrder {
        league_id: league_id(),
        order: Order::AllowUnproven,
        player_id: None,
        match_id: None,
        agent_id: None,
        join_code: None,
    };
    let answer = desk.ask_as(&referee(1), allow);
    assert!(matches!(answer, Body::LeagueError(_)), "{answer:?}");
    assert!(desk.manager.league().proofs_required);
}

#[test]
fn a_referee_that_is_passed_over_is_told_why() {
    let mut desk = mixed_league(quick(), &[1, 2], &[DOES_NOT, PROVES]);
    desk.crash();
    let remarks = |number| -> Vec<Option<String>> {
        let calls = desk
            .outbox
            .iter()
            .filter(|call| call.to == referee_endpoint(number));
        calls
            .filter_map(|call| match &call.payload {
                Payload::Message(Message {
                    body: Body::RoundAnnouncement(round),
                    ..
                }) => Some(round.remark.as_ref().map(|remark| remark.raw().to_owned())),
                _ => None,
            })
            .collect()
    };
    let told = remarks(1);
    assert!(
        matches!(&told[..], [Some(remark)] if remark.contains("does not announce draw-2")),
        "{told:?}"
    );
    assert!(remarks(2).iter().all(Option::is_none));
    let listed = desk.manager.league().referee_listings().referees;
    assert_eq!(
        [
            listed[0].without_keyed_matches,
            listed[1].without_keyed_matches
        ],
        [true, false]
    );
}
