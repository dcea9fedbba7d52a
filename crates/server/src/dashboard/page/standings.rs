//! The standings, with the tie break that decided each rank. Pure.

use super::{Named, Rating, Versioned, state};
use crate::dashboard::projection::Snapshot;
use matchday_core::league::fixture::{Match, Round};
use matchday_core::league::standings::{Counted, Place, Verdict, table};
use matchday_core::league::{Draw, Format, League};
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::GameStatus;
use matchday_stats::LeagueStatistics;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many of the last results are shown.
const FORM_MAX: usize = 5;

#[derive(Debug, Serialize)]
pub struct Page {
    rows: Vec<Row>,
    tie_breaks: Vec<&'static str>,
    /// The tie-breaks that have a value in each row, in the order of the values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<&'static str>,
    /// The tables of the groups, once the knockout is drawn and all players are in one table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupTable>,
    /// Results that stand on a referee's word alone, although a player of the match had a key.
    #[serde(skip_serializing_if = "is_zero")]
    unproven: u32,
    /// Whether ratings are still being computed.
    ratings_pending: bool,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[derive(Debug, Serialize)]
struct Row {
    rank: u32,
    /// By how many places it has risen since the last round was announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    rise: Option<i64>,
    id: String,
    name: String,
    played: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    points: u32,
    technical_losses: u32,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    form: Vec<char>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tie_breaks: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<Rating>,
    /// In a league with groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
}

pub fn page(snapshot: &Snapshot, statistics: Option<&LeagueStatistics>) -> Versioned<Page> {
    let league = &snapshot.projection.league;
    let forms = forms(league);
    let groups = groups(league);
    let tie_breaks = league.tie_break_values();
    let is_played = league.matches_decided > 0;
    let ratings = league.ratings();
    let rows = league.rows();
    let rows = rows.iter().filter_map(|row| {
        let before = snapshot.projection.ranks_before.get(&row.player_id);
        let form = forms.get(&row.player_id).map_or(&[][..], Vec::as_slice);
        Some(Row {
            rank: row.rank,
            rise: before.map(|before| i64::from(*before) - i64::from(row.rank)),
            id: row.player_id.to_string(),
            name: row.display_name.escaped().to_string(),
            played: row.played,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            points: row.points,
            technical_losses: row.technical_losses.unwrap_or(0),
            state: state(league.players.get(&row.player_id)?),
            reason: row.rank_reason.as_ref().map(|why| why.escaped().to_string()),
            form: form.get(form.len().saturating_sub(FORM_MAX)..).unwrap_or_default().to_vec(),
            tie_breaks: tie_breaks
                .iter()
                .filter_map(|(_, values)| values.get(&row.player_id).copied())
                .collect(),
            // A ladder is ranked by its own ratings.
            rating: match &ratings {
                Some(ratings) => ratings.get(&row.player_id).copied().map(Rating::from),
                None => statistics.and_then(|all| rating(all, &row.player_id)),
            },
            group: groups.get(&row.player_id).cloned(),
        })
    });
    let rules = league.settings.tie_breaks.iter().map(|rule| rule.name());
    let first = ratings.is_some().then_some("rating").into_iter().chain(["points"]);
    let page = Page {
        rows: rows.collect(),
        tie_breaks: first.chain(rules).collect(),
        columns: tie_breaks.iter().map(|(name, _)| *name).collect(),
        groups: group_tables(league),
        unproven: league.results_unproven(),
        ratings_pending: statistics.is_none() && is_played,
    };
    Versioned { version: snapshot.version(), page }
}

pub(super) fn rating(statistics: &LeagueStatistics, player: &PlayerId) -> Option<Rating> {
    statistics.players.iter().find(|known| known.player_id == player.as_str()).and_then(Rating::of)
}

/// `A`, `B` and so on, for a league that is in its groups: once the knockout is drawn, all are in one table.
fn groups(league: &League) -> BTreeMap<PlayerId, String> {
    let is_knockout = |round: &Round| round.drawn.as_ref().is_some_and(|drawn| !drawn.fixed);
    if league.rounds.iter().any(is_knockout) {
        return BTreeMap::new();
    }
    let groups = named_groups(league);
    groups.flat_map(|(name, group)| group.into_iter().map(move |player| (player, name.clone()))).collect()
}

fn named_groups(league: &League) -> impl Iterator<Item = (String, Vec<PlayerId>)> {
    let in_groups = |draw: &&Arc<Draw>| draw.competition().format == Format::GroupsKnockout;
    let groups = league.draw.iter().filter(in_groups).flat_map(|draw| draw.groups());
    ('A'..='Z').map(String::from).chain((27..).map(|number| number.to_string())).zip(groups)
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
    who: Named,
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
    let in_groups = || league.rounds.iter().filter(of_group).flat_map(|round| league.matches_of(round));
    let group_table = |(name, players): (String, Vec<PlayerId>)| {
        let results = in_groups().filter_map(|(_, game)| counted(game));
        let places = table(&players, results, &league.settings.tie_breaks);
        let row = |place: &Place| GroupRow {
            who: Named::player(league, &place.player),
            played: place.tally.played(),
            wins: place.tally.wins,
            draws: place.tally.draws,
            losses: place.tally.losses,
            points: place.tally.points(),
            through: knockout.iter().any(|game| game.has(&place.player)),
        };
        GroupTable { name, rows: places.iter().map(row).collect() }
    };
    named_groups(league).map(group_table).collect()
}

fn counted(game: &Match) -> Option<Counted<'_>> {
    let decision = game.decision.as_ref()?;
    let technical = decision.status == GameStatus::TechnicalLoss;
    Some(Counted { a: &game.a, b: &game.b, verdict: decision.verdict(game), technical })
}

/// How each player's matches ended, in the order of the rounds: W, D, L, and T for a loss without play.
pub(super) fn forms(league: &League) -> BTreeMap<&PlayerId, Vec<char>> {
    let mut forms: BTreeMap<&PlayerId, Vec<char>> = BTreeMap::new();
    for (_, game) in league.rounds.iter().flat_map(|round| league.matches_of(round)) {
        let Some(decision) = &game.decision else { continue };
        let technical = decision.status == GameStatus::TechnicalLoss;
        let [a, b] = letters(decision.verdict(game), technical);
        forms.entry(&game.a).or_default().push(a);
        forms.entry(&game.b).or_default().push(b);
    }
    forms
}

/// How a match ended for either player.
pub(super) fn letters(verdict: Verdict, technical: bool) -> [char; 2] {
    let lost = if technical { 'T' } else { 'L' };
    match verdict {
        Verdict::WonByA => ['W', lost],
        Verdict::WonByB => [lost, 'W'],
        Verdict::Drawn => ['D', 'D'],
        Verdict::LostByBoth => ['T', 'T'],
    }
}
