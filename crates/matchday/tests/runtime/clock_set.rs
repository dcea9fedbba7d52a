//! Clocks that are an hour wrong: what was decided stays, what is open is played, nobody loses by it, and the log fits.

use matchday_audit::verify::verify_file;
use matchday_core::league::{League, Manager};
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::GameStatus;
use matchday_runtime::Clock;
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, short, until, until_completed, until_registered,
};
use std::time::Duration;
use tokio::net::TcpListener;

const HOUR: Duration = Duration::from_secs(3600);

fn assert_all_played(league: &League) {
    for (match_id, game) in &league.matches {
        let decision = game.decision.as_ref().expect("decided");
        assert_ne!(
            decision.status,
            GameStatus::TechnicalLoss,
            "{match_id}: {:?}",
            decision.result
        );
    }
}

fn assert_fits(test_league: &TestLeague) {
    test_league.store.clone().close().unwrap();
    let found = verify_file(test_league.file()).unwrap();
    assert_eq!((found.fault, found.matches), (None, 6));
}

/// The manager is started again in the middle of a league, and its clock shows another time than before.
async fn set_the_managers_clock(set: impl Fn(Timestamp) -> Timestamp) {
    let mut test_league = TestLeague::new(matchday_server::agent_options);
    let settings = quick(short());
    let manager = test_league.manager(settings.clone()).await;
    let address = manager.address();
    let at = endpoint(manager.address());
    let referee = test_league.referee(1, &at, short()).await;
    let mut players = Vec::new();
    for number in 1..=4 {
        players.push(test_league.player(number, &at, "always_odd").await);
        until_registered(&manager, players.len(), 1).await;
    }
    test_league.start(&manager).await;
    let is_begun = |manager: &Manager| {
        manager
            .league()
            .matches
            .values()
            .any(|game| game.decision.is_some())
    };
    until(
        &manager,
        "a match is decided",
        Duration::from_secs(60),
        is_begun,
    )
    .await;
    manager.shutdown().await.unwrap();

    test_league.clock = Clock::starting_at(set(test_league.clock.now()));
    let listener = TcpListener::bind(address).await.unwrap();
    let manager = test_league.run(Manager::new(settings), listener, "league");
    let league = until_completed(&manager, Duration::from_secs(60)).await;
    assert_all_played(&league);
    for player in players {
        player.shutdown().await.unwrap();
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
    assert_fits(&test_league);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manager_whose_clock_was_set_back_by_an_hour_goes_on() {
    set_the_managers_clock(|now| now - HOUR).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manager_whose_clock_was_set_forward_by_an_hour_goes_on() {
    set_the_managers_clock(|now| now + HOUR).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_whose_clocks_differ_by_hours_play_all_the_same() {
    let mut test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let at = endpoint(manager.address());
    let right = test_league.clock.now();
    test_league.clock = Clock::starting_at(right + HOUR);
    let referee = test_league.referee(1, &at, short()).await;
    test_league.clock = Clock::starting_at(right - HOUR);
    let mut players = Vec::new();
    for number in 1..=4 {
        players.push(test_league.player(number, &at, "always_even").await);
        until_registered(&manager, players.len(), 1).await;
    }
    test_league.start(&manager).await;
    assert_all_played(&until_completed(&manager, Duration::from_secs(60)).await);
    for player in players {
        player.shutdown().await.unwrap();
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
    assert_fits(&test_league);
}
