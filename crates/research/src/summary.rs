//! Estimates from simulated matches, with confidence intervals. Pure.
//!
//! Matches within a series are correlated, because players remember. Series are independent, so intervals are
//! computed from the variation between series. With too few series, matches are treated as independent.

use crate::duels::Pair;
use crate::ending::Tally;
use crate::leagues::Seasons;
use crate::payoff_sums::PayoffSums;
use matchday_stats::elo::{self, EloDifference};
use matchday_stats::estimate::Estimate;
use matchday_stats::normal::Z_95;
use matchday_stats::results::{POINTS_DRAW, POINTS_WIN, Wdl};
use matchday_stats::student::t_95;
use serde::Serialize;

/// The results of an entrant against all others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub strategy: String,
    pub matches: u64,
    #[serde(flatten)]
    pub record: Wdl,
    pub lost_by_both: u64,
    pub forfeits: u64,
    /// Wilson intervals.
    pub win: Option<Estimate>,
    pub draw: Option<Estimate>,
    pub loss: Option<Estimate>,
    pub points_per_match: Option<Estimate>,
    /// What the game itself pays, if its tables go by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payoff_per_match: Option<Estimate>,
    /// A draw counts as half a win.
    pub score: Option<Estimate>,
    /// Against all others together.
    pub elo: Option<EloDifference>,
}

/// With fewer series their variation is not a usable estimate.
const SERIES_MIN: u64 = 20;

/// The worth of a match by result: won, drawn, lost, lost by both.
type Worth = [f64; 4];

const WON: Worth = [1.0, 0.0, 0.0, 0.0];
const DRAWN: Worth = [0.0, 1.0, 0.0, 0.0];
const LOST: Worth = [0.0, 0.0, 1.0, 1.0];
const POINTS: Worth = [POINTS_WIN as f64, POINTS_DRAW as f64, 0.0, 0.0];
const SCORE: Worth = [1.0, 0.5, 0.0, 0.0];

/// The Wilson interval of a share in so many cases, for a quantile; the number of cases need not be an integer.
fn wilson(share: f64, cases: f64, quantile: f64) -> [f64; 2] {
    let z2 = quantile * quantile;
    let centre = (share + z2 / (2.0 * cases)) / (1.0 + z2 / cases);
    let half = quantile * (share * (1.0 - share) / cases + z2 / (4.0 * cases * cases)).sqrt()
        / (1.0 + z2 / cases);
    [(centre - half).max(0.0), (centre + half).min(1.0)]
}

/// A share of independent cases with its Wilson interval; `None` without cases.
pub fn share(count: u64, of: u64) -> Option<Estimate> {
    let value = count as f64 / of as f64;
    let [low, high] = (of > 0).then(|| wilson(value, of as f64, Z_95))?;
    Some(Estimate { value, low, high })
}

/// The matches of an entrant, one tally for each opponent.
#[derive(Debug, Clone, Copy)]
struct Matches<'a>(&'a [Tally]);

impl Matches<'_> {
    fn total(self) -> Tally {
        let mut total = Tally::default();
        self.0.iter().for_each(|tally| total.add(tally));
        total
    }

    /// The mean worth of a match and its standard error, from the variation between series. `None` without a match;
    /// no error with too few series.
    fn mean(self, worth: Worth) -> Option<(f64, Option<f64>)> {
        let total = self.total();
        let value = mean(&total, worth)?;
        // Different means against different opponents are not part of the error.
        let variance = self
            .0
            .iter()
            .filter_map(|tally| Some(tally.variation.variance(worth, mean(tally, worth)?)));
        let error = variance.sum::<f64>().sqrt() / total.matches() as f64;
        let is_known = total.variation.series() >= SERIES_MIN && error > 0.0;
        Some((value, is_known.then_some(error)))
    }

    /// A mean between 0 and 1 with a Wilson interval, computed for the number of independent cases with the same
    /// error.
    fn share(self, worth: Worth) -> Option<Estimate> {
        let (value, error) = self.mean(worth)?;
        let all = self.total().matches() as f64;
        let cases = error.map_or(all, |error| value * (1.0 - value) / (error * error));
        let quantile = error.map_or(Z_95, |_| self.quantile());
        let [low, high] = wilson(value, cases.max(1.0), quantile);
        Some(Estimate { value, low, high })
    }

    fn points(self) -> Option<Estimate> {
        let (value, error) = self.mean(POINTS)?;
        let half = error.map_or_else(
            || Z_95 * error_of_points(&self.total()),
            |error| self.quantile() * error,
        );
        Some(Estimate {
            value,
            low: (value - half).max(0.0),
            high: (value + half).min(f64::from(POINTS_WIN)),
        })
    }

    /// For errors that come from the variation between series.
    fn quantile(self) -> f64 {
        t_95(self.total().variation.series().saturating_sub(1))
    }

    /// What the game itself pays for a match.
    fn payoff(self) -> Option<Estimate> {
        let [own, _] = self.total().payoffs;
        let (value, _) = own.mean()?;
        // Different means against different opponents are not part of the error.
        let matches = self.total().matches() as f64;
        let variance = self.0.iter().filter_map(|tally| {
            let [own, _] = tally.payoffs;
            let (_, error) = own.mean()?;
            Some((error * tally.matches() as f64).powi(2))
        });
        let half = self.quantile() * variance.sum::<f64>().sqrt() / matches;
        Some(Estimate {
            value,
            low: value - half,
            high: value + half,
        })
    }

    fn elo(self) -> Option<EloDifference> {
        let plain = EloDifference::of(self.total().record)?;
        let (_, Some(_)) = self.mean(SCORE)? else {
            return Some(plain);
        };
        let score = self.share(SCORE)?;
        Some(EloDifference {
            low: elo::of_score(score.low),
            high: elo::of_score(score.high),
            ..plain
        })
    }
}

