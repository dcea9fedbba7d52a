//! Agents that do not answer hold up nobody but themselves.

use matchday_core::league::League;
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::GameStatus;
use matchday_testkit::fake_peer::FakePeer;
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, short, until_completed, until_registered,
};
use serde_json::json;
use std::time::Duration;

fn technical(league: &League, of: &PlayerId) -> (usize, usize) {
    let lost = |game: &&matchday_core::league::fixture::Match| {
        game.decision
            .as_ref()
            .is_some_and(|decision| decision.status == GameStatus::TechnicalLoss)
    };
    let (with, without): (Vec<_>, Vec<_>) = league
        .matches
        .values()
        .filter(lost)
        .partition(|game| game.has(of));
    (with.len(), without.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_player_loses_its_matches_and_the_league_goes_on() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let at = endpoint(manager.address());
    let _referee = test_league.referee(1, &at, short()).await;
    let mut players = Vec::new();
    for number in 1..=4 {
        players.push(test_league.player(number, &at, "random").await);
        until_registered(&manager, players.len(), 1).await;
    }
    drop(players.pop());
    test_league.start(&manager).await;
    let league = until_completed(&manager, Duration::from_secs(60)).await;
    assert_eq!(technical(&league, &PlayerId::new("P04")), (3, 0));
}

/// The slow one takes its whole time to choose; the others' matches of the round are over long before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_player_does_not_delay_the_matches_of_others() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let timing = matchday_core::timing::Timing {
        choice: Duration::from_secs(1),
        ..short()
    };
    let manager = test_league.manager(quick(timing)).await;
    let at = endpoint(manager.address());
    let _referee = test_league.referee(1, &at, timing).await;
    let sleeper = FakePeer::by_rule(|request| match request["method"].as_str() {
        Some("ping") => (
            200,
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            Duration::ZERO,
        ),
        _ => (
            200,
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            Duration::from_secs(60),
        ),
    })
    .await;
    test_league
        .register_player(sleeper.address, manager.address())
        .await;
    let mut players = Vec::new();
    for number in 2..=4 {
        players.push(test_league.player(number, &at, "random").await);
        until_registered(&manager, players.len() + 1, 1).await;
    }
    test_league.start(&manager).await;
    let league = until_completed(&manager, Duration::from_secs(60)).await;
    assert_eq!(technical(&league, &PlayerId::new("P01")), (3, 0));
    for round in &league.rounds {
        let decided = |slow: bool| {
            let matches = league
                .matches_of(round)
                .filter(move |(_, game)| game.has(&PlayerId::new("P01")) == slow);
            matches
                .map(|(_, game)| game.decision.as_ref().unwrap().at)
                .max()
                .unwrap()
        };
        assert!(decided(false) < decided(true), "{round:?}");
    }
}
