//! What the manager answers and announces, as JSON on the wire.

use crate::desk::*;
use matchday_core::agent::{Ask, CallDeadline, Content, Input, Payload};
use matchday_core::league::{EndpointCheck, LeagueSettings};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, GameType, Message, PlayerId, Sender, Token};
use serde_json::{Value, json};
use std::time::Duration;

fn written(message: &Message) -> Value {
    serde_json::to_value(message).unwrap()
}

fn asked(desk: &mut Desk, sender: &Sender, body: impl Into<Body>) -> Value {
    let message = desk.message(sender, body);
    written(&desk.ask(message))
}

/// A league of four players and a referee in which player 1 has its token at hand.
fn gathered() -> Desk {
    let mut desk = Desk::with(quick(), 0, 1);
    desk.register_player_with_token(1);
    (2..=4).for_each(|number| {
        desk.register_player(number);
    });
    desk
}

fn query(query_type: Query, player_id: Option<&str>) -> LeagueQuery {
    let query_params = QueryParams {
        player_id: player_id.map(PlayerId::new),
        ..QueryParams::default()
    };
    LeagueQuery {
        league_id: league_id(),
        query_type,
        query_params,
    }
}

#[test]
fn each_reason_for_a_rejection_is_given_in_the_words_of_the_catalogue() {
    let chess = || vec![GameType::new("chess")];
    let ours = player_meta(9);
    let theirs = referee_meta(9, 2);
    let open = || {
        Desk::new(LeagueSettings {
            players_max: 0,
            ..quick()
        })
    };
    let late = "Registration closed - league already started";
    for (mut desk, body, reason) in [
        (
            Desk::started(quick(), 2, 1),
            Body::from(LeagueRegisterRequest {
                join_code: None,
                player_meta: ours.clone(),
            }),
            late,
        ),
        (
            Desk::started(quick(), 2, 1),
            RefereeRegisterRequest {
                join_code: None,
                referee_meta: theirs.clone(),
            }
            .into(),
            "League already started",
        ),
        (
            Desk::new(quick()),
            LeagueRegisterRequest {
                join_code: None,
                player_meta: PlayerMeta {
                    game_types: chess(),
                    ..ours.clone()
                },
            }
            .into(),
            "Unsupported game type",
        ),
        (
            Desk::new(quick()),
            RefereeRegisterRequest {
                join_code: None,
                referee_meta: RefereeMeta {
                    game_types: chess(),
                    ..theirs
                },
            }
            .into(),
            "Unsupported game type",
        ),
        (
            Desk::new(quick()),
            LeagueRegisterRequest {
                join_code: None,
                player_meta: PlayerMeta {
                    protocol_version: Some("3.0.0".into()),
                    ..ours.clone()
                },
            }
            .into(),
            "Protocol version mismatch",
        ),
        (
            open(),
            LeagueRegisterRequest {
                join_code: None,
                player_meta: ours,
            }
            .into(),
            "Maximum players reached",
        ),
    ] {
        let sender = match body {
            Body::RefereeRegisterRequest(_) => referee(77),
            _ => player(77),
        };
        let answer = asked(&mut desk, &sender, body);
        assert_eq!(
            (&answer["status"], &answer["reason"]),
            (&json!("REJECTED"), &json!(reason))
        );
        let id = answer.get("player_id").or(answer.get("referee_id"));
        assert_eq!(
            (id, answer.get("auth_token")),
            (Some(&Value::Null), None),
            "{answer:#}"
        );
    }
}

#[test]
fn a_referee_whose_endpoint_does_not_answer_the_check_is_rejected_for_that() {
    let mut desk = Desk::new(LeagueSettings {
        endpoint_check: EndpointCheck::AtRegistration,
        ..quick()
    });
    let request = desk.message(
        &referee(77),
        RefereeRegisterRequest {
            join_code: None,
            referee_meta: referee_meta(1, 2),
        },
    );
    assert!(
        desk.ask_any(Ask::Message(Ok(incoming(request))), true)
            .is_empty(),
        "the answer waits for the probe"
    );
    let probe = desk.outbox.pop().unwrap();
    assert_eq!(
        (&probe.payload, probe.to.raw()),
        (&Payload::Probe, referee_endpoint(1).raw())
    );
    let ended = Input::Answer {
        call: probe.call,
        dialect: probe.dialect,
        answer: UNREACHABLE,
    };
    let answers = desk.hand_in(ended);
    let [Content::Message(answer)] = &answers[..] else {
        panic!("{answers:?}")
    };
    let answer = written(answer);
    assert_eq!(
        (&answer["status"], answer.get("referee_id")),
        (&json!("REJECTED"), Some(&Value::Null))
    );
    assert_eq!(answer["reason"], "Endpoint unreachable");
}

