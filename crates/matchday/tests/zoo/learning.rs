//! What an agent understands is learnt from how it registered, corrected when it says that it knows no such method, and
//! not forgotten by a restart.

use crate::agent_process::AgentProcess;
use crate::league::{
    ZooLeague, id_of, patient, start_agents, technical_losses, until, until_completed,
    until_members,
};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::dialect::Dialect;
use matchday_testkit::tools;
use serde_json::Value;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_spoken_to_as_it_registered_from_the_first_word() {
    if !tools::require("python3") {
        return;
    }
    let zoo_league = ZooLeague::new(Conformance::Strict, patient());
    let manager = zoo_league.manager().await;
    let referee = zoo_league
        .referee(1, &format!("http://{}/mcp", manager.address()))
        .await;
    let dialects = [
        ("type_as_method", Dialect::TypeAsMethod),
        ("lower_type_as_method", Dialect::LowerTypeAsMethod),
        ("handle_message", Dialect::HandleMessage),
        ("bare", Dialect::Bare),
    ];
    let zoo = start_agents(
        "players",
        &dialects.map(|(name, _)| name),
        manager.address(),
    );
    until_members(&manager, zoo.len(), 1).await;
    zoo_league.start(&manager).await;
    let league = until_completed(&manager).await;
    for (guest, (name, dialect)) in zoo.iter().zip(dialects) {
        assert_eq!(
            league.players[&id_of(&league, name)].dialect,
            dialect,
            "{name}"
        );
        assert_eq!(
            guest.told("unknown"),
            Vec::<Value>::new(),
            "{name} understood every word"
        );
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
}

/// Its registration says nothing of what it understands, so that it must be found out: once by the manager, and perhaps
/// once by a referee that was given its match in the meantime.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_found_out_of_an_agent_outlives_a_restart_of_the_manager() {
    if !tools::require("python3") {
        return;
    }
    let zoo_league = ZooLeague::new(Conformance::Strict, patient());
    let manager = zoo_league.manager().await;
    let address = manager.address();
    let referee = zoo_league
        .referee(1, &format!("http://{address}/mcp"))
        .await;
    let zoo = start_agents(
        "players",
        &["two_tongues", "standard", "bare", "error_null"],
        address,
    );
    until_members(&manager, 4, 1).await;
    zoo_league.start(&manager).await;
    until(&manager, "a round is over", |manager| {
        manager.league().matches_decided >= 2
    })
    .await;
    manager.shutdown().await.unwrap();
    let tongues = &zoo[0];
    let found_out = tongues.told("unknown");
    let tried = |methods: [&str; 2]| {
        found_out
            .iter()
            .filter(|method| methods.contains(&method.as_str().unwrap()))
            .count()
    };
    let by_manager = tried(["notify_round", "ROUND_ANNOUNCEMENT"]);
    let by_referee = tried(["handle_game_invitation", "GAME_INVITATION"]);
    assert_eq!(
        (by_manager, by_manager + by_referee),
        (2, found_out.len()),
        "{found_out:?}"
    );
    assert!(by_referee == 0 || by_referee == 2, "{found_out:?}");

    let manager = zoo_league.manager_at(address).await;
    let league = until_completed(&manager).await;
    assert_eq!(
        league.players[&id_of(&league, "two_tongues")].dialect,
        Dialect::HandleMessage
    );
    assert_eq!(tongues.told("unknown"), found_out, "and never again");
    for player in league.players.keys() {
        assert_eq!(technical_losses(&league, player), 0, "{player}");
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
}

/// A foreign manager does not say what its players understand: our referee finds it out, and does so once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_referee_remembers_what_the_players_of_a_foreign_manager_understand() {
    if !tools::require("python3") {
        return;
    }
    let manager = AgentProcess::start("managers/direct", "3");
    let at = manager.until("listening").await;
    let at = at.as_str().unwrap();
    let zoo_league = ZooLeague::new(Conformance::Strict, patient());
    let referee = zoo_league.referee(1, at).await;
    let players = [
        zoo_league.player(1, at).await,
        zoo_league.player(2, at).await,
    ];
    let tongues = AgentProcess::start("players/two_tongues", at);
    assert_eq!(manager.until("results").await.as_object().unwrap().len(), 3);
    assert_eq!(
        tongues.told("unknown"),
        ["handle_game_invitation", "GAME_INVITATION"],
        "each was tried once"
    );
    referee.shutdown().await.unwrap();
    for player in players {
        player.shutdown().await.unwrap();
    }
}
