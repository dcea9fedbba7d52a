//! What simulated matches say, with intervals. Pure.
//!
//! Intervals take matches for independent of each other. Within a series, players that remember make that only nearly true;
//! shorter series bring it nearer.

use crate::duels::Pair;
use crate::ending::Tally;
use crate::leagues::Seasons;
use matchday_stats::elo::{self, EloDifference};
use matchday_stats::normal::Z_95;
use matchday_stats::results::{POINTS_DRAW, POINTS_WIN, Wdl};
use serde::Serialize;

/// A figure, and between which values the true one lies with 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// How an entrant did against everyone it has met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub strategy: String,
    pub matches: u64,
    #[serde(flatten)]
    pub record: Wdl,
    pub lost_by_both: u64,
    pub forfeits: u64,
    /// Wilson's intervals.
    pub win: Option<Estimate>,
    pub draw: Option<Estimate>,
    pub loss: Option<Estimate>,
    pub points_per_match: Option<Estimate>,
    /// Against all others together.
    pub elo: Option<EloDifference>,
}

/// The share of something that came so often in so many cases, after Wilson; `None` of none.
pub fn share(count: u64, of: u64) -> Option<Estimate> {
    let record = Wdl { wins: count, draws: 0, losses: of.saturating_sub(count) };
    let ([low, high], value) = (elo::score_interval(record)?, elo::score(record)?);
    Some(Estimate { value, low, high })
}

/// Points for each match. The deviation is that of the matches seen and one more of each kind, so that a record of one kind
/// only still leaves room.
pub fn points_per_match(tally: &Tally) -> Option<Estimate> {
    let matches = tally.matches();
    if matches == 0 {
        return None;
    }
    let [win, draw] = [POINTS_WIN, POINTS_DRAW].map(f64::from);
    let (n, wins, draws) = (matches as f64, tally.record.wins as f64, tally.record.draws as f64);
    let value = (win * wins + draw * draws) / n;
    let (n, wins, draws) = (n + 3.0, wins + 1.0, draws + 1.0);
    let mean = (win * wins + draw * draws) / n;
    let half = Z_95 * ((win * win * wins + draw * draw * draws) / n - mean * mean).max(0.0).sqrt() / n.sqrt();
    Some(Estimate { value, low: (value - half).max(0.0), high: (value + half).min(win) })
}

impl Row {
    fn of(strategy: &str, tally: &Tally) -> Self {
        let matches = tally.matches();
        let Wdl { wins, draws, losses } = tally.record;
        Self {
            strategy: strategy.to_owned(),
            matches,
            record: tally.record,
            lost_by_both: tally.lost_by_both,
            forfeits: *tally.forfeits.first().unwrap_or(&0),
            win: share(wins, matches),
            draw: share(draws, matches),
            loss: share(losses + tally.lost_by_both, matches),
            points_per_match: points_per_match(tally),
            elo: EloDifference::of(tally.record),
        }
    }
}

/// A line for each entrant, the one with the most points for a match first.
pub fn of_duels(names: &[String], pairs: &[Pair]) -> Vec<Row> {
    let mut tallies = vec![Tally::default(); names.len()];
    for Pair { a, b, tally } in pairs {
        tallies.get_mut(*a).into_iter().for_each(|sum| sum.add(tally));
        tallies.get_mut(*b).into_iter().for_each(|sum| sum.add(&tally.seen_from_the_other_side()));
    }
    let rows = names.iter().zip(&tallies).map(|(name, tally)| Row::of(name, tally));
    best_first(rows.collect())
}

fn best_first(mut rows: Vec<Row>) -> Vec<Row> {
    let points = |row: &Row| row.points_per_match.map_or(0.0, |points| points.value);
    rows.sort_by(|one, other| points(other).total_cmp(&points(one)));
    rows
}

/// How an entrant did in many leagues.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeasonRow {
    pub strategy: String,
    /// How often it came in first, second and so on.
    pub places: Vec<u64>,
    pub champion: Option<Estimate>,
    /// 1 is the first place.
    pub mean_rank: Option<f64>,
    pub points_per_match: Option<Estimate>,
    pub forfeits: u64,
}

/// A line for each entrant, the one that wins most leagues first.
pub fn of_leagues(names: &[String], seasons: &Seasons) -> Vec<SeasonRow> {
    let each = names.iter().zip(&seasons.places).zip(&seasons.tallies);
    let rows = each.map(|((name, places), tally)| SeasonRow {
        strategy: name.clone(),
        places: places.clone(),
        champion: share(places.first().copied().unwrap_or(0), seasons.leagues),
        mean_rank: mean_rank(places),
        points_per_match: points_per_match(tally),
        forfeits: *tally.forfeits.first().unwrap_or(&0),
    });
    let mut rows: Vec<SeasonRow> = rows.collect();
    let titles = |row: &SeasonRow| row.places.first().copied().unwrap_or(0);
    rows.sort_by_key(|row| std::cmp::Reverse(titles(row)));
    rows
}

fn mean_rank(places: &[u64]) -> Option<f64> {
    let leagues: u64 = places.iter().sum();
    let ranks: f64 = (1..).zip(places).map(|(rank, count)| f64::from(rank) * *count as f64).sum();
    (leagues > 0).then(|| ranks / leagues as f64)
}
