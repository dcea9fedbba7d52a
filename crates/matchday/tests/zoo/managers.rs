//! Our referee and our players under managers that are none of ours.

use crate::agent_process::AgentProcess;
use crate::league::{ZooLeague, patient, until};
use matchday_core::protocol::decode::Conformance;
use matchday_core::registration::RegistrationState;
use matchday_testkit::tools;
use serde_json::Value;

/// Three players under this manager: two of ours and one of the zoo's, which play every match that there is.
async fn serve(manager: &str, player: &str, conformance: Conformance) -> Vec<Value> {
    let manager = AgentProcess::start(&format!("managers/{manager}"), "3");
    let at = manager.until("listening").await;
    let at = at.as_str().unwrap();
    let zoo_league = ZooLeague::new(conformance, patient());
    let referee = zoo_league.referee(1, at).await;
    let players = [
        zoo_league.player(1, at).await,
        zoo_league.player(2, at).await,
    ];
    let _other = AgentProcess::start(&format!("players/{player}"), at);
    let results = manager.until("results").await;
    assert_eq!(
        manager.told("refused"),
        Vec::<Value>::new(),
        "ours can read all that it says"
    );
    referee.shutdown().await.unwrap();
    for player in players {
        player.shutdown().await.unwrap();
    }
    results.as_object().unwrap().values().cloned().collect()
}

fn assert_all_were_played(results: &[Value]) {
    assert_eq!(results.len(), 3, "{results:?}");
    for result in results {
        let scores: Vec<_> = result["score"]
            .as_object()
            .unwrap()
            .values()
            .map(|score| score.as_u64())
            .collect();
        let winner = result["winner"].as_str();
        let even = scores == [Some(1), Some(1)];
        assert_eq!(even, winner.is_none(), "{result}");
        assert!(even || scores.contains(&Some(3)), "{result}");
        assert!(
            result["details"]["drawn_number"].is_u64(),
            "played, not forfeit: {result}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_referee_takes_matches_that_a_foreign_manager_assigns_directly() {
    if !tools::require("python3") {
        return;
    }
    for conformance in [Conformance::Strict, Conformance::Lenient] {
        assert_all_were_played(&serve("direct", "error_null", conformance).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_agents_find_the_only_form_that_a_foreign_manager_understands() {
    if !tools::require("python3") {
        return;
    }
    for (manager, player) in [("bare_only", "bare"), ("handle_only", "handle_message")] {
        assert_all_were_played(&serve(manager, player, Conformance::Strict).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manager_that_has_registered_us_unintelligibly_is_not_asked_for_ever() {
    if !tools::require("python3") {
        return;
    }
    let manager = AgentProcess::start("managers/registers_once", "2");
    let at = manager.until("listening").await;
    let zoo_league = ZooLeague::new(Conformance::Strict, patient());
    let player = zoo_league.player(1, at.as_str().unwrap()).await;
    until(&player, "its registration has ended", |player| {
        matches!(
            player.registration_state(),
            RegistrationState::Refused { .. }
        )
    })
    .await;
    let why = player
        .inspect(|player| player.registration_state().lacks())
        .await
        .unwrap()
        .unwrap();
    assert!(
        why.contains("already registered") && why.contains("status: expected"),
        "{why}"
    );
    assert_eq!(manager.until_times("asked", 2).await.len(), 2);
    player.shutdown().await.unwrap();
}
