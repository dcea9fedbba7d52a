//! Leagues whose rounds follow from their results.

use crate::desk::*;
use crate::orders::{give, operator};
use matchday_core::agent::{Agent, Ask, Content};
use matchday_core::entropy::Entropy;
use matchday_core::event_codec;
use matchday_core::league::format::{Competition, Format};
use matchday_core::league::{LeagueEvent, LeagueSettings, Manager, TieBreak};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{
    Body, ErrorCode, PlayerId, QueryRequest, RoundId, Sender, UntrustedText,
};
use serde_json::{Value, json};

fn of(competition: Competition) -> LeagueSettings {
    LeagueSettings {
        competition,
        operator_token: Some(operator().hash()),
        ..quick()
    }
}

fn knockout() -> LeagueSettings {
    of(Competition::of(Format::Knockout))
}

/// Reports all that is open, each as `score` says, until nothing is.
fn play_round(desk: &mut Desk, mut score: impl FnMut(&PlayerId, &PlayerId) -> (u32, u32)) {
    desk.settle_received();
    for (match_id, a, b, _) in desk.open_matches() {
        desk.report(match_id.as_str(), score(&a, &b));
    }
    desk.settle_received();
}

/// The lower number wins.
fn the_better(a: &PlayerId, b: &PlayerId) -> (u32, u32) {
    if a < b { (3, 0) } else { (0, 3) }
}

fn play_out(desk: &mut Desk, mut score: impl FnMut(&PlayerId, &PlayerId) -> (u32, u32)) {
    while desk.manager.league().phase == Phase::Running {
        play_round(desk, &mut score);
    }
}

fn titles(desk: &Desk) -> Vec<String> {
    let rounds = desk.manager.league().rounds.iter();
    rounds
        .filter_map(|round| round.drawn.as_ref().map(|drawn| drawn.title.clone()))
        .collect()
}

fn ask(desk: &mut Desk, query: impl Into<QueryRequest>) -> Value {
    match desk.ask_any(Ask::Query(query.into()), true).pop() {
        Some(Content::Message(message)) => match &message.body {
            Body::LeagueQueryResponse(response) => serde_json::to_value(response).unwrap(),
            Body::LeagueStatus(status) => serde_json::to_value(status).unwrap(),
            other => panic!("unexpected {other:?}"),
        },
        other => panic!("expected a message, got {other:?}"),
    }
}

fn every_format() -> Vec<Competition> {
    let best_of_three = |format| Competition {
        matches_per_pairing: 3,
        ..Competition::of(format)
    };
    let mut all: Vec<Competition> = Format::ENDING.into_iter().map(Competition::of).collect();
    all.extend(Format::ENDING.map(best_of_three));
    all.push(Competition {
        third_place: true,
        ..Competition::of(Format::Knockout)
    });
    all
}

#[test]
fn every_format_is_played_to_its_end_and_replays_to_the_same_league() {
    for competition in every_format() {
        for players in [4, 5, 7, 8] {
            let mut desk = Desk::started(of(competition.clone()), players, 2);
            let mut chance = Entropy::numbered(u64::from(players));
            play_out(&mut desk, |_, _| {
                *[(3, 0), (0, 3), (1, 1)]
                    .get(chance.below(3) as usize)
                    .unwrap()
            });
            let league = desk.manager.league();
            assert_eq!(league.phase, Phase::Completed, "{competition:?}");
            assert_eq!(
                league.champion.as_ref(),
                Some(&league.standings()[0].player)
            );
            let mut again = Manager::new(quick());
            for (at, event) in &desk.events {
                let line = event_codec::encode(*at, event).unwrap();
                let (at, event): (_, LeagueEvent) = event_codec::decode(&line).unwrap();
                again.apply(at, &event);
            }
            assert_eq!(again.league(), league, "{competition:?}");
        }
    }
}

#[test]
fn a_manager_killed_after_any_event_draws_the_same_rounds() {
    for competition in every_format() {
        let settings = of(competition.clone());
        let mut smooth = Desk::started(settings.clone(), 5, 2);
        play_out(&mut smooth, the_better);
        let started =
            |(_, event): &(_, LeagueEvent)| matches!(event, LeagueEvent::LeagueStarted { .. });
        let first = smooth.events.iter().position(started).unwrap() + 1;
        for kept in (first..smooth.events.len()).step_by(if competition.matches_per_pairing > 1 {
            5
        } else {
            1
        }) {
            let mut rough = Desk::started(settings.clone(), 5, 2);
            rough.events = smooth.events[..kept].to_vec();
            rough.crash();
            play_out(&mut rough, the_better);
            let one = rough.manager.league();
            let other = smooth.manager.league();
            assert_eq!(
                one.standings(),
                other.standings(),
                "{competition:?}, after event {kept}"
            );
            assert_eq!(
                titles(&rough),
                titles(&smooth),
                "{competition:?}, after event {kept}"
            );
        }
    }
}

