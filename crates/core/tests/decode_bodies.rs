//! The strict reading of bodies, rule by rule: a message that is right, one thing changed, and what is said to it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod change;

use change::{assert_refused, assert_taken, changed, path_of};
use matchday_core::protocol::QueryParams;
use matchday_core::protocol::decode::Conformance::{Lenient, Strict};
use matchday_core::protocol::messages::Parity;
use matchday_core::protocol::{Body, ErrorCode};
use matchday_testkit::golden::{named, read, read_body};
use serde_json::{Value, json};

const PLAYER: &str = "002_3-1_league_register_request";
const REFEREE: &str = "002_2-1_referee_register_request";
const JOIN: &str = "002_3-2_game_join_ack";
const CHOICE: &str = "002_3-3_choose_parity_response";
const CALL: &str = "002_2-3_choose_parity_call";
const INVITATION: &str = "002_2-2_game_invitation";
const OVER: &str = "002_2-4_game_over";
const REPORT: &str = "002_2-5_match_result_report";
const ROUND: &str = "002_1-1_round_announcement";
const STANDINGS: &str = "002_1-3_league_standings_update";
const QUERY: &str = "002_3-4_league_query";

#[test]
fn a_choice_is_exactly_even_or_odd_in_any_reading() {
    let invalid = [
        json!("Even"),
        json!("EVEN"),
        json!("e"),
        json!("maybe"),
        json!(0),
        json!(false),
        json!(null),
        json!(""),
        json!("ODD"),
        json!(" odd"),
        json!("even\n"),
        json!(true),
        json!(["even"]),
        json!({"choice": "even"}),
    ];
    for (name, pointer) in [
        (CHOICE, "/parity_choice"),
        ("game_move_response_choose_parity", "/move_data/choice"),
    ] {
        for value in &invalid {
            let message = changed(name, pointer, value.clone());
            for conformance in [Strict, Lenient] {
                let rejection = read_body(&message, conformance).unwrap_err();
                assert_eq!(rejection.code, ErrorCode::InvalidParityChoice, "{value}");
                assert_eq!(rejection.path, path_of(pointer), "{value}");
            }
        }
    }
    for (value, parity) in [("even", Parity::Even), ("odd", Parity::Odd)] {
        let body = read_body(&changed(CHOICE, "/parity_choice", json!(value)), Strict).unwrap();
        assert!(
            matches!(body, Body::ChooseParityResponse(choice) if choice.parity_choice == parity)
        );
    }
}

#[test]
fn an_absent_choice_is_missing_rather_than_invalid() {
    let mut message = named(CHOICE);
    message.as_object_mut().unwrap().remove("parity_choice");
    for conformance in [Strict, Lenient] {
        let rejection = read_body(&message, conformance).unwrap_err();
        assert_eq!(
            (rejection.code.code(), rejection.path.as_str()),
            ("E003", "parity_choice")
        );
    }
}

#[test]
fn the_strict_reading_knows_no_other_name_for_the_choice() {
    let mut message = named(CHOICE);
    let fields = message.as_object_mut().unwrap();
    let choice = fields.remove("parity_choice").unwrap();
    fields.insert("choice".to_owned(), choice);
    assert_eq!(
        read_body(&message, Strict).unwrap_err().code,
        ErrorCode::MissingField
    );
}

#[test]
fn integers_are_whole_and_have_32_bits() {
    let not_integers = [json!(1.0), json!(1.5), json!("1"), json!(true), json!([1])];
    let too_large = [json!(2_147_483_648_u64), json!(u64::MAX), json!(1e300)];
    for (name, pointer) in [
        (ROUND, "/round_id"),
        (INVITATION, "/round_id"),
        (STANDINGS, "/standings/1/rank"),
        (STANDINGS, "/standings/0/points"),
        (REPORT, "/result/score/P01"),
        (CALL, "/context/your_standings/wins"),
        ("002_4-1_league_status", "/total_rounds"),
        ("002_2-6_game_error", "/retry_info/retry_count"),
    ] {
        for value in not_integers.iter().chain(&too_large).chain([&json!(-1)]) {
            assert_refused(name, pointer, value, "E002");
        }
        assert_taken(name, pointer, &json!(2_147_483_647));
    }
}

#[test]
fn numbers_keep_to_their_ranges() {
    for (name, pointer, inside, outside) in [
        (
            REFEREE,
            "/referee_meta/max_concurrent_matches",
            vec![1, 2, 10],
            vec![0, 11, -1],
        ),
        (ROUND, "/round_id", vec![1, 99], vec![0, -1]),
        (QUERY, "/query_params/round_id", vec![1], vec![0]),
        (STANDINGS, "/standings/0/rank", vec![1], vec![0]),
        (STANDINGS, "/standings/0/points", vec![0], vec![-3]),
        (
            OVER,
            "/game_result/drawn_number",
            vec![1, 10],
            vec![0, 11, -8],
        ),
        (
            REPORT,
            "/result/details/drawn_number",
            vec![1, 10],
            vec![0, 11],
        ),
        (
            "002_1-2_round_completed",
            "/next_round_id",
            vec![2],
            vec![0],
        ),
    ] {
        for value in inside {
            assert_taken(name, pointer, &json!(value));
        }
        for value in outside {
            assert_refused(name, pointer, &json!(value), "E002");
        }
    }
}