#[test]
fn by_default_there_is_room_for_players_up_to_p99() {
    let mut desk = Desk::new(LeagueSettings {
        endpoint_check: EndpointCheck::Off,
        ..LeagueSettings::default()
    });
    let ids: Vec<_> = (1..=99)
        .map(|number| desk.register_player(number))
        .collect();
    assert_eq!(
        (ids[0].to_string(), ids[98].to_string()),
        ("player:P01".into(), "player:P99".into())
    );
    let request = LeagueRegisterRequest {
        join_code: None,
        player_meta: player_meta(100),
    };
    assert_eq!(asked(&mut desk, &player(77), request)["status"], "REJECTED");
}

#[test]
fn a_false_token_is_answered_with_the_error_that_the_catalogue_shows() {
    let mut desk = gathered();
    let mut message = desk.message(&player(1), query(Query::Standings, None));
    message.envelope.auth_token = Some(Token::new("tok_invalid_xxx"));
    let error = written(&desk.ask(message));
    assert_eq!(
        (
            &error["message_type"],
            &error["sender"],
            &error["conversation_id"]
        ),
        (
            &json!("LEAGUE_ERROR"),
            &json!("league_manager"),
            &json!("conv-test")
        )
    );
    assert_eq!(
        (&error["error_code"], &error["error_description"]),
        (&json!("E012"), &json!("AUTH_TOKEN_INVALID"))
    );
    assert_eq!(
        (&error["error_name"], &error["retryable"]),
        (&json!("AUTH_TOKEN_INVALID"), &json!(false))
    );
    assert!(
        error["error_message"]
            .as_str()
            .unwrap()
            .contains("player:P01"),
        "{error:#}"
    );
    assert_eq!(error["original_message_type"], "LEAGUE_QUERY");
    assert_eq!(error["context"]["provided_token"], "tok_inva...");
    assert_eq!(error["context"]["expected_format"], "tok_{agent_id}_{hash}");
}

#[test]
fn who_is_not_registered_is_told_so_by_code_and_name() {
    let mut desk = gathered();
    let mut message = desk.message(&player(99), query(Query::Standings, None));
    message.envelope.auth_token = Some(Token::new("tok_p99_x"));
    let error = written(&desk.ask(message));
    assert_eq!(error["message_type"], "LEAGUE_ERROR");
    assert_eq!(
        (
            &error["error_code"],
            &error["error_name"],
            &error["retryable"]
        ),
        (
            &json!("E005"),
            &json!("PLAYER_NOT_REGISTERED"),
            &json!(false)
        )
    );
}

#[test]
fn every_query_of_the_sources_is_answered_under_its_own_type_with_its_data() {
    let mut desk = gathered();
    desk.start();
    for sender in [player(1), referee(1)] {
        for (query_type, name, data) in [
            (Query::Standings, "GET_STANDINGS", "standings"),
            (Query::Schedule, "GET_SCHEDULE", "rounds"),
            (Query::NextMatch, "GET_NEXT_MATCH", "next_match"),
            (Query::PlayerStats, "GET_PLAYER_STATS", "stats"),
            (Query::Players, "GET_PLAYERS", "players"),
        ] {
            let answer = asked(&mut desk, &sender, query(query_type, Some("P01")));
            assert_eq!(
                answer["message_type"], "LEAGUE_QUERY_RESPONSE",
                "{answer:#}"
            );
            assert_eq!(
                (&answer["query_type"], &answer["success"]),
                (&json!(name), &json!(true))
            );
            assert!(
                !answer["data"][data].is_null() && answer.get("error").is_none(),
                "{answer:#}"
            );
            assert_eq!(
                answer["conversation_id"], "conv-test",
                "that of the question"
            );
        }
    }
}

#[test]
fn the_standings_of_a_query_have_the_form_of_the_update() {
    let mut desk = gathered();
    desk.start();
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    desk.pass(quick().standings_pause);
    let sent = desk.sent_to(&player_endpoint(2));
    let Some(Body::LeagueStandingsUpdate(update)) = sent.last() else {
        panic!("{sent:?}")
    };
    let answer = asked(&mut desk, &player(1), query(Query::Standings, None));
    assert_eq!(answer["data"]["standings"], json!(update.standings));
    assert_eq!(answer["standings"], json!(update.standings));
}