#[test]
fn the_champion_of_a_knockout_is_the_winner_of_the_final() {
    let mut desk = Desk::started(knockout(), 8, 2);
    play_out(&mut desk, |a, b| if a < b { (0, 3) } else { (3, 0) });
    let league = desk.manager.league();
    assert_eq!(titles(&desk), ["Quarterfinals", "Semifinals", "Final"]);
    assert_eq!(league.champion, Some(PlayerId::numbered(8)));
    let rows = league.rows();
    assert_eq!(
        rows[0].rank_reason.as_ref().map(UntrustedText::raw),
        Some("ahead of P07 on stage reached")
    );
}

#[test]
fn the_schedule_names_the_rounds_and_says_how_many_are_to_come() {
    let mut desk = Desk::started(knockout(), 6, 2);
    let schedule = ask(&mut desk, Query::Schedule);
    let rounds = &schedule["data"]["rounds"];
    assert_eq!(rounds[0]["title"], "Quarterfinals");
    assert_eq!(rounds[0]["byes"], json!(["P01", "P02"]));
    assert_eq!(rounds.as_array().unwrap().len(), 1);
    assert_eq!(schedule["data"]["rounds_to_come"], 2);
    let third = QueryParams {
        round_id: Some(RoundId(3)),
        ..QueryParams::default()
    };
    let later = ask(&mut desk, QueryRequest::new(Query::Schedule, third));
    assert_eq!(later["success"], false);
    let why = later["error"]["error_description"].as_str().unwrap();
    assert!(why.contains("round 3 is not paired yet"), "{why}");
    let status = ask(&mut desk, Query::Status);
    assert_eq!(
        (&status["total_rounds"], &status["round_title"]),
        (&json!(3), &json!("Quarterfinals"))
    );
    play_out(&mut desk, the_better);
    let status = ask(&mut desk, Query::Status);
    assert_eq!(
        (&status["total_rounds"], &status["round_title"]),
        (&json!(3), &json!("Final"))
    );
    let schedule = ask(&mut desk, Query::Schedule);
    assert_eq!(schedule["data"].get("rounds_to_come"), None);
}

#[test]
fn the_end_of_a_round_says_whether_another_follows() {
    let mut desk = Desk::started(knockout(), 2, 1);
    desk.settle_received();
    desk.report("R1M1", (1, 1));
    desk.settle_received();
    desk.report("R2M1", (3, 0));
    let mut next = Vec::new();
    desk.answer_calls(|call| {
        if let matchday_core::agent::Payload::Message(message) = &call.payload
            && let Body::RoundCompleted(completed) = &message.body
        {
            next.push(completed.next_round_id);
        }
        matchday_core::agent::Answer::Received
    });
    assert!(next.iter().all(Option::is_none), "{next:?}");
    assert_eq!(titles(&desk), ["Final", "Final, played again (1)"]);
}

