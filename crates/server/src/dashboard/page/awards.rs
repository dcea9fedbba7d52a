//! The awards of a league that is over: upset, longest game, fastest mind, most points without play. Pure.

use crate::dashboard::projection::Projection;
use matchday_audit::league_view::PlayerName;
use matchday_core::league::League;
use matchday_core::league::fixture::{Decision, Match};
use matchday_core::league::standings::POINTS_WIN;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::{MatchId, PlayerId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Award {
    /// `upset`, `longest`, `fastest`, `without_play`.
    kind: &'static str,
    title: &'static str,
    /// Who gets it.
    players: Vec<PlayerName>,
    /// For what, in a sentence.
    why: String,
    /// The match that it was won in, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_id: Option<String>,
}

pub(super) fn of(projection: &Projection) -> Vec<Award> {
    let league = &projection.league;
    let awards = [
        upset(league),
        longest(projection),
        fastest(league),
        without_play(league),
    ];
    awards.into_iter().flatten().collect()
}

fn played_out(league: &League) -> impl Iterator<Item = (&MatchId, &Match, &Decision)> {
    let decided = league
        .matches
        .iter()
        .filter_map(|(id, game)| Some((id, game, game.decision.as_ref()?)));
    decided.filter(|(_, _, decision)| decision.status != GameStatus::TechnicalLoss)
}

/// The win over the opponent that ended farthest above the winner.
fn upset(league: &League) -> Option<Award> {
    let rows = league.rows();
    let ranks: BTreeMap<&PlayerId, u32> = rows
        .iter()
        .map(|row| (&row.player_id, row.shown_rank()))
        .collect();
    let wins = played_out(league).filter_map(|(id, game, decision)| {
        let winner = decision.result.winner.as_ref()?;
        let own = *ranks.get(winner)?;
        let theirs = *ranks.get(game.opponent(winner))?;
        Some((own.checked_sub(theirs)?, id, game, winner, own, theirs))
    });
    // Of several the first that was played.
    let (gap, id, game, winner, own, theirs) = wins.min_by_key(|win| std::cmp::Reverse(win.0))?;
    (gap >= 2).then(|| Award {
        kind: "upset",
        title: "Upset of the league",
        players: vec![PlayerName::of(league, winner)],
        why: format!(
            "ended in place {own} and beat {}, in place {theirs}",
            PlayerName::of(league, game.opponent(winner)).name
        ),
        match_id: Some(id.to_string()),
    })
}

/// A single turn that took less is not long.
const WORTH_TELLING: Duration = Duration::from_secs(1);

/// The match with the most turns; where all have one, the one that took longest.
fn longest(projection: &Projection) -> Option<Award> {
    let league = &projection.league;
    let turns = |decision: &Decision| {
        decision
            .result
            .details
            .turn_log
            .as_ref()
            .map_or(1, Vec::len)
    };
    let took = |id: &MatchId, decision: &Decision| {
        projection
            .assigned_at
            .get(id)
            .map(|begun| decision.at.since(*begun))
    };
    let longest =
        played_out(league).max_by_key(|(id, _, decision)| (turns(decision), took(id, decision)))?;
    let (id, game, decision) = longest;
    let why = match (turns(decision), took(id, decision)) {
        (2.., _) => format!("{} turns", turns(decision)),
        (_, Some(took)) if took >= WORTH_TELLING => format!("{:.1} s", took.as_secs_f64()),
        _ => return None,
    };
    Some(Award {
        kind: "longest",
        title: "Longest game",
        players: [&game.a, &game.b]
            .map(|id| PlayerName::of(league, id))
            .to_vec(),
        why,
        match_id: Some(id.to_string()),
    })
}

/// The player whose answers took least, of those that lost nothing for technical reasons.
fn fastest(league: &League) -> Option<Award> {
    let stats = league
        .players
        .keys()
        .filter_map(|id| Some((id, league.player_stats(id)?.stats)));
    let fair = stats.filter(|(_, stats)| stats.technical_losses == 0);
    let (id, mean) = fair
        .filter_map(|(id, stats)| Some((id, stats.mean_answer_ms?)))
        .min_by_key(|it| it.1)?;
    Some(Award {
        kind: "fastest",
        title: "Fastest mind",
        players: vec![PlayerName::of(league, id)],
        why: if mean == 0 {
            "answered in less than a millisecond on average".to_owned()
        } else {
            format!("answered in {mean} ms on average")
        },
        match_id: None,
    })
}

/// Who got most points from technical losses of others.
fn without_play(league: &League) -> Option<Award> {
    let mut gifts: BTreeMap<&PlayerId, u32> = BTreeMap::new();
    for game in league.matches.values() {
        let Some(decision) = &game.decision else {
            continue;
        };
        let winner = decision.result.winner.as_ref();
        if let Some(winner) = winner.filter(|_| decision.status == GameStatus::TechnicalLoss) {
            *gifts.entry(winner).or_default() += POINTS_WIN;
        }
    }
    let (id, points) = gifts
        .into_iter()
        .min_by_key(|(_, points)| std::cmp::Reverse(*points))?;
    Some(Award {
        kind: "without_play",
        title: "Most points without play",
        players: vec![PlayerName::of(league, id)],
        why: format!("{points} points from opponents that lost for technical reasons"),
        match_id: None,
    })
}
