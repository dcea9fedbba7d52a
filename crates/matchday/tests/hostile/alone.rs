//! Each hostile agent alone among honest players.

use crate::agents::{HOSTILE_AGENTS, HostileAgent};
use crate::league::{HostileLeague, round};
use tokio::task::JoinSet;

/// How many leagues are played at the same time.
const AT_ONCE: usize = 9;

async fn play_with(agent: HostileAgent) {
    let hostile_league = HostileLeague::open(3, &[agent], 1, vec![round([(1, 2), (3, 4)])]).await;
    let played = hostile_league.play().await;
    played.assert_expected_ends();
    played.assert_forgers_refused();
    played.assert_rounds_in_time();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_hostile_player_loses_its_own_matches_and_no_others() {
    let mut failed = Vec::new();
    for hostile in HOSTILE_AGENTS.chunks(AT_ONCE) {
        let mut leagues = JoinSet::new();
        for agent in hostile {
            let agent = *agent;
            leagues.spawn(async move { (agent.name, tokio::spawn(play_with(agent)).await) });
        }
        for (name, outcome) in leagues.join_all().await {
            if let Err(error) = outcome {
                let why = error.into_panic();
                let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
                failed.push(format!("{name}: {why}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
