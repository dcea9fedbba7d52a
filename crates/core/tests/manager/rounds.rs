//! Announcements, capacity, dead referees, and the end.

use crate::desk::*;
use matchday_core::agent::{Answer, Payload};
use matchday_core::league::{LeagueEvent, LeagueSettings};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Attempt, Body, ErrorCode, RefereeId, Sender};
use std::collections::BTreeMap;
use std::sync::Arc;

fn announcements(bodies: &[Body]) -> Vec<&RoundAnnouncement> {
    bodies
        .iter()
        .filter_map(|body| match body {
            Body::RoundAnnouncement(announcement) => Some(announcement.as_ref()),
            _ => None,
        })
        .collect()
}

#[test]
fn only_the_referee_is_told_the_endpoints_and_the_tokens_of_its_matches() {
    let desk = Desk::started(quick(), 2, 1);
    let to_referee = desk.sent_to(&referee_endpoint(1));
    let briefing = announcements(&to_referee)[1].matches[0]
        .briefing
        .as_ref()
        .unwrap();
    assert_eq!(briefing.player_a_endpoint, player_endpoint(1));
    assert!(briefing.player_b_tokens.is_some());
    for number in 1..=2 {
        let to_player = desk.sent_to(&player_endpoint(number));
        assert!(announcements(&to_player)[0].matches[0].briefing.is_none());
    }
}

#[test]
fn a_referee_that_does_not_speak_match_tokens_is_given_none_and_players_are_told() {
    let mut desk = Desk::new(quick());
    let meta = RefereeMeta {
        capabilities: Vec::new(),
        ..referee_meta(1, 2)
    };
    let response = desk.ask_as(
        &referee(1),
        RefereeRegisterRequest {
            referee_meta: meta,
            join_code: None,
        },
    );
    assert_eq!(answer_id(&response), referee(1));
    desk.register_player(1);
    desk.register_player(2);
    desk.start();
    desk.players_hear_of_the_round();
    let to_referee = desk.sent_to(&referee_endpoint(1));
    assert!(
        announcements(&to_referee)[0].matches[0]
            .briefing
            .as_ref()
            .unwrap()
            .player_a_tokens
            .is_none()
    );
    let to_player = desk.sent_to(&player_endpoint(1));
    assert_eq!(
        announcements(&to_player)[0].matches[0].match_tokens,
        Some(false)
    );
}

#[test]
fn each_agent_knows_the_managers_messages_by_a_token_of_its_own() {
    let desk = Desk::started(quick(), 2, 1);
    let mut tokens: Vec<_> = desk
        .outbox
        .iter()
        .map(|call| match &call.payload {
            Payload::Message(message) => message.envelope.auth_token.clone().unwrap(),
            Payload::Probe | Payload::Connect => panic!("no probes are sent in this league"),
        })
        .collect();
    let expected = desk.tokens[&referee(1)].hash().notice_token(&league_id());
    assert!(tokens.contains(&expected));
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 3);
}

#[test]
fn referees_share_the_matches_by_capacity_and_the_rest_wait_their_turn() {
    let mut desk = Desk::new(quick());
    desk.register_referee(1, 1);
    desk.register_referee(2, 2);
    (1..=12).for_each(|number| {
        desk.register_player(number);
    });
    desk.start();
    desk.players_hear_of_the_round();
    let mut seen: BTreeMap<RefereeId, usize> = BTreeMap::new();
    while desk.manager.league().current_round == 1 {
        let open = desk.open_matches();
        let held = |number| {
            open.iter()
                .filter(|(.., by)| Sender::Referee(by.clone()) == referee(number))
                .count()
        };
        assert!(held(1) <= 1 && held(2) <= 2, "{open:?}");
        let (match_id, .., by) = open[0].clone();
        *seen.entry(by).or_default() += 1;
        desk.report(match_id.as_str(), (3, 0));
    }
    assert_eq!((seen.len(), seen.values().sum::<usize>()), (2, 6));
}

