//! The points race: the points of every player after every round. Pure.

use super::Versioned;
use crate::dashboard::projection::Snapshot;
use matchday_audit::league_view::PlayerName;
use matchday_audit::league_view::standings::letters;
use matchday_core::league::League;
use matchday_core::league::fixture::{Match, Round};
use matchday_core::league::standings::{POINTS_DRAW, POINTS_WIN};
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::GameStatus;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(crate) struct PointsRace {
    /// The numbers of the rounds that have results.
    rounds: Vec<u32>,
    /// The best first.
    players: Vec<Runner>,
}

#[derive(Debug, Serialize)]
struct Runner {
    #[serde(flatten)]
    who: PlayerName,
    points: Vec<u32>,
}

pub(crate) fn page(snapshot: &Snapshot) -> Versioned<PointsRace> {
    let league = &snapshot.projection.league;
    let mut sums: BTreeMap<&PlayerId, (u32, Vec<u32>)> = league
        .players
        .keys()
        .map(|id| (id, Default::default()))
        .collect();
    let mut rounds = Vec::new();
    for round in league
        .rounds
        .iter()
        .filter(|round| has_results(league, round))
    {
        for (_, game) in league.matches_of(round) {
            for id in [&game.a, &game.b] {
                if let Some((sum, _)) = sums.get_mut(id) {
                    *sum += points_of(game, id).unwrap_or(0);
                }
            }
        }
        sums.values_mut().for_each(|(sum, all)| all.push(*sum));
        rounds.push(round.round_id.0);
    }
    let rows = league.rows();
    let runner = |id: &PlayerId| Runner {
        who: PlayerName::of(league, id),
        points: sums
            .remove(id)
            .map(|(_, points)| points)
            .unwrap_or_default(),
    };
    let players = rows.iter().map(|row| &row.player_id).map(runner).collect();
    Versioned {
        version: snapshot.version(),
        page: PointsRace { rounds, players },
    }
}

fn has_results(league: &League, round: &Round) -> bool {
    round.completed
        || league
            .matches_of(round)
            .any(|(_, game)| game.decision.is_some())
}

/// The points that a match brought a player, if it is decided.
pub(super) fn points_of(game: &Match, player: &PlayerId) -> Option<u32> {
    let decision = game.decision.as_ref()?;
    let [a, b] = letters(
        decision.verdict(game),
        decision.status == GameStatus::TechnicalLoss,
    );
    Some(match if game.a == *player { a } else { b } {
        'W' => POINTS_WIN,
        'D' => POINTS_DRAW,
        _ => 0,
    })
}

/// The points of a player after each round that it has finished.
pub(super) fn points_by_round(league: &League, player: &PlayerId) -> Vec<u32> {
    let mut points = 0;
    let mut by_round = Vec::new();
    for round in &league.rounds {
        let own = league
            .matches_of(round)
            .map(|(_, game)| game)
            .filter(|game| game.has(player));
        let gained: Vec<u32> = own.filter_map(|game| points_of(game, player)).collect();
        if round.completed || !gained.is_empty() {
            points += gained.iter().sum::<u32>();
            by_round.push(points);
        }
    }
    by_round
}
