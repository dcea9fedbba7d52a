//! Clocks that are an hour wrong: what was decided stays, what is open is played, nobody loses by it, and the log fits.

use crate::ground::{Ground, endpoint, quick, short, until, until_completed, until_registered};
use matchday::shell::Clock;
use matchday::store::verify::verify_file;
use matchday_core::league::{League, Manager};
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::GameStatus;
use std::time::Duration;
use tokio::net::TcpListener;

const HOUR: Duration = Duration::from_secs(3600);

fn assert_all_played(league: &League) {
    for (match_id, game) in &league.matches {
        let decision = game.decision.as_ref().expect("decided");
        assert_ne!(decision.status, GameStatus::TechnicalLoss, "{match_id}: {:?}", decision.result);
    }
}

fn assert_fits(ground: &Ground) {
    ground.store.clone().close().unwrap();
    let found = verify_file(&ground.file()).unwrap();
    assert_eq!((found.fault, found.matches), (None, 6));
}

/// The manager is started again in the middle of a league, and its clock shows another time than before.
async fn set_the_managers_clock(set: impl Fn(Timestamp) -> Timestamp) {
    let mut ground = Ground::new();
    let settings = quick(short());
    let manager = ground.manager(settings.clone()).await;
    let (address, at) = (manager.address(), endpoint(manager.address()));
    let referee = ground.referee(1, &at, short()).await;
    let mut players = Vec::new();
    for number in 1..=4 {
        players.push(ground.player(number, &at, "always_odd").await);
        until_registered(&manager, players.len(), 1).await;
    }
    ground.start(&manager).await;
    let is_begun = |manager: &Manager| manager.league().matches.values().any(|game| game.decision.is_some());
    until(&manager, "a match is decided", Duration::from_secs(20), is_begun).await;
    manager.shutdown().await.unwrap();

    ground.clock = Clock::starting_at(set(ground.clock.now()));
    let listener = TcpListener::bind(address).await.unwrap();
    let manager = ground.run(Manager::new(settings), listener, "league");
    let league = until_completed(&manager, Duration::from_secs(60)).await;
    assert_all_played(&league);
    for player in players {
        player.shutdown().await.unwrap();
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
    assert_fits(&ground);
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
    let mut ground = Ground::new();
    let manager = ground.manager(quick(short())).await;
    let at = endpoint(manager.address());
    let right = ground.clock.now();
    ground.clock = Clock::starting_at(right + HOUR);
    let referee = ground.referee(1, &at, short()).await;
    ground.clock = Clock::starting_at(right - HOUR);
    let mut players = Vec::new();
    for number in 1..=4 {
        players.push(ground.player(number, &at, "always_even").await);
        until_registered(&manager, players.len(), 1).await;
    }
    ground.start(&manager).await;
    assert_all_played(&until_completed(&manager, Duration::from_secs(20)).await);
    for player in players {
        player.shutdown().await.unwrap();
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
    assert_fits(&ground);
}
