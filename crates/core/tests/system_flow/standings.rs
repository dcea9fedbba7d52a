//! The table after results, and the ends of rounds and of the league.

use crate::exchange::{Exchange, PLAYERS, REFEREES, exchanges, of_type, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is told to one agent, in its order.
fn told<'a>(all: &'a [Exchange], to: &str) -> Vec<&'a Value> {
    all.iter()
        .filter(|exchange| exchange.to == to)
        .map(|exchange| &exchange.question)
        .collect()
}

fn number(message: &Value, field: &str) -> u64 {
    message[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field} in {message:#}"))
}

#[test]
fn every_table_has_every_player_in_the_order_of_ranks_and_adds_up() {
    let all = exchanges();
    let tables = of_type(&all, "LEAGUE_STANDINGS_UPDATE");
    assert!(tables.len() >= 12, "{}", tables.len());
    for Exchange { question, .. } in tables {
        assert_eq!(question["league_id"], "league_2025_even_odd");
        let rows = question["standings"].as_array().unwrap();
        let ranks: Vec<u64> = rows.iter().map(|row| number(row, "rank")).collect();
        assert_eq!(ranks[0], 1);
        let follows = |(place, pair): (u64, &[u64])| pair[1] == pair[0] || pair[1] == place;
        assert!((2..).zip(ranks.windows(2)).all(follows), "{ranks:?}");
        let mut players: Vec<_> = rows.iter().map(|row| text(row, "player_id")).collect();
        players.sort_unstable();
        assert_eq!(players, PLAYERS);
        assert!(
            rows.iter()
                .map(|row| number(row, "points"))
                .is_sorted_by(|a, b| a >= b),
            "{question:#}"
        );
        for row in rows {
            let [wins, draws, losses] = ["wins", "draws", "losses"].map(|field| number(row, field));
            assert_eq!(number(row, "played"), wins + draws + losses);
            assert_eq!(number(row, "points"), 3 * wins + draws);
            assert!(!text(row, "display_name").is_empty());
        }
    }
}

#[test]
fn before_a_round_ends_every_player_is_told_the_table_that_counts_all_its_reports() {
    let all = exchanges();
    let mut points: BTreeMap<String, u64> = PLAYERS.map(|player| (player.to_owned(), 0)).into();
    for round in 1..=3 {
        for report in of_type(&all, "MATCH_RESULT_REPORT") {
            if report.question["round_id"] == round {
                for (player, score) in report.question["result"]["score"].as_object().unwrap() {
                    *points.get_mut(player).unwrap() += score.as_u64().unwrap();
                }
            }
        }
        for player in PLAYERS {
            let heard = told(&all, player);
            let is_end =
                |it: &&Value| it["message_type"] == "ROUND_COMPLETED" && it["round_id"] == round;
            let end = heard
                .iter()
                .position(is_end)
                .expect("the end of the round is told");
            let is_table = |it: &&&Value| it["message_type"] == "LEAGUE_STANDINGS_UPDATE";
            let table = heard[..end]
                .iter()
                .rfind(is_table)
                .expect("a table came before");
            assert_eq!(table["round_id"], round);
            assert_eq!(
                table["conversation_id"],
                format!("conv-round-{round}-standings")
            );
            for row in table["standings"].as_array().unwrap() {
                assert_eq!(
                    number(row, "points"),
                    points[text(row, "player_id")],
                    "round {round}"
                );
                assert_eq!(number(row, "played"), round);
            }
        }
    }
}

#[test]
fn everyone_is_told_the_end_of_every_round_with_a_summary_that_adds_up() {
    let all = exchanges();
    for to in PLAYERS.into_iter().chain(REFEREES) {
        let heard = told(&all, to);
        let ends: Vec<_> = heard
            .into_iter()
            .filter(|it| it["message_type"] == "ROUND_COMPLETED")
            .collect();
        assert_eq!(
            ends.iter()
                .map(|end| number(end, "round_id"))
                .collect::<Vec<_>>(),
            [1, 2, 3]
        );
        let next: Vec<_> = ends
            .iter()
            .map(|end| end.get("next_round_id").cloned())
            .collect();
        assert_eq!(next, [json!(2), json!(3), Value::Null].map(Some));
        for end in ends {
            assert_eq!(end["league_id"], "league_2025_even_odd");
            assert_eq!(
                (
                    number(end, "matches_completed"),
                    number(end, "matches_played")
                ),
                (2, 2)
            );
            let summary = &end["summary"];
            let parts = ["wins", "draws", "technical_losses"].map(|field| number(summary, field));
            assert_eq!(number(summary, "total_matches"), 2);
            assert_eq!(parts.iter().sum::<u64>(), 2, "{summary:#}");
        }
    }
}

#[test]
fn no_round_ends_before_every_match_of_it_is_reported_nor_does_the_next_begin() {
    let all = exchanges();
    let first =
        |is_it: &dyn Fn(&Value) -> bool| all.iter().position(|it| is_it(&it.question)).unwrap();
    for round in 1..=3 {
        let is_report =
            |it: &Value| it["message_type"] == "MATCH_RESULT_REPORT" && it["round_id"] == round;
        let last = all.iter().rposition(|it| is_report(&it.question)).unwrap();
        assert!(
            last < first(&|it| it["message_type"] == "ROUND_COMPLETED" && it["round_id"] == round)
        );
        if round < 3 {
            assert!(
                last < first(
                    &|it| it["message_type"] == "ROUND_ANNOUNCEMENT" && it["round_id"] == round + 1
                )
            );
        } else {
            assert!(last < first(&|it| it["message_type"] == "LEAGUE_COMPLETED"));
        }
    }
}

#[test]
fn everyone_is_told_at_last_who_is_champion_and_the_final_table() {
    let all = exchanges();
    for to in PLAYERS.into_iter().chain(REFEREES) {
        let heard = told(&all, to);
        let end = heard.last().expect("something is told to everyone");
        assert_eq!(
            (text(end, "message_type"), text(end, "sender")),
            ("LEAGUE_COMPLETED", "league_manager")
        );
        assert_eq!(text(end, "league_id"), "league_2025_even_odd");
        assert_eq!(
            (number(end, "total_rounds"), number(end, "total_matches")),
            (3, 6)
        );
        let table = end["final_standings"].as_array().unwrap();
        assert_eq!(
            table
                .iter()
                .map(|row| number(row, "rank"))
                .collect::<Vec<_>>(),
            [1, 2, 3, 4]
        );
        let mut players: Vec<_> = table.iter().map(|row| text(row, "player_id")).collect();
        players.sort_unstable();
        assert_eq!(players, PLAYERS);
        for field in ["player_id", "display_name", "points"] {
            assert_eq!(end["champion"][field], table[0][field]);
        }
        let highest = table.iter().map(|row| number(row, "points")).max();
        assert_eq!(Some(number(&end["champion"], "points")), highest);
    }
}