fn mean(tally: &Tally, worth: Worth) -> Option<f64> {
    let Wdl {
        wins,
        draws,
        losses,
    } = tally.record;
    let counts = [wins, draws, losses, tally.lost_by_both];
    let sum: f64 = counts
        .iter()
        .zip(worth)
        .map(|(count, worth)| *count as f64 * worth)
        .sum();
    (tally.matches() > 0).then(|| sum / tally.matches() as f64)
}

/// The standard error of points per match, if matches were independent. One match of each result is added, so that a
/// record of a single kind of result has a nonzero error.
fn error_of_points(tally: &Tally) -> f64 {
    let [win, draw] = [POINTS_WIN, POINTS_DRAW].map(f64::from);
    let n = tally.matches() as f64 + 3.0;
    let wins = tally.record.wins as f64 + 1.0;
    let draws = tally.record.draws as f64 + 1.0;
    let mean = (win * wins + draw * draws) / n;
    ((win * win * wins + draw * draw * draws) / n - mean * mean)
        .max(0.0)
        .sqrt()
        / n.sqrt()
}

/// What each of a pair is paid for a match, if tables of the game go by that.
pub fn payoffs_of_pair(tally: &Tally) -> Option<[f64; 2]> {
    let [a, b] = tally.payoffs.each_ref().map(PayoffSums::mean);
    a.zip(b).map(|((a, _), (b, _))| [a, b])
}

/// A pair from the first entrant's point of view: score, points, Elo difference.
pub fn of_pair(tally: &Tally) -> (Option<Estimate>, Option<Estimate>, Option<EloDifference>) {
    let one = [*tally];
    let matches = Matches(&one);
    (matches.share(SCORE), matches.points(), matches.elo())
}

impl Row {
    fn of(strategy: &str, tallies: &[Tally]) -> Self {
        let matches = Matches(tallies);
        let total = matches.total();
        Self {
            strategy: strategy.to_owned(),
            matches: total.matches(),
            record: total.record,
            lost_by_both: total.lost_by_both,
            forfeits: own_forfeits(&total),
            win: matches.share(WON),
            draw: matches.share(DRAWN),
            loss: matches.share(LOST),
            points_per_match: matches.points(),
            payoff_per_match: matches.payoff(),
            score: matches.share(SCORE),
            elo: matches.elo(),
        }
    }
}

fn own_forfeits(tally: &Tally) -> u64 {
    let [own, _] = tally.forfeits;
    own
}

/// One row for each entrant, by what tables of the game go by: payoff or points per match.
pub fn of_duels(names: &[String], pairs: &[Pair]) -> Vec<Row> {
    let of = |place: usize| -> Vec<Tally> {
        let own = pairs
            .iter()
            .filter(|pair| pair.a == place)
            .map(|pair| pair.tally);
        let turned = pairs.iter().filter(|pair| pair.b == place);
        own.chain(turned.map(|pair| pair.tally.reversed()))
            .collect()
    };
    let rows = names
        .iter()
        .enumerate()
        .map(|(place, name)| Row::of(name, &of(place)));
    best_first(rows.collect())
}

