//! A referee whose own rules forbid it to call the players: that is no fault of theirs.

use crate::ground::{Ground, endpoint, quick, short, until_completed, until_registered};
use matchday::net::names::Names;
use matchday::net::policy::{Policy, Scopes};
use matchday::net::strangers::Strangers;
use matchday_core::league::DecidedBy;
use matchday_core::protocol::messages::GameStatus;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_match_is_played_by_another() {
    let mut ground = Ground::new();
    let manager = ground.manager(quick(short())).await;
    let at = endpoint(manager.address());
    let anyone = ground.client.clone();
    let policy = Policy { scopes: Scopes::PUBLIC, ..Policy::default() };
    ground.client = anyone.guarded(Strangers::new(policy, Names::default(), [at.raw()]));
    let _bound = ground.referee(1, &at, short()).await;
    until_registered(&manager, 0, 1).await;
    ground.client = anyone;
    let _free = ground.referee(2, &at, short()).await;
    until_registered(&manager, 0, 2).await;
    let _one = ground.player(1, &at, "always_odd").await;
    let _other = ground.player(2, &at, "always_even").await;
    until_registered(&manager, 2, 2).await;
    ground.start(&manager).await;
    let league = until_completed(&manager, Duration::from_secs(20)).await;
    let game = league.matches.values().next().unwrap();
    let decision = game.decision.as_ref().unwrap();
    assert_ne!(decision.status, GameStatus::TechnicalLoss, "{:?}", decision.result);
    let referees: Vec<_> = game.attempts.iter().map(|referee| referee.as_str()).collect();
    assert_eq!(referees, ["REF01", "REF02"], "the first could not, and handed it back");
    assert!(matches!(&decision.by, DecidedBy::Referee(referee) if referee.as_str() == "REF02"));
}
