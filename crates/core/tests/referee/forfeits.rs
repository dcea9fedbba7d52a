//! A match that a player has lost before it begins: decided at once, and both players are told.

use crate::bench::*;
use matchday_core::protocol::MessageType::{GameInvitation, GameOver, MatchResultReport};
use matchday_core::protocol::messages::{ByPlayer, Cause};
use serde_json::json;

fn given_out(forfeits: ByPlayer<Cause>) -> Bench {
    let mut bench = Bench::new();
    bench.announce(&[Announced {
        forfeits: Some(forfeits),
        ..even_odd("R1M1", 1, 2)
    }]);
    bench
}

#[test]
fn both_players_are_told_how_a_match_ended_that_was_not_played() {
    let bench = given_out([(p(2), Cause::Suspended)].into_iter().collect());
    assert_eq!(bench.all(GameInvitation).len(), 0);
    assert_eq!(bench.verdict(), "P01 TECHNICAL_LOSS 3-0");
    assert_eq!(bench.reason(), "P02 is suspended - P01 wins by default");
    for player in [1, 2] {
        let result = &written(&bench.last_to(player, GameOver))["game_result"];
        assert_eq!(
            (&result["status"], &result["winner_player_id"]),
            (&json!("TECHNICAL_LOSS"), &json!("P01"))
        );
        assert_eq!(result["drawn_number"], json!(null));
    }
    let report = written(&bench.last(MatchResultReport));
    let blame = json!({"P02": {"culprit": "player", "cause": "suspended"}});
    assert_eq!(report["result"]["details"]["blame"], blame);
}

#[test]
fn where_both_are_out_both_lose() {
    let bench = given_out(
        [(p(1), Cause::Withdrawn), (p(2), Cause::Revoked)]
            .into_iter()
            .collect(),
    );
    assert_eq!(bench.verdict(), "nobody TECHNICAL_LOSS 0-0");
}

#[test]
fn a_crash_before_the_report_was_answered_changes_nothing() {
    let mut bench = given_out([(p(2), Cause::Withdrawn)].into_iter().collect());
    bench.crash();
    assert_eq!(bench.decisions(), 1);
    assert_eq!(
        bench.all_to(1, GameOver).len(),
        2,
        "said again, since it may have been lost"
    );
}

#[test]
fn an_announcement_without_a_briefing_of_ones_own_manager_begins_nothing() {
    let mut bench = Bench::new();
    bench.announce(&[Announced {
        briefed: false,
        ..even_odd("R1M1", 1, 2)
    }]);
    bench.until(60.0);
    assert_eq!(
        bench.events.len(),
        2,
        "it has registered, and that is all: {:?}",
        bench.events
    );
}
