//! The lenient reading: what it fills in or forgives, and that it always says so.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::decode::Conformance::{Lenient, Strict};
use matchday_core::protocol::decode::{Exchange, Incoming, Reading, decode};
use matchday_core::protocol::messages::{GameDetails, GameStatus, RegisterStatus, Role};
use matchday_core::protocol::{Body, ConversationId, LeagueId, MatchId, PlayerId, Sender};
use matchday_testkit::golden::{self, named, read, reading};
use serde_json::{Value, json};

const JOIN: &str = "002_3-2_game_join_ack";
const CHOICE: &str = "002_3-3_choose_parity_response";
const REPORT: &str = "002_2-5_match_result_report";

fn without(name: &str, keys: &[&str]) -> Value {
    let mut message = named(name);
    message
        .as_object_mut()
        .unwrap()
        .retain(|key, _| !keys.contains(&key.as_str()));
    message
}

fn exchange() -> Exchange {
    Exchange {
        peer: Sender::Player(PlayerId::new("P07")),
        conversation_id: ConversationId::new("conv-r3m2-001"),
        league_id: Some(LeagueId::new("the_league")),
        match_id: Some(MatchId::new("R3M2")),
        player_id: Some(PlayerId::new("P07")),
    }
}

fn answer_to(exchange: &Exchange, value: &Value) -> Incoming {
    let reading = Reading {
        exchange: Some(exchange),
        ..reading(Lenient)
    };
    decode(value, &reading).unwrap()
}

