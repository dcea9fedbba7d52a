//! All hostile agents at once, hostile callers and a flood of connections besides, and honest players in the midst of it.

use crate::agents::HOSTILE_AGENTS;
use crate::callers::{call, callers};
use crate::figures;
use crate::flood::{HELD, flood};
use crate::league::{HostileLeague, round};
use matchday_core::league::schedule::Pairings;
use std::net::SocketAddr;
use tokio::task::JoinSet;

const HONEST: usize = 14;
/// Enough for every match of a round to be played at once.
const REFEREES: u32 = 2;
/// How much more memory the process may have at any time, with all agents and all hostile agents in it. A single one of the bodies
/// that are sent has 100 MB.
const GROWTH_MAX_KB: u64 = 96 * 1024;
/// What the agents may have open among themselves and with the hostile agents, beyond the flood.
const FILES_MAX: usize = 700;

/// A round of the honest among themselves and the hostile agents among themselves, then as many as it takes for each hostile agent to
/// meet an honest player, while the other hostile agents meet each other.
fn fixtures(hostile: usize) -> Vec<Pairings> {
    let honest: Vec<_> = (1..=HONEST).collect();
    let hostile: Vec<_> = (HONEST + 1..=HONEST + hostile).collect();
    let among = |ids: &[usize]| {
        ids.chunks_exact(2)
            .map(|pair| (pair[0], pair[1]))
            .collect::<Vec<_>>()
    };
    let mut rounds = vec![round([among(&honest), among(&hostile)].concat())];
    for met in hostile.chunks(HONEST) {
        let others: Vec<_> = hostile
            .iter()
            .copied()
            .filter(|id| !met.contains(id))
            .collect();
        let meeting = honest.iter().copied().zip(met.iter().copied());
        rounds.push(round(meeting.chain(among(&others))));
    }
    rounds
}

/// Every hostile call, again and again.
fn besiege(addresses: &[SocketAddr]) -> JoinSet<()> {
    let mut callers_at_work = JoinSet::new();
    for caller in callers() {
        let addresses = addresses.to_vec();
        callers_at_work.spawn(async move {
            loop {
                for address in &addresses {
                    call(*address, &caller).await;
                }
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
        });
    }
    callers_at_work
}

/// `cargo test --release -p matchday --test hostile together -- --nocapture` prints the figures.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_zoo_at_once_costs_honest_players_nothing() {
    let before = figures::now();
    let hostile_league = HostileLeague::open(
        HONEST,
        HOSTILE_AGENTS,
        REFEREES,
        fixtures(HOSTILE_AGENTS.len()),
    )
    .await;
    let addresses = hostile_league.addresses();
    let watch = figures::watch();
    let flooding = flood(&addresses).await;
    let siege = besiege(&addresses);
    let played = hostile_league.play().await;
    let most = watch.most();
    drop((flooding, siege));
    played.assert_expected_ends();
    played.assert_forgers_refused();
    let (longest, bound) = played.assert_rounds_in_time();
    drop(played);
    let after = figures::now();
    println!(
        "before {before:?}, at most {most:?}, after {after:?}; the longest round {longest:?} of at most {bound:?}"
    );
    assert!(
        most.resident_kb - before.resident_kb < GROWTH_MAX_KB,
        "{before:?} {most:?}"
    );
    // Both ends of a connection are in this process.
    assert!(
        most.files < before.files + 2 * HELD * addresses.len() + FILES_MAX,
        "{before:?} {most:?}"
    );
}
