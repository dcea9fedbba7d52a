//! How long the answers of all players took, compared with the deadline. Pure.

use super::Versioned;
use super::answer_times::TimeStatistics;
use crate::dashboard::projection::Snapshot;
use matchday_audit::league_view::PlayerName;
use matchday_core::protocol::{MatchId, PlayerId};
use matchday_store::messages::Call;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(crate) struct Latencies {
    #[serde(flatten)]
    all: TimeStatistics,
    /// The slowest first.
    players: Vec<PlayerLatency>,
}

#[derive(Debug, Serialize)]
struct PlayerLatency {
    #[serde(flatten)]
    who: PlayerName,
    count: usize,
    late: usize,
    p50_ms: u32,
    p99_ms: u32,
    longest_ms: u32,
}

/// `calls` for moves, with their match and the endpoint that was called; those of undecided matches do not count.
pub(crate) fn page(snapshot: &Snapshot, calls: &[(MatchId, String, Call)]) -> Versioned<Latencies> {
    let league = &snapshot.projection.league;
    let endpoints: BTreeMap<&str, &PlayerId> = league
        .players
        .iter()
        .map(|(id, player)| (player.meta.contact_endpoint.raw(), id))
        .collect();
    let mut of_players: BTreeMap<&PlayerId, (Vec<u32>, usize)> = BTreeMap::new();
    for (id, endpoint, call) in calls {
        let is_decided = league
            .matches
            .get(id)
            .is_some_and(|game| game.decision.is_some());
        let Some(player) = endpoints.get(endpoint.as_str()).filter(|_| is_decided) else {
            continue;
        };
        let (times, late) = of_players.entry(player).or_default();
        match call.took_ms() {
            Some(took) => times.push(took),
            None => *late += 1,
        }
    }
    let everyone = of_players
        .values()
        .flat_map(|(times, _)| times.iter().copied())
        .collect();
    let late = of_players.values().map(|(_, late)| late).sum();
    let deadline = league.settings.timing.choice;
    let one = |(id, (times, late)): (&PlayerId, (Vec<u32>, usize))| {
        let longest_ms = times.iter().copied().max()?;
        let times = TimeStatistics::of(times, late, deadline);
        Some(PlayerLatency {
            who: PlayerName::of(league, id),
            count: times.count,
            late,
            p50_ms: times.p50_ms?,
            p99_ms: times.p99_ms?,
            longest_ms,
        })
    };
    let all = TimeStatistics::of(everyone, late, deadline);
    let mut players: Vec<PlayerLatency> = of_players.into_iter().filter_map(one).collect();
    players.sort_by_key(|player| std::cmp::Reverse((player.p99_ms, player.longest_ms)));
    Versioned {
        version: snapshot.version(),
        page: Latencies { all, players },
    }
}