#[test]
fn a_round_ends_only_when_every_match_is_decided_and_the_next_one_follows() {
    let mut desk = Desk::started(quick(), 4, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    assert_eq!(desk.manager.league().current_round, 1);
    desk.report("R1M2", (1, 1));
    assert_eq!(desk.manager.league().current_round, 2);
}

#[test]
fn after_the_last_match_of_a_round_the_table_comes_before_the_rounds_end() {
    let mut desk = Desk::started(quick(), 2, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    let heard = desk.listen(&player_endpoint(1));
    assert_eq!(
        heard,
        [
            "LEAGUE_STANDINGS_UPDATE",
            "ROUND_COMPLETED",
            "LEAGUE_COMPLETED"
        ]
    );
}

#[test]
fn the_summary_of_a_round_adds_up() {
    let mut desk = Desk::started(quick(), 6, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    desk.report("R1M2", (1, 1));
    desk.report("R1M3", (0, 0));
    let sent = desk.sent_to(&referee_endpoint(1));
    let summary = sent.iter().find_map(|body| match body {
        Body::RoundCompleted(completed) => Some(completed.summary),
        _ => None,
    });
    assert_eq!(
        summary.unwrap(),
        RoundSummary {
            total_matches: 3,
            wins: 1,
            draws: 1,
            technical_losses: 1
        }
    );
}

#[test]
fn a_table_that_has_not_gone_out_is_replaced_by_a_newer_one() {
    let mut desk = Desk::started(quick(), 8, 1);
    desk.settle_received();
    for match_id in ["R1M1", "R1M2", "R1M3"] {
        desk.report(match_id, (3, 0));
        desk.pass(quick().standings_pause);
    }
    // The first table is still unanswered: the others wait behind it, and only the newer is kept.
    let first = desk
        .outbox
        .iter()
        .position(|call| call.to == player_endpoint(1))
        .unwrap();
    let call = desk.outbox.remove(first);
    desk.hand_in(matchday_core::agent::Input::Answer {
        call: call.call,
        dialect: Dialect::Standard,
        answer: Answer::Received,
    });
    let sent = desk.sent_to(&player_endpoint(1));
    let [Body::LeagueStandingsUpdate(update)] = &sent[..] else {
        panic!("expected one table, got {sent:?}")
    };
    assert_eq!(
        update.standings.iter().map(|row| row.played).sum::<u32>(),
        6
    );
}

#[test]
fn a_match_that_is_not_reported_in_time_goes_to_another_referee_under_a_new_attempt() {
    let mut desk = Desk::started(quick(), 2, 2);
    desk.settle_received();
    let (.., first) = desk.open_matches()[0].clone();
    desk.pass(quick().overdue_after(&quick().timing));
    let (.., second) = desk.open_matches()[0].clone();
    assert_ne!(first, second);
    let Some(LeagueEvent::MatchAssigned { attempt, .. }) = desk
        .events
        .iter()
        .map(|(_, event)| event)
        .rfind(|event| matches!(event, LeagueEvent::MatchAssigned { .. }))
    else {
        panic!("the match was assigned");
    };
    assert_eq!(*attempt, Attempt(2));
    let to_player = desk.sent_to(&player_endpoint(1));
    let told = announcements(&to_player)[0].matches[0]
        .conversation_id
        .clone()
        .unwrap();
    assert_eq!(told.as_str(), "conv-r1m1-002");
}

#[test]
fn a_referee_that_cannot_be_told_of_its_match_loses_it_at_once() {
    let mut desk = Desk::started(quick(), 2, 2);
    let (.., first) = desk.open_matches()[0].clone();
    let Sender::Referee(dead) = referee(1) else {
        unreachable!()
    };
    assert_eq!(first, dead);
    for _ in 0..=3 {
        desk.answer_calls(|call| {
            if call.to == referee_endpoint(1) {
                UNREACHABLE
            } else {
                Answer::Received
            }
        });
        desk.pass(std::time::Duration::from_secs(2));
    }
    let (.., second) = desk.open_matches()[0].clone();
    assert_ne!(second, dead);
}

#[test]
fn a_late_report_of_the_first_attempt_counts_if_it_is_the_first_and_the_other_referee_is_told() {
    let mut desk = Desk::started(quick(), 2, 2);
    desk.settle_received();
    let (.., first) = desk.open_matches()[0].clone();
    desk.pass(quick().overdue_after(&quick().timing));
    desk.settle_received();
    let (.., second) = desk.open_matches()[0].clone();
    let report = desk.report_of("R1M1", (3, 0));
    let ack = desk.ask_as(&Sender::Referee(first), report);
    assert!(matches!(ack, Body::MatchResultAck(_)), "{ack:?}");
    let port = if Sender::Referee(second.clone()) == referee(1) {
        1
    } else {
        2
    };
    let told = desk.sent_to(&referee_endpoint(port));
    assert!(
        told.iter()
            .any(|body| matches!(body, Body::LeagueError(error)
        if error.error_code == ErrorCode::ResultConflict))
    );
    let late = desk.report_of("R1M1", (0, 3));
    assert_eq!(
        error_code(&desk.ask_as(&Sender::Referee(second), late)),
        ErrorCode::ResultConflict
    );
}

#[test]
fn with_three_players_each_sits_out_one_round() {
    let mut desk = Desk::started(quick(), 3, 1);
    let byes: Vec<_> = desk
        .manager
        .league()
        .rounds
        .iter()
        .map(|round| round.bye.clone().unwrap())
        .collect();
    assert_eq!(byes.len(), 3);
    desk.play_out();
    assert_eq!(desk.manager.league().matches_decided, 3);
}

#[test]
fn the_champion_is_first_in_the_table_and_everyone_hears_of_it() {
    let mut desk = Desk::started(quick(), 4, 2);
    desk.play_out();
    let champion = desk.manager.league().champion.clone().unwrap();
    assert_eq!(champion, desk.manager.league().standings()[0].player);
    let mut told = 0;
    let mut ends = Vec::new();
    desk.answer_calls(|call| {
        if let Payload::Message(message) = &call.payload
            && let Body::LeagueCompleted(end) = &message.body
        {
            told += 1;
            ends.push(end.clone());
        }
        Answer::Received
    });
    assert_eq!(told, 6);
    assert!(
        ends.iter()
            .all(|end| end.champion.player_id == champion && end.total_matches == 6)
    );
    assert!(
        ends[0]
            .final_standings
            .iter()
            .all(|row| row.display_name.is_some())
    );
}

#[test]
fn a_dialect_that_turns_out_otherwise_is_remembered() {
    let mut desk = Desk::with(quick(), 2, 1);
    desk.start();
    let call = desk
        .outbox
        .iter()
        .find(|call| call.to == player_endpoint(1))
        .unwrap()
        .clone();
    let dialect = Dialect::HandleMessage;
    desk.hand_in(matchday_core::agent::Input::Answer {
        call: call.call,
        dialect,
        answer: Answer::Received,
    });
    desk.crash();
    let call = desk
        .outbox
        .iter()
        .find(|call| call.to == player_endpoint(1))
        .unwrap();
    assert_eq!(call.dialect, Dialect::HandleMessage);
}

#[test]
fn three_technical_losses_in_a_row_suspend_a_player_until_it_answers() {
    let settings = LeagueSettings {
        suspend_after: 3,
        ..quick()
    };
    let mut desk = Desk::started(settings, 6, 1);
    let absent = match player(1) {
        Sender::Player(id) => id,
        _ => unreachable!(),
    };
    while !desk.manager.league().players[&absent].is_suspended() {
        desk.answer_calls(|call| {
            if call.to == player_endpoint(1) {
                UNREACHABLE
            } else {
                Answer::Received
            }
        });
        desk.pass(quick().timing.other);
        let (match_id, a, b, by) = desk.open_matches()[0].clone();
        let score = if a == absent { (0, 3) } else { (3, 0) };
        let mut report = desk.report_of(match_id.as_str(), score);
        if a == absent || b == absent {
            Arc::make_mut(&mut report.result).status = Some(GameStatus::TechnicalLoss);
        }
        desk.ask_as(&Sender::Referee(by), report);
    }
    assert_eq!(desk.manager.league().players[&absent].streak, 3);
    desk.pass(quick().probe_every);
    desk.settle_received();
    assert_eq!(
        desk.manager.league().players[&absent].state,
        Lifecycle::Active
    );
}

#[test]
fn a_match_whose_planned_referee_is_busy_goes_to_one_that_is_not_and_the_players_hear_of_it() {
    let mut desk = Desk::new(quick());
    desk.register_referee(1, 1);
    desk.register_referee(2, 1);
    (1..=6).for_each(|number| {
        desk.register_player(number);
    });
    desk.start();
    desk.players_hear_of_the_round();
    desk.settle_received();
    // Two of the three are planned for one referee, which is still at work on the first of them when the other is done.
    let waiting = desk.manager.league().waiting.first().unwrap().clone();
    let game = desk.manager.league().matches[&waiting].clone();
    let is_other = |id: &RefereeId| game.planned.as_ref() != Some(id);
    let second = desk
        .manager
        .league()
        .referees
        .keys()
        .find(|id| is_other(id))
        .unwrap()
        .clone();
    let (done, ..) = desk
        .open_matches()
        .into_iter()
        .find(|(.., by)| *by == second)
        .unwrap();
    desk.report(done.as_str(), (3, 0));
    assert!(
        desk.open_matches()
            .iter()
            .any(|(id, .., by)| *id == waiting && *by == second)
    );
    let told = desk.sent_to(&desk.manager.league().players[&game.a].meta.contact_endpoint);
    assert!(
        announcements(&told)
            .iter()
            .any(|round| round.matches[0].referee_id == Some(second.clone()))
    );
}

#[test]
fn the_table_at_the_end_of_a_round_is_not_lost_behind_a_newer_one() {
    let mut desk = Desk::started(quick(), 4, 1);
    // Player 1 never answers, so everything waits in its mailbox; then it is told all of it, one by one.
    desk.report("R1M1", (3, 0));
    desk.pass(quick().standings_pause);
    desk.report("R1M2", (3, 0));
    for number in 2..=4 {
        desk.listen(&player_endpoint(number));
    }
    desk.report("R2M2", (3, 0));
    desk.pass(quick().standings_pause);
    let heard = desk.listen(&player_endpoint(1));
    let end = heard
        .iter()
        .position(|name| *name == "ROUND_COMPLETED")
        .unwrap();
    assert_eq!(heard[end - 1], "LEAGUE_STANDINGS_UPDATE", "{heard:?}");
}

#[test]
fn an_agent_that_does_not_listen_is_not_told_everything_four_times() {
    let mut desk = Desk::with(quick(), 4, 1);
    desk.start();
    let dead = player_endpoint(1);
    let mut tries = 0;
    for _ in 0..4 {
        desk.answer_calls(|call| {
            tries += usize::from(call.to == dead);
            if call.to == dead {
                UNREACHABLE
            } else {
                Answer::Received
            }
        });
        desk.pass(std::time::Duration::from_secs(2));
    }
    assert_eq!(tries, 4, "the announcement, and three retries");
    desk.report("R1M1", (3, 0));
    desk.pass(quick().standings_pause);
    desk.report("R1M2", (3, 0));
    for _ in 0..4 {
        desk.answer_calls(|call| {
            tries += usize::from(call.to == dead);
            if call.to == dead {
                UNREACHABLE
            } else {
                Answer::Received
            }
        });
        desk.pass(std::time::Duration::from_secs(2));
    }
    assert!(
        tries <= 4 + 4,
        "one try each for the table, the round's end and the next announcement: {tries}"
    );
}