#[test]
fn a_tie_that_stays_level_is_decided_by_a_lot_that_the_log_tells() {
    let mut desk = Desk::started(knockout(), 4, 1);
    play_out(&mut desk, |_, _| (1, 1));
    let lots: Vec<_> = desk
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            LeagueEvent::LotDrawn { lot } => Some(lot.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(lots.len(), 3);
    assert_eq!(
        desk.manager.league().champion.as_ref(),
        Some(&lots[2].winner)
    );
}

#[test]
fn a_result_from_which_a_later_round_was_drawn_cannot_be_voided() {
    let mut desk = Desk::started(knockout(), 4, 1);
    play_round(&mut desk, the_better);
    let refused = give(&mut desk, Order::Void, None, Some("R1M1"));
    assert_eq!(error_code(&refused), ErrorCode::InvalidState);
    let Body::LeagueError(error) = &refused else {
        panic!("{refused:?}")
    };
    let said = error.error_message.clone().unwrap().raw().to_owned();
    insta::assert_snapshot!(said, @"R1M1: round 2 (Final) was paired from its result, so the result stays");
}

#[test]
fn a_struck_final_is_played_again_and_its_winner_is_champion() {
    let mut desk = Desk::started(knockout(), 4, 1);
    play_out(&mut desk, the_better);
    assert_eq!(desk.manager.league().champion, Some(PlayerId::numbered(1)));
    give(&mut desk, Order::Void, None, Some("R2M1"));
    assert_eq!(desk.manager.league().phase, Phase::Running);
    play_out(&mut desk, |a, b| if a < b { (0, 3) } else { (3, 0) });
    assert_eq!(desk.manager.league().champion, Some(PlayerId::numbered(2)));
}

#[test]
fn a_group_match_can_be_struck_until_the_knockout_is_drawn() {
    let mut desk = Desk::started(of(Competition::of(Format::GroupsKnockout)), 8, 2);
    play_round(&mut desk, the_better);
    let answer = give(&mut desk, Order::Void, None, Some("R1M1"));
    assert!(matches!(answer, Body::LeagueStatus(_)), "{answer:?}");
    while titles(&desk).len() == 3 {
        play_round(&mut desk, the_better);
    }
    let refused = give(&mut desk, Order::Void, None, Some("R1M1"));
    assert_eq!(error_code(&refused), ErrorCode::InvalidState);
}

#[test]
fn who_is_withdrawn_from_a_swiss_league_is_paired_no_more() {
    let mut desk = Desk::started(of(Competition::of(Format::Swiss)), 8, 2);
    give(&mut desk, Order::Withdraw, Some("P03"), None);
    play_out(&mut desk, the_better);
    let league = desk.manager.league();
    let matches_of = |player: &str| {
        let games = league
            .matches
            .values()
            .filter(|game| game.has(&PlayerId::new(player)));
        games.map(|game| game.round_id.0).collect::<Vec<_>>()
    };
    assert_eq!(matches_of("P03"), [1]);
    assert_eq!(matches_of("P01").len(), 4);
    assert!(league.rounds[1..].iter().all(|round| round.bye.is_some()));
}

#[test]
fn the_opponent_of_who_is_withdrawn_from_a_knockout_goes_through() {
    let mut desk = Desk::started(knockout(), 4, 1);
    play_round(&mut desk, the_better);
    give(&mut desk, Order::Withdraw, Some("P01"), None);
    play_out(&mut desk, the_better);
    assert_eq!(desk.manager.league().champion, Some(PlayerId::numbered(2)));
}

#[test]
fn a_knockout_that_the_operator_ends_is_ranked_by_how_far_each_has_come() {
    let mut desk = Desk::started(knockout(), 4, 1);
    play_round(&mut desk, |a, b| if a < b { (0, 3) } else { (3, 0) });
    give(&mut desk, Order::End, None, None);
    let table: Vec<_> = desk
        .manager
        .league()
        .standings()
        .iter()
        .map(|place| place.player.to_string())
        .collect();
    assert_eq!(table, ["P03", "P04", "P01", "P02"]);
}

#[test]
fn a_bye_of_a_swiss_round_counts_as_a_win_once_the_round_is_announced() {
    let desk = Desk::started(of(Competition::of(Format::Swiss)), 5, 1);
    let rows = desk.manager.league().rows();
    assert_eq!(
        (rows[0].player_id.as_str(), rows[0].played, rows[0].points),
        ("P05", 1, 3)
    );
}

#[test]
fn too_few_players_for_the_format_cannot_start_the_league() {
    let competition = Competition {
        groups: Some(4),
        ..Competition::of(Format::GroupsKnockout)
    };
    let mut desk = Desk::with(of(competition), 6, 1);
    let refused = desk.ask_as(
        &Sender::Launcher,
        StartLeague {
            league_id: league_id(),
        },
    );
    assert_eq!(error_code(&refused), ErrorCode::InvalidState);
    assert_eq!(desk.manager.league().phase, Phase::Registration);
    (7..=8).for_each(|number| {
        desk.register_player(number);
    });
    assert_eq!(desk.start().status, Phase::Running);
}

#[test]
fn lots_in_the_table_are_drawn_from_the_seed_in_the_log() {
    let settings = LeagueSettings {
        tie_breaks: vec![TieBreak::Lots],
        ..quick()
    };
    let mut desk = Desk::started(settings, 6, 1);
    play_out(&mut desk, |_, _| (1, 1));
    let league = desk.manager.league();
    assert!(desk.events.iter().any(|(_, event)| matches!(
        event,
        LeagueEvent::LeagueStarted { draw: Some(_), rounds, .. } if rounds.len() == 5
    )));
    let rows = league.rows();
    assert!(
        rows[0]
            .rank_reason
            .as_ref()
            .map(UntrustedText::raw)
            .unwrap()
            .ends_with("on lots")
    );
    let order: Vec<_> = rows.iter().map(|row| row.player_id.to_string()).collect();
    assert_ne!(order, ["P01", "P02", "P03", "P04", "P05", "P06"]);
}
