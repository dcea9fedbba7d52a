//! Our referee and our players under managers that are none of ours.

use crate::cage::{Animal, python_is_here};
use crate::ground::{Ground, patient};
use matchday_core::protocol::decode::Conformance;
use serde_json::Value;

/// Three players under this manager: two of ours and one of the zoo's, which play every match that there is.
async fn serve(manager: &str, player: &str, conformance: Conformance) -> Vec<Value> {
    let manager = Animal::start(&format!("managers/{manager}"), "3");
    let at = manager.until("listening").await;
    let at = at.as_str().unwrap();
    let ground = Ground::new(conformance, patient());
    let referee = ground.referee(1, at).await;
    let players = [ground.player(1, at).await, ground.player(2, at).await];
    let _other = Animal::start(&format!("players/{player}"), at);
    let results = manager.until("results").await;
    referee.shutdown().await.unwrap();
    for player in players {
        player.shutdown().await.unwrap();
    }
    results.as_object().unwrap().values().cloned().collect()
}

fn assert_all_were_played(results: &[Value]) {
    assert_eq!(results.len(), 3, "{results:?}");
    for result in results {
        let scores: Vec<_> =
            result["score"].as_object().unwrap().values().map(|score| score.as_u64()).collect();
        let winner = result["winner"].as_str();
        let even = scores == [Some(1), Some(1)];
        assert_eq!(even, winner.is_none(), "{result}");
        assert!(even || scores.contains(&Some(3)), "{result}");
        assert!(result["details"]["drawn_number"].is_u64(), "played, not forfeit: {result}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_referee_takes_matches_that_a_foreign_manager_assigns_directly() {
    if !python_is_here() {
        return;
    }
    for conformance in [Conformance::Strict, Conformance::Lenient] {
        assert_all_were_played(&serve("direct", "error_null", conformance).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_referee_finds_its_matches_and_players_where_a_foreign_manager_names_its_endpoint_alone() {
    if !python_is_here() {
        return;
    }
    for conformance in [Conformance::Strict, Conformance::Lenient] {
        assert_all_were_played(&serve("announcer", "type_as_method", conformance).await);
    }
}