#[test]
fn names_versions_games_and_addresses_keep_their_form() {
    for (name, meta) in [(PLAYER, "/player_meta"), (REFEREE, "/referee_meta")] {
        let refused = |key: &str, values: &[Value]| {
            for value in values {
                assert_refused(name, &format!("{meta}/{key}"), value, "E002");
            }
        };
        refused(
            "display_name",
            &[json!(""), json!("n".repeat(51)), json!(7), json!(["A"])],
        );
        refused(
            "version",
            &[
                json!("1.0"),
                json!("v1.0.0"),
                json!(""),
                json!("latest"),
                json!(1),
                json!(1.0),
            ],
        );
        refused(
            "game_types",
            &[json!([]), json!("even_odd"), json!({}), json!(1)],
        );
        refused(
            "game_types/0",
            &[json!(""), json!(1), json!(null), json!(["even_odd"])],
        );
        refused(
            "contact_endpoint",
            &[
                json!("localhost:8101/mcp"),
                json!("ftp://localhost/mcp"),
                json!("file:///etc/passwd"),
                json!("http://"),
                json!(""),
                json!(8101),
            ],
        );
        assert_taken(
            name,
            &format!("{meta}/display_name"),
            &json!("é".repeat(50)),
        );
        assert_taken(name, &format!("{meta}/display_name"), &json!("n"));
        assert_taken(
            name,
            &format!("{meta}/contact_endpoint"),
            &json!("https://a.example/mcp"),
        );
        // Which games are played here is for the manager to say.
        assert_taken(name, &format!("{meta}/game_types"), &json!(["chess"]));
    }
}

#[test]
fn words_of_the_protocol_are_exact_in_case_and_type() {
    for (name, pointer, wrong) in [
        (
            "002_3-1_league_register_response",
            "/status",
            json!("accepted"),
        ),
        ("002_3-1_league_register_response", "/status", json!("OK")),
        ("002_3-1_league_register_response", "/status", json!(true)),
        (OVER, "/game_result/status", json!("Win")),
        (OVER, "/game_result/status", json!("LOSS")),
        (OVER, "/game_result/number_parity", json!("EVEN")),
        (OVER, "/game_result/choices/P02", json!("Odd")),
        (REPORT, "/result/details/choices/P01", json!(0)),
        (REPORT, "/result/status", json!("win")),
        (INVITATION, "/role_in_match", json!("player_a")),
        (INVITATION, "/role_in_match", json!("A")),
        (QUERY, "/query_type", json!("get_standings")),
        (QUERY, "/query_type", json!("GET_EVERYTHING")),
        ("002_2-5_match_result_ack", "/status", json!("RECORDED")),
        ("002_4-1_league_status", "/status", json!("RUNNING")),
    ] {
        assert_refused(name, pointer, &wrong, "E002");
    }
}

#[test]
fn booleans_are_true_or_false_and_nothing_like_them() {
    for value in [
        json!(0),
        json!(1),
        json!("true"),
        json!("false"),
        json!("ACCEPTED"),
        json!([]),
    ] {
        assert_refused(JOIN, "/accept", &value, "E002");
        assert_refused("002_1-5_league_query_response", "/success", &value, "E002");
    }
    assert_taken(JOIN, "/accept", &json!(false));
}

#[test]
fn ids_are_short_and_printable() {
    for value in [
        json!(""),
        json!("R".repeat(129)),
        json!("R1\u{0}M1"),
        json!(11),
    ] {
        assert_refused(JOIN, "/match_id", &value, "E002");
        assert_refused(JOIN, "/player_id", &value, "E002");
        assert_refused(ROUND, "/league_id", &value, "E002");
    }
    assert_taken(JOIN, "/match_id", &json!("R".repeat(128)));
}

#[test]
fn a_nonce_has_at_most_64_bytes() {
    let name = "choose_parity_response_with_nonce";
    assert_taken(name, "/nonce", &json!("n".repeat(64)));
    for value in [
        json!("n".repeat(65)),
        json!("é".repeat(33)),
        json!("a\tb"),
        json!(7),
    ] {
        assert_refused(name, "/nonce", &value, "E002");
    }
}

#[test]
fn a_revealed_nonce_may_be_the_id_of_a_player_that_sent_none() {
    let pointer = "/game_result/fairness/nonces/P02";
    assert_taken("game_over_with_fairness", pointer, &json!("P".repeat(128)));
    assert_refused(
        "game_over_with_fairness",
        pointer,
        &json!("P".repeat(129)),
        "E002",
    );
}

