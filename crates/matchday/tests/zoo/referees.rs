//! Our manager and our players with referees that are none of ours.

use crate::cage::{Animal, python_is_here};
use crate::ground::{
    Ground, animals, endpoint, patient, technical_losses, until, until_completed, until_members,
};
use matchday::shell::Handle;
use matchday_core::league::{DecidedBy, League, Manager};
use matchday_core::player::Player;
use matchday_core::protocol::RefereeId;
use matchday_core::protocol::decode::Conformance;
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use serde_json::{Value, json};
use std::time::Duration;

async fn two_players(ground: &Ground, manager: &Handle<Manager>) -> [Handle<Player>; 2] {
    let at = endpoint(manager.address());
    [ground.player(1, at.raw()).await, ground.player(2, at.raw()).await]
}

async fn listed(ground: &Ground, manager: &Handle<Manager>) -> Value {
    ground.ask(manager.address(), "get_referees", json!({})).await["data"]["referees"].clone()
}

/// Two players of ours and some of the zoo's, all of whose matches this referee runs: nobody loses by default, ours hear
/// how their matches ended. Gives back what the manager tells of the referee, too.
async fn run_by(referee: &str, conformance: Conformance, others: &[&str]) -> (League, Animal, Value) {
    let ground = Ground::new(conformance, patient());
    let manager = ground.manager().await;
    let mut whistle = animals("referees", &[referee], manager.address());
    let players = two_players(&ground, &manager).await;
    let _zoo = animals("players", others, manager.address());
    until_members(&manager, 2 + others.len(), 1).await;
    ground.start(manager.address()).await;
    let league = until_completed(&manager).await;
    for player in league.players.keys() {
        assert_eq!(technical_losses(&league, player), 0, "{player} under {referee}");
    }
    let mine = league.players.len() - 1;
    for player in &players {
        until(player, "every result heard", move |player| player.history().overall().games().len() == mine)
            .await;
    }
    let listed = listed(&ground, &manager).await;
    for player in players {
        player.shutdown().await.unwrap();
    }
    manager.shutdown().await.unwrap();
    (league, whistle.remove(0), listed[0].clone())
}

fn kinds(listing: &Value) -> Vec<&str> {
    listing["deviations"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_referee_as_described_runs_a_strict_league() {
    if !python_is_here() {
        return;
    }
    let (league, _, listing) =
        run_by("standard", Conformance::Strict, &["error_null", "fails_on_unknown"]).await;
    assert_eq!(listing["matches_decided"], league.matches.len());
    assert_eq!(kinds(&listing), Vec::<&str>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_without_details_and_a_winner_called_draw_are_taken_in_a_lenient_league() {
    if !python_is_here() {
        return;
    }
    let (league, terse, listing) = run_by("terse", Conformance::Lenient, &["type_as_method"]).await;
    assert_eq!(listing["matches_decided"], league.matches.len());
    assert_eq!(terse.told("unknown"), Vec::<Value>::new(), "it was spoken to in its own dialect");
    let drawn =
        league.matches.values().filter(|game| game.decision.as_ref().unwrap().result.winner.is_none());
    let drawn = drawn.count();
    assert_eq!(listing["deviations"]["missing result.details"], league.matches.len());
    assert_eq!(
        listing["deviations"].get("alias result.winner").and_then(Value::as_u64).unwrap_or(0),
        drawn as u64
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_referee_in_lower_case_that_leaves_out_what_it_can_runs_a_lenient_league() {
    if !python_is_here() {
        return;
    }
    let (league, animal, listing) = run_by("lower_case", Conformance::Lenient, &[]).await;
    assert_eq!(listing["matches_decided"], league.matches.len());
    assert_eq!(animal.told("trouble"), Vec::<Value>::new());
    assert_eq!(
        kinds(&listing),
        [
            "missing conversation_id",
            "missing protocol",
            "missing round_id",
            "missing sender",
            "missing timestamp"
        ]
    );
}

/// The referee's own endpoint is no proof: whoever has no token has no say, in every reading.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_without_a_token_never_counts_and_its_match_goes_to_another_referee() {
    if !python_is_here() {
        return;
    }
    let window = Duration::from_millis(300);
    let retry = RetryPolicy { retries: 1, backoff: Backoff::Fixed { delay: Duration::from_millis(50) } };
    for conformance in [Conformance::Strict, Conformance::Lenient] {
        let timing =
            Timing { join: window, choice: window, report: window, other: window, retry, ..patient() };
        let ground = Ground::new(conformance, timing);
        let manager = ground.manager().await;
        let forger = animals("referees", &["null_token"], manager.address()).remove(0);
        until_members(&manager, 0, 1).await;
        let referee = ground.referee(1, endpoint(manager.address()).raw()).await;
        let players = two_players(&ground, &manager).await;
        until_members(&manager, 2, 2).await;
        ground.start(manager.address()).await;
        let league = until_completed(&manager).await;
        assert_eq!(forger.until("answer").await, "E011");
        let decided_by: Vec<_> =
            league.matches.values().map(|game| game.decision.as_ref().unwrap().by.clone()).collect();
        assert_eq!(decided_by, [DecidedBy::Referee(RefereeId::new("REF02"))]);
        for player in players {
            player.shutdown().await.unwrap();
        }
        referee.shutdown().await.unwrap();
        manager.shutdown().await.unwrap();
    }
}
