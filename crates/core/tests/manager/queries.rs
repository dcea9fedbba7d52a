//! What may be asked, by whom, and what comes back.

use crate::desk::*;
use matchday_core::agent::{Answer, Ask, Content};
use matchday_core::league::{EndpointCheck, LeagueSettings};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{
    Body, ErrorCode, GameType, PlayerId, RefereeId, RoundId, Sender, Token, UntrustedText,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

fn query(desk: &mut Desk, query_type: Query, query_params: QueryParams) -> LeagueQueryResponse {
    let query = LeagueQuery {
        league_id: league_id(),
        query_type,
        query_params,
    };
    match desk.ask_as(&referee(1), query) {
        Body::LeagueQueryResponse(response) => Arc::unwrap_or_clone(response),
        other => panic!("expected LEAGUE_QUERY_RESPONSE, got {other:?}"),
    }
}

fn of_player(id: &str) -> QueryParams {
    QueryParams {
        player_id: Some(PlayerId::new(id)),
        ..QueryParams::default()
    }
}

fn data(response: LeagueQueryResponse) -> Value {
    assert!(response.success, "{response:?}");
    Value::Object(response.data.unwrap())
}

/// Four players; R1M1 won by P01, R1M2 drawn.
fn after_one_round() -> Desk {
    let mut desk = Desk::started(quick(), 4, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    desk.report("R1M2", (1, 1));
    desk.settle_received();
    desk
}

#[test]
fn the_standings_show_every_player_and_why_it_stands_there() {
    let mut desk = after_one_round();
    let response = query(&mut desk, Query::Standings, QueryParams::default());
    let rows = response.standings.clone().unwrap();
    assert_eq!(
        rows.iter()
            .map(|row| row.player_id.as_str())
            .collect::<Vec<_>>(),
        ["P01", "P03", "P04", "P02"]
    );
    assert_eq!(
        rows[1].rank_reason.as_ref().map(UntrustedText::raw),
        Some("level with P04")
    );
    assert_eq!(
        rows.iter().map(|row| row.rank).collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert_eq!(
        rows.iter().map(|row| row.shared_rank).collect::<Vec<_>>(),
        [None, Some(2), Some(2), None]
    );
    assert_eq!(data(response)["standings"], json!(rows));
}

#[test]
fn the_schedule_can_be_had_whole_or_by_round() {
    let mut desk = after_one_round();
    let whole = data(query(&mut desk, Query::Schedule, QueryParams::default()));
    assert_eq!(whole["rounds"].as_array().unwrap().len(), 3);
    let first = QueryParams {
        round_id: Some(RoundId(1)),
        ..QueryParams::default()
    };
    let one = data(query(&mut desk, Query::Schedule, first));
    assert_eq!(one["rounds"][0]["matches"][0]["result"]["winner"], "P01");
    let beyond = QueryParams {
        round_id: Some(RoundId(4)),
        ..QueryParams::default()
    };
    let error = query(&mut desk, Query::Schedule, beyond).error.unwrap();
    assert_eq!(error.error_code, ErrorCode::InvalidFormat);
}

#[test]
fn a_match_that_is_being_played_shows_no_result() {
    let mut desk = Desk::started(quick(), 2, 1);
    let schedule = data(query(&mut desk, Query::Schedule, QueryParams::default()));
    let game = &schedule["rounds"][0]["matches"][0];
    assert_eq!(
        (&game["state"], game.get("result")),
        (&json!("playing"), None)
    );
}

#[test]
fn the_next_match_is_the_first_that_is_not_decided() {
    let mut desk = after_one_round();
    let next = data(query(&mut desk, Query::NextMatch, of_player("P01")));
    assert_eq!(next["next_match"]["match_id"], "R2M1");
    assert_eq!(next["next_match"]["opponent_id"], "P03");
    desk.play_out();
    let none = data(query(&mut desk, Query::NextMatch, of_player("P01")));
    assert_eq!(none, json!({"next_match": null}));
}

#[test]
fn before_the_start_the_schedule_is_refused_as_a_matter_of_state() {
    let mut desk = Desk::with(quick(), 2, 1);
    let one = QueryParams {
        round_id: Some(RoundId(1)),
        ..QueryParams::default()
    };
    for params in [QueryParams::default(), one] {
        let response = query(&mut desk, Query::Schedule, params);
        let error = response.error.unwrap();
        assert_eq!(
            (response.success, error.error_code),
            (false, ErrorCode::InvalidState)
        );
        assert_eq!(
            error.error_description,
            "the rounds are scheduled when the league starts"
        );
    }
}

#[test]
fn a_player_that_names_nobody_asks_about_itself() {
    let mut desk = Desk::new(quick());
    desk.register_player_with_token(1);
    desk.register_player(2);
    desk.register_referee(1, 2);
    desk.start();
    for (query_type, pointer, expected) in [
        (Query::NextMatch, "/next_match/opponent_id", "P02"),
        (Query::PlayerStats, "/player_id", "P01"),
    ] {
        let asked = LeagueQuery {
            league_id: league_id(),
            query_type,
            query_params: QueryParams::default(),
        };
        let Body::LeagueQueryResponse(told) = desk.ask_as(&player(1), asked) else {
            panic!("an answer")
        };
        let told = data(Arc::unwrap_or_clone(told));
        assert_eq!(told.pointer(pointer).unwrap(), expected);
        let error = query(&mut desk, query_type, QueryParams::default())
            .error
            .unwrap();
        assert_eq!(
            error.error_code,
            ErrorCode::MissingField,
            "a referee is no player"
        );
    }
}

#[test]
fn the_next_match_names_its_referee_from_the_start_of_the_league_on() {
    let settings = LeagueSettings {
        endpoint_check: EndpointCheck::AtStart,
        ..quick()
    };
    let mut desk = Desk::with(settings.clone(), 6, 3);
    desk.start();
    assert_eq!(
        desk.manager.league().current_round,
        0,
        "the roll call lasts"
    );
    let mut foretold = BTreeMap::new();
    for number in 1..=6 {
        let asked = of_player(PlayerId::numbered(number).as_str());
        let next = data(query(&mut desk, Query::NextMatch, asked))["next_match"].clone();
        let endpoint = next["referee_endpoint"]
            .as_str()
            .expect("a referee is planned")
            .to_owned();
        foretold.insert(next["match_id"].as_str().unwrap().to_owned(), endpoint);
    }
    desk.settle_received();
    desk.pass(settings.probe_timeout);
    let endpoints: BTreeMap<String, String> = desk
        .open_matches()
        .into_iter()
        .map(|(id, .., referee)| {
            (
                id.to_string(),
                desk.manager.league().referees[&referee]
                    .meta
                    .contact_endpoint
                    .raw()
                    .to_owned(),
            )
        })
        .collect();
    assert_eq!(
        foretold, endpoints,
        "the plan that was told is the one that is used"
    );
}

#[test]
fn the_next_match_of_a_round_to_come_is_planned_as_it_will_be_announced() {
    let mut desk = Desk::started(quick(), 4, 2);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    let next = data(query(&mut desk, Query::NextMatch, of_player("P01")))["next_match"].clone();
    assert_eq!(next["match_id"], "R2M1");
    let foretold = next["referee_endpoint"]
        .as_str()
        .expect("a referee is planned")
        .to_owned();
    desk.report("R1M2", (3, 0));
    let again = data(query(&mut desk, Query::NextMatch, of_player("P01")))["next_match"].clone();
    assert_eq!(again["referee_endpoint"], foretold);
}

#[test]
fn the_stats_of_a_player_tell_what_it_did_and_how_fast() {
    let mut desk = after_one_round();
    let stats = data(query(&mut desk, Query::PlayerStats, of_player("P01")));
    let stats = &stats["stats"];
    assert_eq!(
        (&stats["rank"], &stats["wins"], &stats["points"]),
        (&json!(1), &json!(1), &json!(3))
    );
    assert_eq!(stats["mean_answer_ms"], 20);
    assert_eq!(stats["choices"], json!({"even": 1}));
    assert_eq!(
        stats["against"],
        json!({"P02": {"wins": 1, "losses": 0, "draws": 0}})
    );
    assert_eq!(stats["win_rate"], 1.0);
}

#[test]
fn an_unknown_player_is_answered_with_its_error() {
    let mut desk = after_one_round();
    for query_type in [Query::NextMatch, Query::PlayerStats] {
        let response = query(&mut desk, query_type, of_player("P99"));
        let error = response.error.unwrap();
        assert!(!response.success);
        assert_eq!(error.error_code, ErrorCode::PlayerNotRegistered);
        assert_eq!(
            error.error_description,
            "Player ID P99 not found in registry"
        );
    }
}

#[test]
fn only_referees_are_shown_the_players_endpoints() {
    let mut desk = Desk::new(quick());
    desk.register_referee(1, 2);
    desk.register_player_with_token(1);
    let shown = data(query(&mut desk, Query::Players, QueryParams::default()));
    assert_eq!(
        shown["players"][0]["contact_endpoint"],
        "http://localhost:8101/mcp"
    );
    let query_params = QueryParams::default();
    let query = LeagueQuery {
        league_id: league_id(),
        query_type: Query::Players,
        query_params,
    };
    let Body::LeagueQueryResponse(hidden) = desk.ask_as(&player(1), query) else {
        panic!("expected an answer")
    };
    assert_eq!(
        data(Arc::unwrap_or_clone(hidden))["players"][0].get("contact_endpoint"),
        None
    );
}

#[test]
fn a_query_without_a_token_or_with_another_agents_is_refused() {
    let mut desk = after_one_round();
    let query_params = QueryParams::default();
    let query = LeagueQuery {
        league_id: league_id(),
        query_type: Query::Standings,
        query_params,
    };
    let mut message = desk.message(&player(1), query);
    message.envelope.auth_token = None;
    assert_eq!(
        error_code(&desk.ask(message.clone()).body),
        ErrorCode::TokenMissing
    );
    message.envelope.auth_token = desk.tokens.get(&referee(1)).cloned();
    assert_eq!(
        error_code(&desk.ask(message.clone()).body),
        ErrorCode::TokenInvalid
    );
    message.envelope.auth_token = Some(Token::new("tok_p01_guess"));
    assert_eq!(error_code(&desk.ask(message).body), ErrorCode::TokenInvalid);
}

#[test]
fn a_refused_token_is_never_echoed_whole() {
    let mut desk = after_one_round();
    let query_params = QueryParams::default();
    let query = LeagueQuery {
        league_id: league_id(),
        query_type: Query::Standings,
        query_params,
    };
    let mut message = desk.message(&player(1), query);
    message.envelope.auth_token = Some(Token::new("tok_p01_0123456789abcdef"));
    let answer = serde_json::to_string(&desk.ask(message)).unwrap();
    assert!(
        answer.contains("tok_p01_...") && !answer.contains("0123"),
        "{answer}"
    );
}

#[test]
fn anyone_may_read_the_standings_of_an_open_league_and_nobody_those_of_a_closed_one() {
    for (public_reads, readable) in [(true, true), (false, false)] {
        let mut desk = Desk::with(
            LeagueSettings {
                public_reads,
                ..quick()
            },
            2,
            1,
        );
        let Some(Content::Message(answer)) = desk
            .ask_any(Ask::Query(Query::Standings.into()), false)
            .pop()
        else {
            panic!("the question is answered");
        };
        assert_eq!(
            matches!(answer.body, Body::LeagueQueryResponse(_)),
            readable
        );
        let Some(Content::Message(answer)) =
            desk.ask_any(Ask::Query(Query::Status.into()), false).pop()
        else {
            panic!("the question is answered");
        };
        assert_eq!(matches!(answer.body, Body::LeagueStatus(_)), readable);
    }
}

#[test]
fn an_agent_that_calls_itself_otherwise_is_known_by_its_token_where_the_league_is_lenient() {
    for (conformance, known) in [(Conformance::Lenient, true), (Conformance::Strict, false)] {
        let mut desk = Desk::with(
            LeagueSettings {
                conformance,
                ..quick()
            },
            2,
            1,
        );
        let query_params = QueryParams::default();
        let query = LeagueQuery {
            league_id: league_id(),
            query_type: Query::Standings,
            query_params,
        };
        let mut message = desk.message(&Sender::Referee(RefereeId::new("alpha")), query);
        message.envelope.auth_token = desk.tokens.get(&referee(1)).cloned();
        let answer = desk.ask(message);
        assert_eq!(
            matches!(answer.body, Body::LeagueQueryResponse(_)),
            known,
            "{conformance:?}"
        );
        let counted = desk
            .manager
            .league()
            .referees
            .values()
            .next()
            .unwrap()
            .deviations
            .get("own name sender");
        assert_eq!(counted.copied(), known.then_some(1));
    }
}

#[test]
fn referees_are_listed_with_what_they_decided_and_how_they_departed_from_the_rules() {
    let mut desk = after_one_round();
    let Some(Content::Message(shown)) = desk
        .ask_any(Ask::Query(Query::Referees.into()), false)
        .pop()
    else {
        panic!("the question is answered");
    };
    let Body::LeagueQueryResponse(shown) = shown.body else {
        panic!("a response")
    };
    let asked = data(query(&mut desk, Query::Referees, QueryParams::default()));
    assert_eq!(
        shown.data.as_ref(),
        asked.as_object(),
        "with a token or without"
    );
    let decided = desk
        .manager
        .league()
        .matches
        .values()
        .filter(|game| game.decision.is_some())
        .count();
    let first = &asked["referees"][0];
    assert_eq!(
        (
            first["referee_id"].as_str(),
            first["state"].as_str(),
            first["deviations"].to_string()
        ),
        (Some("REF01"), Some("ACTIVE"), "{}".to_owned())
    );
    assert_eq!(first["matches_decided"], decided);
    assert_eq!(
        first.get("contact_endpoint"),
        None,
        "endpoints are for referees alone"
    );
}

#[test]
fn every_game_is_told_with_its_rules_and_whether_it_is_played_here() {
    let mut desk = Desk::with(LeagueSettings::default(), 2, 1);
    let whole = data(query(&mut desk, Query::Games, QueryParams::default()));
    let games = whole["games"].as_array().unwrap();
    let told: Vec<_> = games
        .iter()
        .map(|game| game["game_type"].as_str().unwrap())
        .collect();
    assert_eq!(
        told,
        matchday_core::game::GAMES
            .iter()
            .map(|game| game.name)
            .collect::<Vec<_>>()
    );
    let here: Vec<_> = games
        .iter()
        .filter(|game| game["played_here"] == true)
        .collect();
    assert!(here.len() == 1 && here[0]["game_type"] == "even_odd");
    let of = |name: &str| QueryParams {
        game_type: Some(GameType::new(name)),
        ..QueryParams::default()
    };
    let one = data(query(&mut desk, Query::Games, of("nim")));
    assert!(
        one["games"][0]["rules"]
            .as_str()
            .unwrap()
            .contains("last object"),
        "{one}"
    );
    assert_eq!(one["games"][0]["strategies"], json!(["random", "optimal"]));
    let error = query(&mut desk, Query::Games, of("chess")).error.unwrap();
    assert_eq!(error.error_code, ErrorCode::InvalidFormat);
    assert!(
        error.error_description.raw().contains("connect_four"),
        "{:?}",
        error.error_description
    );
}

#[test]
fn a_player_that_never_came_back_is_told_apart_when_the_league_has_ended() {
    let mut desk = Desk::with(
        LeagueSettings {
            endpoint_check: EndpointCheck::AtStart,
            ..quick()
        },
        3,
        1,
    );
    let dead = player_endpoint(3);
    let answer = |to: &_| {
        if *to == dead {
            UNREACHABLE
        } else {
            Answer::Received
        }
    };
    desk.answer_calls(|call| answer(&call.to));
    desk.start();
    while desk.manager.league().phase == Phase::Running {
        desk.answer_calls(|call| answer(&call.to));
        match desk.open_matches().first().cloned() {
            Some((match_id, ..)) => drop(desk.report(match_id.as_str(), (3, 0))),
            None => desk.pass(Duration::from_millis(500)),
        }
    }
    for (id, left) in [("P01", None), ("P03", Some(true))] {
        let stats = data(query(&mut desk, Query::PlayerStats, of_player(id)));
        let told = (
            stats["state"].as_str(),
            stats.get("left").and_then(Value::as_bool),
        );
        assert_eq!(told, (Some("SHUTDOWN"), left), "{id}");
    }
    let players = data(query(&mut desk, Query::Players, QueryParams::default()));
    let left: Vec<_> = players["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|player| player.get("left"))
        .collect();
    assert_eq!(left, [None, None, Some(&json!(true))]);
}