fn said(incoming: &Incoming) -> Vec<String> {
    incoming
        .deviations
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn only_the_message_type_is_asked_of_an_envelope() {
    let message = json!({"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": "odd"});
    let incoming = answer_to(&exchange(), &message);
    assert_eq!(incoming.envelope.sender, exchange().peer);
    assert_eq!(
        incoming.envelope.conversation_id,
        exchange().conversation_id
    );
    assert_eq!(incoming.envelope.timestamp, golden::NOW);
    let Ok(Body::ChooseParityResponse(choice)) = &incoming.body else {
        panic!("{incoming:?}");
    };
    assert_eq!(
        (choice.match_id.as_str(), choice.player_id.as_str()),
        ("R3M2", "P07")
    );
    assert_eq!(
        said(&incoming),
        [
            "missing protocol",
            "missing sender",
            "missing conversation_id",
            "missing timestamp",
            "missing match_id",
            "missing player_id",
        ]
    );
    let rejection = read(&json!({"parity_choice": "odd"}), Lenient).unwrap_err();
    assert_eq!(
        (rejection.code.code(), rejection.path.as_str()),
        ("E003", "message_type")
    );
}

#[test]
fn a_name_with_characters_that_forge_is_taken_without_them() {
    let mut request = named("002_3-1_league_register_request");
    request["player_meta"]["display_name"] = json!("\u{202e}Ada\nverified\u{1b}[2J\u{200b}");
    request["player_meta"]["contact_endpoint"] = json!("http://localhost:8101/mcp\u{2028}");
    let incoming = read(&request, Lenient).unwrap();
    let Ok(Body::LeagueRegisterRequest(taken)) = &incoming.body else {
        panic!("{incoming:?}")
    };
    assert_eq!(taken.player_meta.display_name.raw(), "Ada verified[2J");
    assert_eq!(
        taken.player_meta.contact_endpoint.raw(),
        "http://localhost:8101/mcp"
    );
    assert_eq!(
        said(&incoming),
        [
            "form player_meta.display_name",
            "form player_meta.contact_endpoint"
        ]
    );
}

#[test]
fn a_wrong_envelope_is_as_wrong_as_ever() {
    for (key, value, code) in [
        ("protocol", json!("league.v1"), "E018"),
        ("message_type", json!("NOTHING"), "E002"),
        ("sender", json!("nobody"), "E002"),
        ("conversation_id", json!(5), "E002"),
        ("timestamp", json!("2025-01-15T10:30:00+02:00"), "E021"),
        ("timestamp", json!(5), "E002"),
    ] {
        let mut message = named(JOIN);
        message[key] = value;
        let rejection = read(&message, Lenient).unwrap_err();
        assert_eq!(
            (rejection.code.code(), rejection.path.as_str()),
            (code, key)
        );
    }
}

#[test]
fn a_sender_that_does_not_say_is_known_by_what_it_sends() {
    for (message, sender) in [
        (json!({"message_type": "ROUND_COMPLETED"}), "league_manager"),
        (json!({"message_type": "START_LEAGUE"}), "launcher"),
        (
            json!({"message_type": "GAME_JOIN_ACK", "player_id": "P03"}),
            "player:P03",
        ),
        (
            json!({"message_type": "GAME_JOIN_ACK", "auth_token": "tok_p04_ff"}),
            "player:P04",
        ),
        (
            json!({"message_type": "GAME_JOIN_ACK", "auth_token": "tok_p04"}),
            "player:unknown",
        ),
        (
            json!({"message_type": "GAME_JOIN_ACK", "player_id": 3}),
            "player:unknown",
        ),
        (
            json!({"message_type": "MATCH_RESULT_REPORT", "auth_token": "tok_ref02_ff"}),
            "referee:REF02",
        ),
        (
            json!({"message_type": "MATCH_RESULT_REPORT", "referee_id": "REF03"}),
            "referee:REF03",
        ),
        (json!({"message_type": "GAME_OVER"}), "referee:unknown"),
        (
            json!({"message_type": "LEAGUE_QUERY", "auth_token": "tok_ref02_ff"}),
            "referee:REF02",
        ),
        (
            json!({"message_type": "LEAGUE_QUERY", "auth_token": "tok_p02_ff"}),
            "player:P02",
        ),
        (json!({"message_type": "LEAGUE_QUERY"}), "player:unknown"),
    ] {
        let incoming = read(&message, Lenient).unwrap();
        assert_eq!(incoming.envelope.sender.to_string(), sender, "{message}");
    }
}

#[test]
fn a_conversation_made_up_for_a_match_message_is_no_attempt_at_the_match() {
    let incoming = read(&without(REPORT, &["conversation_id"]), Lenient).unwrap();
    let conversation = incoming.envelope.conversation_id;
    assert!(conversation.as_str().starts_with("conv-"), "{conversation}");
    assert_eq!(conversation.attempt_of(&MatchId::new("R1M1")), None);
}

/// A message, what is done to it, and what the lenient reading says of it; the strict one refuses it by the code.
#[test]
fn what_is_forgiven_is_recorded_and_the_strict_reading_forgives_none_of_it() {
    let patched = |name: &str, pointer: &str, value: Value| {
        let mut message = named(name);
        *message.pointer_mut(pointer).unwrap() = value;
        message
    };
    let renamed = |name: &str, from: &str, to: &str, value: Value| {
        let mut message = without(name, &[from]);
        message[to] = value;
        message
    };
    let removed_in = |name: &str, pointer: &str, key: &str| {
        let mut message = named(name);
        let fields = message.pointer_mut(pointer).unwrap();
        fields.as_object_mut().unwrap().remove(key);
        message
    };
    let over = "002_2-4_game_over";
    let cases = [
        (
            renamed(CHOICE, "parity_choice", "choice", json!("odd")),
            "alias choice",
            "E003",
        ),
        (
            renamed(JOIN, "accept", "status", json!("ACCEPTED")),
            "alias status",
            "E003",
        ),
        (
            without(JOIN, &["arrival_timestamp"]),
            "missing arrival_timestamp",
            "E003",
        ),
        (
            patched(JOIN, "/arrival_timestamp", json!("20250115T103000Z")),
            "timestamp form arrival_timestamp",
            "E021",
        ),
        (
            patched(JOIN, "/timestamp", json!("2025-01-15T10:30:00+00:00Z")),
            "timestamp form timestamp",
            "E021",
        ),
        (without(JOIN, &["timestamp"]), "missing timestamp", "E003"),
        (
            patched(
                "002_2-2_game_invitation",
                "/role_in_match",
                json!("player_b"),
            ),
            "alias role_in_match",
            "E002",
        ),
        (
            without("002_2-2_game_invitation", &["round_id"]),
            "missing round_id",
            "E003",
        ),
        (without(REPORT, &["round_id"]), "missing round_id", "E003"),
        (
            removed_in(REPORT, "/result", "details"),
            "missing result.details",
            "E003",
        ),
        (
            without("002_1-2_round_completed", &["summary"]),
            "missing summary",
            "E003",
        ),
        (
            renamed(
                "002_1-2_round_completed",
                "matches_completed",
                "matches_played",
                json!(2),
            ),
            "alias matches_played",
            "E003",
        ),
        (
            removed_in(over, "/game_result", "reason"),
            "missing game_result.reason",
            "E003",
        ),
        (
            without("002_1-6_league_error", &["original_message_type"]),
            "missing original_message_type",
            "E003",
        ),
        (
            without("002_1-6_league_error", &["error_description"]),
            "missing error_description",
            "E003",
        ),
        (
            without("002_2-6_game_error", &["consequence"]),
            "missing consequence",
            "E003",
        ),
        (
            without("002_2-6_game_error", &["affected_player"]),
            "missing affected_player",
            "E003",
        ),
        (
            without("002_1-5_league_query_response", &["data"]),
            "missing data",
            "E003",
        ),
        (
            removed_in(
                "002_1-3_league_standings_update",
                "/standings/1",
                "display_name",
            ),
            "missing standings[1].display_name",
            "E003",
        ),
        (
            removed_in(
                "002_2-3_choose_parity_call",
                "/context/your_standings",
                "draws",
            ),
            "missing context.your_standings.draws",
            "E003",
        ),
        (
            removed_in("game_move_call", "/move_request", "context"),
            "missing move_request.context",
            "E003",
        ),
        (without(over, &["game_type"]), "missing game_type", "E003"),
        (
            removed_in(over, "/game_result", "status"),
            "missing game_result.status",
            "E003",
        ),
        (
            without("002_2-3_choose_parity_call", &["game_type"]),
            "missing game_type",
            "E003",
        ),
        (
            without("002_2-3_choose_parity_call", &["deadline"]),
            "missing deadline",
            "E003",
        ),
        (
            without("002_1-3_league_standings_update", &["league_id"]),
            "missing league_id",
            "E003",
        ),
        (
            without("002_1-3_league_standings_update", &["round_id"]),
            "missing round_id",
            "E003",
        ),
        (
            removed_in("002_1-3_league_standings_update", "/standings/1", "rank"),
            "missing standings[1].rank",
            "E003",
        ),
        (
            removed_in("002_1-3_league_standings_update", "/standings/1", "played"),
            "missing standings[1].played",
            "E003",
        ),
        (
            without("002_1-4_league_completed", &["total_matches"]),
            "missing total_matches",
            "E003",
        ),
        (
            removed_in("002_3-1_league_register_request", "/player_meta", "version"),
            "missing player_meta.version",
            "E003",
        ),
    ];
    for (message, deviation, code) in cases {
        let incoming = read(&message, Lenient).unwrap();
        assert!(incoming.body.is_ok(), "{deviation}: {:?}", incoming.body);
        assert_eq!(said(&incoming), [deviation]);
        let rejection = golden::read_body(&message, Strict).unwrap_err();
        assert_eq!(rejection.code.code(), code, "{deviation}: {rejection}");
    }
}

#[test]
fn a_wrong_choice_is_not_mended_by_a_right_one_under_another_name() {
    let mut message = named(CHOICE);
    message["choice"] = json!("even");
    for wrong in [json!("Even"), json!(null)] {
        message["parity_choice"] = wrong;
        let rejection = golden::read_body(&message, Lenient).unwrap_err();
        assert_eq!(
            (rejection.code.code(), rejection.path.as_str()),
            ("E004", "parity_choice")
        );
    }
}

#[test]
fn a_draw_may_be_written_as_the_winner() {
    for (name, pointer) in [
        (REPORT, "/result/winner"),
        ("002_2-4_game_over", "/game_result/winner_player_id"),
    ] {
        let mut message = named(name);
        *message.pointer_mut(pointer).unwrap() = json!("DRAW");
        let incoming = read(&message, Lenient).unwrap();
        let winner = match incoming.body.as_ref().unwrap() {
            Body::MatchResultReport(report) => report.result.winner.clone(),
            Body::GameOver(over) => over.game_result.winner_player_id.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(winner, None);
        assert_eq!(said(&incoming).len(), 1);
    }
}

#[test]
fn a_report_without_details_tells_of_no_choices() {
    let mut message = named(REPORT);
    message["result"].as_object_mut().unwrap().remove("details");
    let Ok(Body::MatchResultReport(report)) = read(&message, Lenient).unwrap().body else {
        panic!("refused");
    };
    let GameDetails::Parity(details) = &report.result.details.game else {
        panic!("another game");
    };
    assert!(details.choices.is_empty());
    assert_eq!(report.result.status, None);
}

#[test]
fn a_role_in_small_letters_is_the_same_role() {
    let mut message = named("002_2-2_game_invitation");
    for (text, role) in [("player_a", Role::PlayerA), ("player_b", Role::PlayerB)] {
        message["role_in_match"] = json!(text);
        let body = read(&message, Lenient).unwrap().body.unwrap();
        assert!(
            matches!(body, Body::GameInvitation(invitation) if invitation.role_in_match == role)
        );
    }
}

#[test]
fn only_an_accepted_status_stands_for_yes() {
    for status in [
        json!("REJECTED"),
        json!("accepted"),
        json!("OK"),
        json!(true),
    ] {
        let mut message = without(JOIN, &["accept"]);
        message["status"] = status;
        let rejection = golden::read_body(&message, Lenient).unwrap_err();
        assert_eq!(
            (rejection.code.code(), rejection.path.as_str()),
            ("E003", "accept")
        );
    }
}

#[test]
fn what_nobody_can_know_stays_missing() {
    for key in ["match_id", "player_id"] {
        let rejection = golden::read_body(&without(JOIN, &[key]), Lenient).unwrap_err();
        assert_eq!(
            (rejection.code.code(), rejection.path.as_str()),
            ("E003", key)
        );
    }
    let rejection =
        golden::read_body(&without("002_3-4_league_query", &["league_id"]), Lenient).unwrap_err();
    assert_eq!(
        (rejection.code.code(), rejection.path.as_str()),
        ("E003", "league_id")
    );
}

#[test]
fn an_answer_is_filled_in_from_what_was_asked() {
    let message = without(JOIN, &["match_id", "player_id", "sender"]);
    let incoming = answer_to(&exchange(), &message);
    let Ok(Body::GameJoinAck(ack)) = &incoming.body else {
        panic!("{incoming:?}");
    };
    assert_eq!(
        (ack.match_id.as_str(), ack.player_id.as_str()),
        ("R3M2", "P07")
    );
    // What the message does say is never overruled.
    let incoming = answer_to(&exchange(), &named(JOIN));
    let Ok(Body::GameJoinAck(ack)) = &incoming.body else {
        panic!("{incoming:?}");
    };
    assert_eq!(
        (ack.match_id.as_str(), ack.player_id.as_str()),
        ("R1M1", "P01")
    );
    assert_eq!(incoming.envelope.sender.to_string(), "player:P01");
}

#[test]
fn what_a_sparse_table_leaves_out_follows_from_the_rest() {
    let message = json!({"message_type": "LEAGUE_STANDINGS_UPDATE", "sender": "league_manager:LM01", "standings": [
        {"player_id": "P02", "points": 6, "wins": 2}, {"player_id": "P01", "points": 1, "draws": 1, "losses": 1},
    ]});
    let incoming = read(&message, Lenient).unwrap();
    assert_eq!(incoming.envelope.sender, Sender::LeagueManager);
    let Ok(Body::LeagueStandingsUpdate(update)) = &incoming.body else {
        panic!("{incoming:?}")
    };
    let rows: Vec<_> = update
        .standings
        .iter()
        .map(|row| (row.rank, row.played, row.points))
        .collect();
    assert_eq!(rows, [(1, 2, 6), (2, 2, 1)]);
}

#[test]
fn the_protocols_name_for_its_version_means_the_first() {
    let mut message = named("002_3-1_league_register_request");
    message["player_meta"]["protocol_version"] = json!("league.v2");
    let incoming = read(&message, Lenient).unwrap();
    assert_eq!(said(&incoming), ["alias player_meta.protocol_version"]);
    let Ok(Body::LeagueRegisterRequest(request)) = &incoming.body else {
        panic!("{incoming:?}")
    };
    assert_eq!(
        request.player_meta.protocol_version.as_deref(),
        Some("2.0.0")
    );
}

/// What a player of ours makes of a message that a referee or manager of another make sends.
fn taken(value: Value) -> Incoming {
    let incoming = read(&value, Lenient).unwrap();
    assert!(incoming.body.is_ok(), "{:?}", incoming.body);
    incoming
}

#[test]
fn what_a_player_does_not_need_it_does_not_judge() {
    for value in [
        json!({"message_type": "CHOOSE_PARITY_CALL", "match_id": "R1M1", "player_id": "P04",
            "context": {"opponent_id": "", "round_id": 0, "your_standings": "none"}, "deadline": "soon"}),
        json!({"message_type": "GAME_INVITATION", "match_id": "R1M1", "round_id": "ROUND_1",
            "role_in_match": "white", "opponent_id": ""}),
        json!({"message_type": "GAME_OVER", "match_id": "R1M1", "game_result": {"status": "LOSS",
            "winner_player_id": "P02", "drawn_number": 99, "number_parity": "odd",
            "choices": {"P01": "even", "P02": "odd"}}}),
        json!({"message_type": "GAME_OVER", "match_id": "R1M1", "winner_id": null, "drawn_number": 5,
            "choices": {"P01": "even", "P02": "even"}}),
        json!({"message_type": "GAME_OVER", "match_id": "R1M1", "game_result": {"drawn_number": 1000,
            "choices": {"P01": "heads"}}}),
        json!({"message_type": "ROUND_COMPLETED", "league_id": "l", "round_id": 0, "summary": {"draws": 1}}),
        json!({"message_type": "ROUND_ANNOUNCEMENT", "round_id": "ROUND_2", "league_id": "l", "matches": [
            {"match_id": "R2M1", "game_type": "even_odd", "player_A_id": "P01", "player_B_id": "P02",
             "referee_endpoint": "http://localhost:8001/mcp"}]}),
    ] {
        taken(value);
    }
}

#[test]
fn a_round_that_is_no_number_is_found_in_its_digits_or_in_the_name_of_the_match() {
    let invitation = |round: Value, id: &str| {
        let value = json!({"message_type": "GAME_INVITATION", "match_id": id, "round_id": round,
            "role_in_match": "PLAYER_A", "opponent_id": "P02"});
        match taken(value).body.unwrap() {
            Body::GameInvitation(invitation) => invitation.round_id.0,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(invitation(json!("ROUND_3"), "R2M1"), 2);
    assert_eq!(invitation(json!("ROUND_3"), "final"), 3);
    assert_eq!(invitation(json!(0), "final"), 1);
}

#[test]
fn a_loss_without_a_winner_is_one_and_with_one_is_a_win_of_the_other() {
    let status = |winner: Value| {
        let value = json!({"message_type": "GAME_OVER", "match_id": "R1M1", "game_result": {
            "status": "LOSS", "winner_player_id": winner, "choices": {}}});
        match taken(value).body.unwrap() {
            Body::GameOver(over) => over.game_result.status,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(status(json!("P02")), GameStatus::Win);
    assert_eq!(status(Value::Null), GameStatus::TechnicalLoss);
}

#[test]
fn a_registration_without_a_name_has_the_id_of_its_sender() {
    let value = json!({"message_type": "REFEREE_REGISTER_REQUEST", "sender": "referee:alpha", "referee_meta": {
        "game_types": ["even_odd"], "contact_endpoint": "http://localhost:8001/mcp", "max_concurrent_matches": 2}});
    match taken(value).body.unwrap() {
        Body::RefereeRegisterRequest(request) => {
            assert_eq!(request.referee_meta.display_name.raw(), "alpha");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn registered_means_accepted_and_a_manager_may_call_itself_manager() {
    let value = json!({"message_type": "LEAGUE_REGISTER_RESPONSE", "sender": "manager:MANAGER",
        "status": "REGISTERED", "player_id": "P01", "auth_token": "2607"});
    let incoming = taken(value);
    assert_eq!(incoming.envelope.sender, Sender::LeagueManager);
    match incoming.body.unwrap() {
        Body::LeagueRegisterResponse(response) => {
            assert_eq!(response.answer.status, RegisterStatus::Accepted);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn start_league_needs_its_four_fields_alone_in_strict_too() {
    let value = json!({"protocol": "league.v2", "message_type": "START_LEAGUE", "league_id": "l", "sender": "launcher"});
    let incoming = read(&value, Strict).unwrap();
    assert!(incoming.body.is_ok() && incoming.deviations.is_empty());
}

#[test]
fn the_strict_reading_of_a_players_answer_stands_beside_the_lenient_one() {
    let value = json!({"protocol": "league.v2", "message_type": "CHOOSE_PARITY_RESPONSE", "sender": "player:P01",
        "timestamp": "2025-01-15T10:30:00Z", "conversation_id": "conv-r1m1-001", "match_id": "R1M1",
        "player_id": "P01", "choice": "even"});
    let incoming = taken(value);
    let strict = incoming.under(Strict).unwrap();
    assert_eq!(strict.body.as_ref().unwrap_err().path, "parity_choice");
    assert!(incoming.under(Lenient).unwrap().body.is_ok());
}
