//! What holds for every message: who sends it to whom, its method, its envelope; and registrations and announcements.

use crate::exchange::{Exchange, PLAYERS, REFEREES, SCHEDULE, exchanges, messages, of_type, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn every_message_goes_from_the_sender_to_the_receiver_that_the_catalogue_names() {
    let all = exchanges();
    let found: BTreeSet<_> = messages(&all)
        .into_iter()
        .map(|(to, message)| {
            let from = text(message, "sender").split(':').next().unwrap();
            format!("{} {from} {to}", text(message, "message_type"))
        })
        .collect();
    let expected = [
        "CHOOSE_PARITY_CALL referee player",
        "CHOOSE_PARITY_RESPONSE player referee",
        "GAME_INVITATION referee player",
        "GAME_JOIN_ACK player referee",
        "GAME_OVER referee player",
        "LEAGUE_COMPLETED league_manager player",
        "LEAGUE_COMPLETED league_manager referee",
        "LEAGUE_REGISTER_REQUEST player league_manager",
        "LEAGUE_REGISTER_RESPONSE league_manager player",
        "LEAGUE_STANDINGS_UPDATE league_manager player",
        "LEAGUE_STATUS league_manager launcher",
        "MATCH_RESULT_ACK league_manager referee",
        "MATCH_RESULT_REPORT referee league_manager",
        "REFEREE_REGISTER_REQUEST referee league_manager",
        "REFEREE_REGISTER_RESPONSE league_manager referee",
        "ROUND_ANNOUNCEMENT league_manager player",
        "ROUND_ANNOUNCEMENT league_manager referee",
        "ROUND_COMPLETED league_manager player",
        "ROUND_COMPLETED league_manager referee",
        "START_LEAGUE launcher league_manager",
    ];
    assert_eq!(found, expected.map(str::to_owned).into());
}

#[test]
fn every_message_is_carried_by_the_method_that_the_flow_names() {
    let found: BTreeSet<_> = exchanges()
        .iter()
        .map(|exchange| {
            format!(
                "{} {}",
                text(&exchange.question, "message_type"),
                exchange.method
            )
        })
        .collect();
    let expected = [
        "CHOOSE_PARITY_CALL choose_parity",
        "GAME_INVITATION handle_game_invitation",
        "GAME_OVER notify_match_result",
        "LEAGUE_COMPLETED notify_league_completed",
        "LEAGUE_REGISTER_REQUEST register_player",
        "LEAGUE_STANDINGS_UPDATE update_standings",
        "MATCH_RESULT_REPORT report_match_result",
        "REFEREE_REGISTER_REQUEST register_referee",
        "ROUND_ANNOUNCEMENT notify_round",
        "ROUND_COMPLETED notify_round_completed",
        "START_LEAGUE start_league",
    ];
    assert_eq!(found, expected.map(str::to_owned).into());
}

/// `YYYY-MM-DDTHH:MM:SSZ` and nothing else.
fn is_plain_utc(time: &Value) -> bool {
    let form = |letter: char| if letter.is_ascii_digit() { '0' } else { letter };
    time.as_str()
        .is_some_and(|time| time.chars().map(form).collect::<String>() == "0000-00-00T00:00:00Z")
}

#[test]
fn every_message_has_the_whole_envelope_and_plain_utc_times() {
    let all = exchanges();
    for (_, message) in messages(&all) {
        assert_eq!(message["protocol"], "league.v2", "{message:#}");
        let sender = text(message, "sender");
        let known = ["league_manager", "launcher"].contains(&sender);
        assert!(
            known || sender.starts_with("player:") || sender.starts_with("referee:"),
            "{message:#}"
        );
        assert!(!text(message, "conversation_id").is_empty(), "{message:#}");
        assert!(is_plain_utc(&message["timestamp"]), "{message:#}");
        for time in ["arrival_timestamp", "deadline"] {
            assert!(message.get(time).is_none_or(is_plain_utc), "{message:#}");
        }
    }
}

#[test]
fn after_its_registration_an_agent_shows_a_token_in_all_that_it_sends() {
    let all = exchanges();
    for (_, message) in messages(&all) {
        let kind = text(message, "message_type");
        let by_operator = ["START_LEAGUE", "LEAGUE_STATUS"].contains(&kind);
        if !by_operator && kind != "MATCH_RESULT_ACK" {
            assert!(
                text(message, "auth_token").starts_with("tok_"),
                "{message:#}"
            );
        }
    }
}

#[test]
fn agents_register_in_their_order_and_are_accepted_with_id_token_and_league() {
    let all = exchanges();
    let answers = |kind: &str| {
        of_type(&all, kind)
            .into_iter()
            .map(|exchange| &exchange.answer)
            .collect()
    };
    let (referees, players): (Vec<&Value>, Vec<&Value>) = (
        answers("REFEREE_REGISTER_REQUEST"),
        answers("LEAGUE_REGISTER_REQUEST"),
    );
    let ids = |answers: &[&Value], field| {
        answers
            .iter()
            .map(|it| text(it, field).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&referees, "referee_id"), REFEREES);
    assert_eq!(ids(&players, "player_id"), PLAYERS);
    let mut tokens = BTreeSet::new();
    for answer in referees.iter().chain(&players) {
        assert_eq!(
            (&answer["status"], &answer["league_id"]),
            (&json!("ACCEPTED"), &json!("league_2025_even_odd"))
        );
        assert_eq!(answer.get("reason"), Some(&Value::Null), "{answer:#}");
        tokens.insert(text(answer, "auth_token"));
    }
    assert_eq!(tokens.len(), 6, "each has a token of its own");
}

#[test]
fn every_round_of_the_schedule_is_announced_whole_to_every_player() {
    let all = exchanges();
    let announcements = of_type(&all, "ROUND_ANNOUNCEMENT");
    for (round, matches) in (1..).zip(SCHEDULE) {
        for player in PLAYERS {
            let to_it = |it: &&&Exchange| it.to == player && it.question["round_id"] == round;
            let announced = &announcements
                .iter()
                .find(to_it)
                .expect("announced")
                .question;
            assert_eq!(announced["league_id"], "league_2025_even_odd");
            assert_eq!(
                announced["conversation_id"],
                format!("conv-round-{round}-announce")
            );
            let games = announced["matches"].as_array().unwrap();
            assert_eq!(games.len(), matches.len(), "{announced:#}");
            for (game, (id, a, b)) in games.iter().zip(matches) {
                assert_eq!(
                    (text(game, "match_id"), text(game, "game_type")),
                    (id, "even_odd")
                );
                assert_eq!(
                    (text(game, "player_A_id"), text(game, "player_B_id")),
                    (a, b)
                );
                assert!(REFEREES.contains(&text(game, "referee_id")));
                assert!(text(game, "referee_endpoint").ends_with("/mcp"));
                assert_eq!(
                    game.get("player_A_endpoint"),
                    None,
                    "that is the referee's business"
                );
            }
        }
    }
}