#[test]
fn a_registration_answer_does_not_contradict_itself() {
    for (name, pointer, value, code) in [
        (
            "league_register_response_accepted",
            "/player_id",
            json!(null),
            "E003",
        ),
        (
            "league_register_response_accepted",
            "/reason",
            json!("because"),
            "E002",
        ),
        (
            "league_register_response_rejected",
            "/player_id",
            json!("P01"),
            "E002",
        ),
        (
            "league_register_response_rejected",
            "/reason",
            json!(null),
            "E003",
        ),
        (
            "referee_register_response_accepted",
            "/referee_id",
            json!(null),
            "E003",
        ),
        (
            "referee_register_response_rejected",
            "/referee_id",
            json!("REF01"),
            "E002",
        ),
    ] {
        assert_refused(name, pointer, &value, code);
    }
}

#[test]
fn the_parameters_of_a_query_may_be_absent() {
    let types = [
        "GET_NEXT_MATCH",
        "GET_PLAYER_STATS",
        "GET_STANDINGS",
        "GET_SCHEDULE",
        "GET_PLAYERS",
    ];
    for query_type in types {
        let mut message = changed(QUERY, "/query_type", json!(query_type));
        for query_params in [
            Some(json!({})),
            Some(json!({"player_id": null})),
            Some(json!(null)),
            None,
        ] {
            match query_params {
                Some(empty) => message["query_params"] = empty,
                None => drop(message.as_object_mut().unwrap().remove("query_params")),
            }
            for conformance in [Strict, Lenient] {
                let incoming = read(&message, conformance).unwrap();
                let Ok(Body::LeagueQuery(query)) = &incoming.body else {
                    panic!("{incoming:?}")
                };
                assert_eq!(query.query_params, QueryParams::default(), "{query_type}");
                assert_eq!(incoming.deviations, [], "{query_type}");
            }
        }
    }
}

#[test]
fn a_round_has_at_least_one_match() {
    assert_refused(ROUND, "/matches", &json!([]), "E002");
    assert_refused(ROUND, "/matches/1", &json!("R1M2"), "E002");
    assert_refused(
        ROUND,
        "/matches/1/referee_endpoint",
        &json!("nowhere"),
        "E002",
    );
}

#[test]
fn a_forfeited_match_may_have_nothing_to_tell() {
    for (name, status, choices) in [
        (OVER, "/game_result/status", "/game_result/choices"),
        (REPORT, "/result/status", "/result/details/choices"),
    ] {
        assert_refused(name, choices, &json!(null), "E003");
        let mut message = changed(name, status, json!("TECHNICAL_LOSS"));
        *message.pointer_mut(choices).unwrap() = json!(null);
        assert!(read_body(&message, Strict).is_ok(), "{name}");
    }
}

#[test]
fn an_error_code_may_come_as_its_name_and_need_not_be_ours() {
    let code = |value: &str| {
        let message = changed("002_1-6_league_error", "/error_code", json!(value));
        match read_body(&message, Strict).unwrap() {
            Body::LeagueError(error) => error.error_code.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(code("AUTH_TOKEN_INVALID"), ErrorCode::TokenInvalid);
    assert_eq!(code("E777"), ErrorCode::Foreign("E777".into()));
}

#[test]
fn an_assignment_names_its_players_in_any_of_three_ways() {
    for (id_a, id_b, address_a, address_b) in [
        (
            "player_A_id",
            "player_B_id",
            "player_A_endpoint",
            "player_B_endpoint",
        ),
        (
            "player_a_id",
            "player_b_id",
            "player_a_endpoint",
            "player_b_endpoint",
        ),
        (
            "player1_id",
            "player2_id",
            "player1_endpoint",
            "player2_endpoint",
        ),
    ] {
        for message_type in ["MATCH_ASSIGNMENT", "START_MATCH"] {
            let mut message = named("match_assignment_ids_only");
            let fields = message.as_object_mut().unwrap();
            fields.retain(|key, _| !key.starts_with("player"));
            fields.insert("message_type".to_owned(), json!(message_type));
            fields.insert(id_a.to_owned(), json!("P07"));
            fields.insert(id_b.to_owned(), json!("P08"));
            fields.insert(address_a.to_owned(), json!("http://localhost:8107/mcp"));
            fields.insert(address_b.to_owned(), json!("http://localhost:8108/mcp"));
            let Body::MatchAssignment(assignment) = read_body(&message, Strict).unwrap() else {
                panic!("{message}");
            };
            assert_eq!(assignment.player_a_id.as_str(), "P07");
            assert_eq!(
                assignment.player_b_endpoint.as_ref().unwrap().raw(),
                "http://localhost:8108/mcp"
            );
        }
    }
    let mut message = named("match_assignment_ids_only");
    message.as_object_mut().unwrap().remove("player_B_id");
    let rejection = read_body(&message, Strict).unwrap_err();
    assert_eq!(
        (rejection.code.code(), rejection.path.as_str()),
        ("E003", "player_B_id")
    );
}
