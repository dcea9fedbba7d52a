//! A match from its invitations to its report.

use crate::exchange::{Exchange, SCHEDULE, exchanges, of_type, round_of, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn a_match_is_played_in_the_order_of_the_flow_with_one_id_and_one_conversation() {
    let all = exchanges();
    for (id, ..) in SCHEDULE.as_flattened() {
        let said: Vec<_> = all
            .iter()
            .filter(|exchange| exchange.question["match_id"] == *id)
            .collect();
        let order: Vec<_> = said
            .iter()
            .map(|exchange| text(&exchange.question, "message_type"))
            .collect();
        let twice = |kind| [kind, kind];
        let expected = [
            &twice("GAME_INVITATION")[..],
            &twice("CHOOSE_PARITY_CALL"),
            &twice("GAME_OVER"),
            &["MATCH_RESULT_REPORT"],
        ];
        assert_eq!(order, expected.concat(), "{id}");
        for exchange in said {
            let answer = match text(&exchange.question, "message_type") {
                "GAME_INVITATION" => "GAME_JOIN_ACK",
                "CHOOSE_PARITY_CALL" => "CHOOSE_PARITY_RESPONSE",
                "MATCH_RESULT_REPORT" => "MATCH_RESULT_ACK",
                _ => continue,
            };
            assert_eq!(exchange.answer["message_type"], answer);
            assert_eq!(exchange.answer["match_id"], *id);
            let conversation = format!("conv-{}-001", id.to_lowercase());
            assert_eq!(exchange.question["conversation_id"], conversation);
            assert_eq!(exchange.answer["conversation_id"], conversation);
        }
    }
}

#[test]
fn each_player_is_invited_with_its_role_and_its_opponent_and_joins_in_its_own_name() {
    let all = exchanges();
    let invitations = of_type(&all, "GAME_INVITATION");
    assert_eq!(invitations.len(), 12);
    for (id, a, b) in SCHEDULE.as_flattened() {
        for (player, opponent, role) in [(a, b, "PLAYER_A"), (b, a, "PLAYER_B")] {
            let to_it = |it: &&&Exchange| it.to == *player && it.question["match_id"] == *id;
            let Exchange {
                question, answer, ..
            } = invitations.iter().find(to_it).expect("invited");
            assert!(text(question, "sender").starts_with("referee:REF0"));
            assert_eq!(question["league_id"], "league_2025_even_odd");
            assert_eq!(
                (&question["round_id"], text(question, "game_type")),
                (&json!(round_of(id)), "even_odd")
            );
            assert_eq!(
                (
                    text(question, "role_in_match"),
                    text(question, "opponent_id")
                ),
                (role, *opponent)
            );
            assert_eq!(text(answer, "sender"), format!("player:{player}"));
            assert_eq!(
                (text(answer, "player_id"), &answer["accept"]),
                (*player, &json!(true))
            );
            assert!(answer["arrival_timestamp"].is_string());
        }
    }
}

/// Each player's wins, losses and draws before a round, by what GAME_OVER told of the rounds before it.
fn record_before(all: &[Exchange], round: u64, player: &str) -> Value {
    let mut wins = 0;
    let mut losses = 0;
    let mut draws = 0;
    for exchange in of_type(all, "GAME_OVER") {
        let match_id = text(&exchange.question, "match_id");
        let result = &exchange.question["game_result"];
        if exchange.to == player && round_of(match_id) < round {
            match &result["winner_player_id"] {
                Value::Null => draws += 1,
                winner if winner == player => wins += 1,
                _ => losses += 1,
            }
        }
    }
    json!({"wins": wins, "losses": losses, "draws": draws})
}

#[test]
fn a_choice_is_asked_for_with_opponent_round_record_and_a_deadline_thirty_seconds_ahead() {
    let all = exchanges();
    let calls = of_type(&all, "CHOOSE_PARITY_CALL");
    assert_eq!(calls.len(), 12);
    for Exchange {
        to,
        question,
        answer,
        ..
    } in calls
    {
        let id = text(question, "match_id");
        let (_, a, b) = SCHEDULE
            .as_flattened()
            .iter()
            .find(|(known, ..)| *known == id)
            .unwrap();
        let opponent = if to == a { b } else { a };
        assert_eq!(
            (text(question, "player_id"), text(question, "game_type")),
            (to.as_str(), "even_odd")
        );
        let record = record_before(&all, round_of(id), to);
        let context =
            json!({"opponent_id": opponent, "round_id": round_of(id), "your_standings": record});
        assert_eq!(question["context"], context);
        // Virtual time stands still within a second here, so the seconds can be told apart by their text.
        assert_eq!(
            seconds(&question["deadline"]),
            seconds(&question["timestamp"]) + 30
        );
        assert_eq!(text(answer, "player_id"), to);
        assert!(["even", "odd"].contains(&text(answer, "parity_choice")));
    }
}

/// Since midnight.
fn seconds(time: &Value) -> u64 {
    let parts = time.as_str().unwrap()[11..19]
        .split(':')
        .map(|part| part.parse::<u64>().unwrap());
    parts.fold(0, |sum, part| sum * 60 + part)
}

#[test]
fn both_players_are_told_the_same_end_and_it_follows_from_number_and_choices() {
    let all = exchanges();
    let mut told: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for exchange in of_type(&all, "GAME_OVER") {
        assert_eq!(exchange.question["game_type"], "even_odd");
        told.entry(text(&exchange.question, "match_id"))
            .or_default()
            .push(&exchange.question["game_result"]);
    }
    assert_eq!(told.len(), 6);
    for (id, a, b) in SCHEDULE.as_flattened() {
        let [to_a, to_b] = told[id][..] else {
            panic!("{id} is told to two players")
        };
        assert_eq!(to_a, to_b);
        let number = to_a["drawn_number"].as_u64().unwrap();
        assert!((1..=10).contains(&number));
        let parity = if number % 2 == 0 { "even" } else { "odd" };
        assert_eq!(to_a["number_parity"], parity);
        let chosen: BTreeMap<_, _> = of_type(&all, "CHOOSE_PARITY_CALL")
            .into_iter()
            .filter(|exchange| exchange.question["match_id"] == *id)
            .map(|exchange| {
                (
                    exchange.to.clone(),
                    exchange.answer["parity_choice"].clone(),
                )
            })
            .collect();
        assert_eq!(to_a["choices"], json!(chosen));
        let right: Vec<_> = [a, b]
            .into_iter()
            .filter(|player| chosen[**player] == parity)
            .collect();
        let (status, winner) = match right[..] {
            [winner] => ("WIN", json!(winner)),
            _ => ("DRAW", Value::Null),
        };
        assert_eq!(
            (text(to_a, "status"), to_a.get("winner_player_id")),
            (status, Some(&winner))
        );
        assert!(text(to_a, "reason").contains(&number.to_string()));
    }
}

#[test]
fn the_report_says_what_game_over_said_with_three_points_one_or_none() {
    let all = exchanges();
    let reports = of_type(&all, "MATCH_RESULT_REPORT");
    assert_eq!(reports.len(), 6);
    for Exchange {
        question, answer, ..
    } in reports
    {
        let id = text(question, "match_id");
        let over = of_type(&all, "GAME_OVER")
            .into_iter()
            .find(|it| it.question["match_id"] == *id)
            .unwrap();
        let over = &over.question["game_result"];
        let result = &question["result"];
        assert!(text(question, "sender").starts_with("referee:REF0"));
        assert_eq!(question["league_id"], "league_2025_even_odd");
        assert_eq!(
            (&question["round_id"], text(question, "game_type")),
            (&json!(round_of(id)), "even_odd")
        );
        assert_eq!(result["winner"], over["winner_player_id"]);
        for field in ["drawn_number", "choices"] {
            assert_eq!(result["details"][field], over[field]);
        }
        let (_, a, b) = SCHEDULE
            .as_flattened()
            .iter()
            .find(|(known, ..)| *known == id)
            .unwrap();
        let points = |player: &str| match &result["winner"] {
            Value::Null => 1,
            winner if winner == player => 3,
            _ => 0,
        };
        assert_eq!(result["score"], json!({*a: points(a), *b: points(b)}));
        assert_eq!(
            (text(answer, "match_id"), text(answer, "status")),
            (id, "recorded")
        );
    }
}