#[test]
fn the_next_match_names_match_round_and_opponent() {
    let mut desk = gathered();
    desk.start();
    let next =
        &asked(&mut desk, &player(1), query(Query::NextMatch, Some("P01")))["data"]["next_match"];
    assert_eq!(
        (&next["match_id"], &next["round_id"], &next["opponent_id"]),
        (&json!("R1M1"), &json!(1), &json!("P02"))
    );
}

#[test]
fn a_query_that_fails_has_an_error_in_words_and_no_data() {
    let mut desk = gathered();
    let answer = asked(&mut desk, &player(1), query(Query::NextMatch, Some("P99")));
    assert_eq!(
        (&answer["query_type"], &answer["success"]),
        (&json!("GET_NEXT_MATCH"), &json!(false))
    );
    let error = json!({
        "error_code": "E005",
        "error_name": "PLAYER_NOT_REGISTERED",
        "error_description": "Player ID P99 not found in registry",
    });
    assert_eq!((&answer["error"], answer.get("data")), (&error, None));
}

#[test]
fn the_start_is_answered_with_the_status_of_the_league() {
    let mut desk = gathered();
    let mut status = asked(
        &mut desk,
        &Sender::Launcher,
        StartLeague {
            league_id: league_id(),
        },
    );
    status.as_object_mut().unwrap().remove("timestamp");
    assert_eq!(
        status,
        json!({
            "protocol": "league.v2",
            "message_type": "LEAGUE_STATUS",
            "sender": "league_manager",
            "conversation_id": "conv-test",
            "league_id": "league_2025_even_odd",
            "status": "running",
            "current_round": 1,
            "total_rounds": 3,
            "starts_at": "2025-01-15T10:30:00Z",
            "matches_completed": 0,
        })
    );
}

#[test]
fn by_default_a_round_is_announced_sixty_seconds_before_its_first_match() {
    let mut desk = Desk::with(
        LeagueSettings {
            endpoint_check: EndpointCheck::Off,
            ..LeagueSettings::default()
        },
        4,
        1,
    );
    desk.start();
    for number in 1..=4 {
        let sent = desk.sent_to(&player_endpoint(number));
        let [Body::RoundAnnouncement(round)] = &sent[..] else {
            panic!("{sent:?}")
        };
        assert_eq!(round.starts_at, Some(desk.now + Duration::from_secs(60)));
    }
    desk.settle_received();
    desk.pass(Duration::from_millis(59_999));
    assert!(desk.open_matches().is_empty());
    desk.pass(Duration::from_millis(1));
    assert_eq!(desk.open_matches().len(), 2);
}

#[test]
fn a_result_is_in_every_players_table_within_five_seconds() {
    let mut desk = Desk::started(quick(), 4, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    desk.pass(Duration::from_secs(5));
    for number in 1..=4 {
        let sent = desk.sent_to(&player_endpoint(number));
        let [Body::LeagueStandingsUpdate(table)] = &sent[..] else {
            panic!("{sent:?}")
        };
        assert_eq!(table.standings.iter().map(|row| row.played).sum::<u32>(), 2);
    }
}

#[test]
fn what_the_manager_sends_waits_ten_seconds_for_its_answer() {
    let desk = Desk::started(quick(), 4, 1);
    assert!(
        desk.outbox
            .iter()
            .any(|call| matches!(call.payload, Payload::Message(_)))
    );
    for call in &desk.outbox {
        assert_eq!(
            call.deadline,
            CallDeadline::After(Duration::from_secs(10)),
            "{call:?}"
        );
    }
}

#[test]
fn players_are_registered_then_active_and_shut_down_when_the_league_is_over() {
    let mut desk = Desk::with(quick(), 2, 1);
    let states = |desk: &mut Desk| {
        let answer = asked(desk, &referee(1), query(Query::Players, None));
        let players = answer["data"]["players"].as_array().unwrap().clone();
        players
            .iter()
            .map(|player| player["state"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(states(&mut desk), ["REGISTERED", "REGISTERED"]);
    desk.start();
    assert_eq!(states(&mut desk), ["ACTIVE", "ACTIVE"]);
    desk.play_out();
    assert_eq!(states(&mut desk), ["SHUTDOWN", "SHUTDOWN"]);
}
