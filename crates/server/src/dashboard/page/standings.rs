//! The standings, with the tie break that decided each rank. Pure.

use super::Versioned;
use crate::dashboard::projection::Snapshot;
use matchday_audit::league_view::columns::{text_of, told};
use matchday_audit::league_view::standings::{self, named_groups};
use matchday_audit::league_view::{PlayerName, STANDINGS, Standing};
use matchday_core::league::League;
use matchday_core::league::fixture::{Match, Round};
use matchday_core::league::standings::{CountedMatch, Place, compute};
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::GameStatus;
use matchday_stats::LeagueStatistics;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(crate) struct StandingsPage {
    rows: Vec<StandingRow>,
    tie_breaks: Vec<&'static str>,
    /// The tie-breaks that have a value in each row, in the order of the values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<&'static str>,
    /// The columns of the standings that have a cell under `more` in each row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<&'static str>,
    /// The tables of the groups, once the knockout is drawn and all players are in one table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupTable>,
    /// Results that stand on a referee's word alone, although a player of the match had a key.
    #[serde(skip_serializing_if = "is_zero")]
    unproven: u32,
    /// Whether ratings are still being computed.
    ratings_pending: bool,
}

/// A row of the standings, with the cells of the columns that the page does not draw in its own way.
#[derive(Debug, Serialize)]
struct StandingRow {
    #[serde(flatten)]
    standing: Standing,
    /// How likely the player is to win the league.
    #[serde(skip_serializing_if = "Option::is_none")]
    chance: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<String>,
}

/// The columns that the page draws in its own way, or on the page of a player.
const DRAWN: [&str; 13] = [
    "rank",
    "player_id",
    "name",
    "strategy",
    "played",
    "won",
    "drawn",
    "lost",
    "technical_losses",
    "points",
    "rating",
    "as_good_by_chance",
    "why",
];

fn is_zero(count: &u32) -> bool {
    *count == 0
}

pub(crate) fn page(
    snapshot: &Snapshot,
    statistics: Option<&LeagueStatistics>,
    title_chances: &BTreeMap<PlayerId, f64>,
) -> Versioned<StandingsPage> {
    let projection = &*snapshot.projection;
    let league = &projection.league;
    let rules = league.settings.tie_breaks.iter().map(|rule| rule.name());
    let first = league
        .ratings()
        .map(|_| "rating")
        .into_iter()
        .chain(["points"]);
    let standings = standings::of(league, statistics, &projection.ranks_before);
    let more: Vec<_> = told(&STANDINGS, &standings)
        .into_iter()
        .filter(|column| !DRAWN.contains(&column.key))
        .collect();
    let row = |standing: Standing| StandingRow {
        chance: title_chances
            .get(&PlayerId::new(standing.who.id.as_str()))
            .copied(),
        more: more
            .iter()
            .map(|column| text_of(column, &standing))
            .collect(),
        standing,
    };
    let page = StandingsPage {
        rows: standings.into_iter().map(row).collect(),
        more: more.iter().map(|column| column.title).collect(),
        tie_breaks: first.chain(rules).collect(),
        columns: league
            .tie_break_values()
            .iter()
            .map(|(name, _)| *name)
            .collect(),
        groups: group_tables(league),
        unproven: league.results_unproven(),
        ratings_pending: statistics.is_none() && league.matches_decided > 0,
    };
    Versioned {
        version: snapshot.version(),
        page,
    }
}

/// The table of a group from its own matches.
#[derive(Debug, Serialize)]
struct GroupTable {
    name: String,
    rows: Vec<GroupRow>,
}

#[derive(Debug, Serialize)]
struct GroupRow {
    #[serde(flatten)]
    who: PlayerName,
    played: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    points: u32,
    /// Whether it has reached the knockout.
    through: bool,
}

fn group_tables(league: &League) -> Vec<GroupTable> {
    let of_group = |round: &&Round| round.drawn.as_ref().is_some_and(|drawn| drawn.fixed);
    let knockout: Vec<&Match> = league
        .rounds
        .iter()
        .filter(|round| !of_group(round))
        .flat_map(|round| league.matches_of(round))
        .map(|(_, game)| game)
        .collect();
    if knockout.is_empty() {
        return Vec::new();
    }
    let in_groups = || {
        league
            .rounds
            .iter()
            .filter(of_group)
            .flat_map(|round| league.matches_of(round))
    };
    let group_table = |(name, players): (String, Vec<PlayerId>)| {
        let results = in_groups().filter_map(|(_, game)| counted(game));
        let places = compute(&players, results, &league.settings.tie_breaks);
        let row = |place: &Place| GroupRow {
            who: PlayerName::of(league, &place.player),
            played: place.tally.played(),
            wins: place.tally.wins,
            draws: place.tally.draws,
            losses: place.tally.losses,
            points: place.tally.points(),
            through: knockout.iter().any(|game| game.has(&place.player)),
        };
        GroupTable {
            name,
            rows: places.iter().map(row).collect(),
        }
    };
    named_groups(league).map(group_table).collect()
}

fn counted(game: &Match) -> Option<CountedMatch<'_>> {
    let decision = game.decision.as_ref()?;
    let technical = decision.status == GameStatus::TechnicalLoss;
    Some(CountedMatch {
        a: &game.a,
        b: &game.b,
        verdict: decision.verdict(game),
        technical,
    })
}
