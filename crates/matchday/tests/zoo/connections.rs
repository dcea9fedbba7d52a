//! A player that serves one connection at a time and keeps it, between a manager and a referee that both call it.

use crate::league::{
    ZooLeague, id_of, patient, start_agents, technical_losses, until_completed, until_members,
};
use matchday_core::protocol::decode::Conformance;
use matchday_testkit::tools;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_that_serves_one_connection_at_a_time_is_not_locked_by_ours() {
    if !tools::require("python3") {
        return;
    }
    let zoo_league = ZooLeague::new(Conformance::Strict, patient());
    let manager = zoo_league.manager().await;
    let at = format!("http://{}/mcp", manager.address());
    let referee = zoo_league.referee(1, &at).await;
    let _zoo = start_agents(
        "players",
        &["one_connection", "standard", "single_threaded"],
        manager.address(),
    );
    until_members(&manager, 3, 1).await;
    zoo_league.start(&manager).await;
    let league = until_completed(&manager).await;
    for name in ["one_connection", "standard", "single_threaded"] {
        assert_eq!(
            technical_losses(&league, &id_of(&league, name)),
            0,
            "{name}"
        );
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
}
