//! A referee whose own rules forbid it to call the players: that is no fault of theirs.

use matchday_core::league::DecidedBy;
use matchday_core::protocol::messages::GameStatus;
use matchday_net::egress::{Egress, EgressPolicy, PinnedDns, Scopes};
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, short, until_completed, until_registered,
};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_match_is_played_by_another() {
    let mut test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let at = endpoint(manager.address());
    let anyone = test_league.client.clone();
    let policy = EgressPolicy {
        scopes: Scopes::PUBLIC,
        ..EgressPolicy::default()
    };
    test_league.client = anyone.with_egress(Egress::new(policy, PinnedDns::default(), [at.raw()]));
    let _bound = test_league.referee(1, &at, short()).await;
    until_registered(&manager, 0, 1).await;
    test_league.client = anyone;
    let _free = test_league.referee(2, &at, short()).await;
    until_registered(&manager, 0, 2).await;
    let _one = test_league.player(1, &at, "always_odd").await;
    let _other = test_league.player(2, &at, "always_even").await;
    until_registered(&manager, 2, 2).await;
    test_league.start(&manager).await;
    let league = until_completed(&manager, Duration::from_secs(60)).await;
    let game = league.matches.values().next().unwrap();
    let decision = game.decision.as_ref().unwrap();
    assert_ne!(
        decision.status,
        GameStatus::TechnicalLoss,
        "{:?}",
        decision.result
    );
    let referees: Vec<_> = game
        .attempts
        .iter()
        .map(|referee| referee.as_str())
        .collect();
    assert_eq!(
        referees,
        ["REF01", "REF02"],
        "the first could not, and handed it back"
    );
    assert!(matches!(&decision.by, DecidedBy::Referee(referee) if referee.as_str() == "REF02"));
}