fn best_first(mut rows: Vec<Row>) -> Vec<Row> {
    let key = |row: &Row| {
        let value = row.payoff_per_match.or(row.points_per_match);
        value.map_or(0.0, |value| value.value)
    };
    rows.sort_by(|one, other| key(other).total_cmp(&key(one)));
    rows
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeasonRow {
    pub strategy: String,
    /// How often it reached each rank, best first.
    pub places: Vec<u64>,
    pub champion: Option<Estimate>,
    /// 1 is the best.
    pub mean_rank: Option<f64>,
    pub points_per_match: Option<Estimate>,
    /// What the game itself pays, if its tables go by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payoff_per_match: Option<Estimate>,
    pub forfeits: u64,
}

/// One row for each entrant, by leagues won, then by mean rank.
pub fn of_leagues(names: &[String], seasons: &Seasons) -> Vec<SeasonRow> {
    let each = names.iter().zip(&seasons.places).zip(&seasons.tallies);
    let rows = each.map(|((name, places), tally)| SeasonRow {
        strategy: name.clone(),
        places: places.clone(),
        champion: share(places.first().copied().unwrap_or(0), seasons.leagues),
        mean_rank: mean_rank(places),
        points_per_match: Matches(std::slice::from_ref(tally)).points(),
        payoff_per_match: Matches(std::slice::from_ref(tally)).payoff(),
        forfeits: own_forfeits(tally),
    });
    let mut rows: Vec<SeasonRow> = rows.collect();
    let titles = |row: &SeasonRow| row.places.first().copied().unwrap_or(0);
    let rank = |row: &SeasonRow| row.mean_rank.unwrap_or(f64::INFINITY);
    rows.sort_by(|one, other| {
        titles(other)
            .cmp(&titles(one))
            .then_with(|| rank(one).total_cmp(&rank(other)))
    });
    rows
}

fn mean_rank(places: &[u64]) -> Option<f64> {
    let leagues: u64 = places.iter().sum();
    let ranks: f64 = (1..)
        .zip(places)
        .map(|(rank, count)| f64::from(rank) * *count as f64)
        .sum();
    (leagues > 0).then(|| ranks / leagues as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Duels, Entrant, Run};
    use matchday_core::game;
    use matchday_core::game::strategy;
    use matchday_core::protocol::GameType;
    use std::num::{NonZeroU32, NonZeroUsize};
    use std::ops::ControlFlow;
    use std::sync::atomic::AtomicBool;

    fn tally(wins: u64, draws: u64, losses: u64) -> Tally {
        Tally {
            record: Wdl {
                wins,
                draws,
                losses,
            },
            ..Tally::default()
        }
    }

    /// Against `scipy.stats.binomtest(8, 10).proportion_ci(method="wilson")`.
    #[test]
    fn a_share_has_wilsons_interval() {
        let Estimate { value, low, high } = share(8, 10).unwrap();
        assert!((value - 0.8).abs() < 1e-12);
        assert!(
            (low - 0.490_162_471_536_642_1).abs() < 1e-9
                && (high - 0.943_317_848_545_625).abs() < 1e-9
        );
        assert_eq!(share(0, 0), None);
    }

    #[test]
    fn records_of_one_kind_only_still_leave_room() {
        for record in [tally(50, 0, 0), tally(0, 50, 0), tally(0, 0, 50)] {
            let (_, points, _) = of_pair(&record);
            let points = points.unwrap();
            assert!(points.high - points.low > 0.01, "{points:?}");
        }
        assert_eq!(of_pair(&Tally::default()), (None, None, None));
    }

    fn duel(names: [&str; 2], matches: u64, seed: u64) -> Tally {
        let entrants = names.map(|name| Entrant::built_in(strategy::named(name).unwrap()));
        let game = game::find(&GameType::new("even_odd")).unwrap();
        let series = NonZeroU32::new(100).unwrap();
        let duels = Duels {
            game,
            entrants: &entrants,
            rules: None,
            matches,
            series,
            openings: &[],
            seed,
            every_unit: false,
            records: false,
        };
        let stop = AtomicBool::new(false);
        duels.play(
            &Run {
                threads: NonZeroUsize::MIN,
                stop: &stop,
            },
            |_, _| ControlFlow::Continue(()),
        )[0]
        .tally
    }

    /// Whether these two draw is decided early in a series, and then stays so.
    #[test]
    fn intervals_hold_the_truth_where_matches_hang_together() {
        let names = ["mirror", "mirror"];
        let truth = mean(&duel(names, 4_000_000, 1), DRAWN).unwrap();
        let mut held = 0;
        let mut held_as_if_independent = 0;
        for seed in 100..300 {
            let tally = duel(names, 4_000, seed);
            let holds = |found: Option<Estimate>| {
                found.is_some_and(|it| it.low <= truth && truth <= it.high)
            };
            held += u32::from(holds(Matches(&[tally]).share(DRAWN)));
            held_as_if_independent += u32::from(holds(share(tally.record.draws, tally.matches())));
        }
        assert!(
            (180..=199).contains(&held),
            "{held} of 200 intervals hold {truth}"
        );
        assert!(
            held_as_if_independent < 100,
            "{held_as_if_independent}: nothing hangs together here"
        );
    }

    #[test]
    fn intervals_of_independent_matches_are_the_usual_ones() {
        let tally = duel(["random", "random"], 100_000, 3);
        let (found, usual) = (
            Matches(&[tally]).share(DRAWN).unwrap(),
            share(tally.record.draws, tally.matches()).unwrap(),
        );
        let width = |it: Estimate| it.high - it.low;
        assert!(
            (width(found) / width(usual) - 1.0).abs() < 0.15,
            "{found:?} {usual:?}"
        );
    }
}
